import type { Database } from '#storage/database/connection.ts';
import { listExpiringKeys } from '#storage/repositories/keys/expiring-keys.ts';
import { notifyAdmins } from '../mail/notices.ts';

/** How long before its end people are told that a key expires, in milliseconds. */
export const EXPIRING_WITHIN_MS = 14 * 24 * 60 * 60_000;
const PAGE = 500;

/** Notifies of keys that are about to expire, once for each: those who decide in the account, and the key's owner. */
export async function tellOfExpiringKeys(
  db: Database,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  const until = new Date(now.getTime() + EXPIRING_WITHIN_MS);
  let after = '';
  while (!signal.aborted) {
    const keys = await listExpiringKeys(db, { now, until, after, limit: PAGE });
    for (const { id: keyId, name, expiresAt, merchantId, partnerId, memberId } of keys) {
      const account =
        merchantId === null
          ? ({ kind: 'partner', accountId: partnerId ?? '' } as const)
          : ({ kind: 'merchant', accountId: merchantId } as const);
      const facts = { keyId, name, expiresAt: expiresAt.toISOString() };
      const occasion = `${keyId} expires ${facts.expiresAt}`;
      const notice = { kind: 'key-expires', facts, now, occasion } as const;
      await notifyAdmins(db, account, notice, { besides: memberId });
    }
    const last = keys.at(-1);
    if (last === undefined || keys.length < PAGE) return;
    after = last.id;
  }
}
