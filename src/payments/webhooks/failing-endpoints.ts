import { notifyAdmins } from '#accounts/mail/notices.ts';
import type { Database } from '#storage/database/connection.ts';
import { listEndpointStates } from '#storage/repositories/webhooks/endpoints.ts';
import { utcDay } from '#time/days.ts';

/** How long nothing could be delivered before an endpoint counts as failing, in milliseconds. */
export const FAILING_AFTER_MS = 60 * 60_000;
/**
 * Maximum time that an endpoint may have failed for people to be notified, in milliseconds. Deliveries (for at least
 * 7 days) and mails, which show who was notified, are kept for longer.
 */
const TOLD_WITHIN_MS = 6 * 24 * 60 * 60_000;
/** Endpoints per statement; each of them has some of its deliveries read. */
const PAGE = 200;

/**
 * Notifies a merchant's admins of endpoints to which nothing can be delivered: once, until a delivery succeeds again.
 */
export async function tellOfFailingEndpoints(
  db: Database,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  const since = new Date(now.getTime() - FAILING_AFTER_MS);
  let after: string | null = null;
  while (!signal.aborted) {
    const endpoints = await listEndpointStates(db, { since, after, limit: PAGE });
    for (const {
      id: endpointId,
      url,
      merchant_id: accountId,
      failing_since: failingSince,
    } of endpoints) {
      if (failingSince === null || failingSince.getTime() < now.getTime() - TOLD_WITHIN_MS)
        continue;
      // An endpoint that keeps failing and recovering causes one notice a day.
      const occasion = `${endpointId} fails since ${utcDay(failingSince)}`;
      const facts = { endpointId, host: new URL(url).host };
      const notice = { kind: 'webhook-fails', facts, now, occasion } as const;
      await notifyAdmins(db, { kind: 'merchant', accountId }, notice);
    }
    const last = endpoints.at(-1);
    if (last === undefined || endpoints.length < PAGE) return;
    after = last.id;
  }
}
