import { tellDeciders } from '#accounts/mail/notices.ts';
import type { Database } from '#storage/database/connection.ts';
import { listEndpointStates } from '#storage/repositories/webhooks/endpoints.ts';
import { utcDay } from '#time/days.ts';

/** How long nothing could be delivered before an endpoint counts as failing, in milliseconds. */
export const FAILING_AFTER_MS = 60 * 60_000;
/**
 * How long an endpoint has failed at most when people are told, in milliseconds: less than deliveries are kept (7 days
 * at least) and mails, by which it is known whom was told.
 */
const TOLD_WITHIN_MS = 6 * 24 * 60 * 60_000;
/** Endpoints of a statement, each of which reads some of its deliveries. */
const PAGE = 200;

/** Tells a merchant's admins of endpoints to which nothing can be delivered, once until something was again. */
export async function tellOfFailingEndpoints(
  db: Database,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  const since = new Date(now.getTime() - FAILING_AFTER_MS);
  let after: string | null = null;
  while (!signal.aborted) {
    const endpoints = await listEndpointStates(db, { since, after, limit: PAGE });
    for (const { id: endpointId, url, merchant_id: accountId, failingSince } of endpoints) {
      if (failingSince === null || failingSince.getTime() < now.getTime() - TOLD_WITHIN_MS)
        continue;
      // One that fails and recovers all the time is told of once a day.
      const occasion = `${endpointId} fails since ${utcDay(failingSince)}`;
      const facts = { endpointId, host: new URL(url).host };
      const notice = { kind: 'webhook-fails', facts, now, occasion } as const;
      await tellDeciders(db, { kind: 'merchant', accountId }, notice);
    }
    const last = endpoints.at(-1);
    if (last === undefined || endpoints.length < PAGE) return;
    after = last.id;
  }
}
