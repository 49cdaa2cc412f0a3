import { notifyAdmins } from '#accounts/mail/notices.ts';
import type { Database } from '#storage/database/connection.ts';
import { countUnmatchedOf } from '#storage/repositories/deposits/account-deposits.ts';

const DAY_MS = 24 * 60 * 60_000;
/** Maximum number of merchants to notify for one day. More would be an outage, which operators are told of. */
const MERCHANTS_MAXIMUM = 10_000;

/** Notifies each merchant's admins once of the last UTC day's deposits that no payment took and that still wait. */
export async function tellOfUnmatched(db: Database, now: Date, signal: AbortSignal): Promise<void> {
  const until = new Date(now.toISOString().slice(0, 10));
  const since = new Date(until.getTime() - DAY_MS);
  const day = since.toISOString().slice(0, 10);
  const found = await countUnmatchedOf(db, { since, until, limit: MERCHANTS_MAXIMUM });
  for (const { merchantId: accountId, deposits } of found) {
    if (signal.aborted) return;
    const facts = { day, deposits };
    const notice = {
      kind: 'unmatched',
      facts,
      now,
      occasion: `unmatched ${accountId} ${day}`,
    } as const;
    await notifyAdmins(db, { kind: 'merchant', accountId }, notice);
  }
}
