import { guardedConnector, type Resolve } from '#outbound/guarded-connector.ts';
import { attemptDelivery, type DeliveryDependencies } from '#payments/webhooks/attempt-delivery.ts';
import { claimDeliveries, findDueEndpoints } from '#storage/repositories/webhooks/claims.ts';

export interface AttemptOptions extends Omit<DeliveryDependencies, 'connect' | 'logger'> {
  readonly logger?: DeliveryDependencies['logger'];
  /** Replaces DNS. */
  readonly resolve?: Resolve | undefined;
}

const SILENT = { error: () => undefined, warn: () => undefined, info: () => undefined };

/**
 * Makes the attempt of every pending delivery, even before its time, one after the other.
 * @param endpointIds Leaves out the other endpoints.
 */
export async function attemptDue(
  { resolve, ...options }: AttemptOptions,
  endpointIds?: readonly string[],
): Promise<void> {
  const { db, clock, allowPrivateAddresses } = options;
  const connect = guardedConnector({
    allowPrivateAddresses,
    timeoutMs: 1_000,
    ...(resolve === undefined ? {} : { resolve }),
  });
  const dependencies = { logger: SILENT, ...options, connect };
  const isOwn = (id: string) => endpointIds?.includes(id) ?? true;
  const now = new Date(clock());
  await db
    .updateTable('webhook_deliveries')
    // At distinct times, so that attempts are made in the order of their events.
    .set(({ ref }) => ({ next_attempt_at: ref('created_at') }))
    .where('status', '=', 'pending')
    .where('next_attempt_at', '>', now)
    .$if(endpointIds !== undefined, query => query.where('endpoint_id', 'in', endpointIds ?? []))
    .execute();
  for (;;) {
    const due = (await findDueEndpoints(db, now, 1)).filter(({ endpointId }) => isOwn(endpointId));
    const allotments = due.map(({ endpointId }) => ({ endpointId, count: 1 }));
    const until = new Date(now.getTime() + 60_000);
    const claimed = await claimDeliveries(db, allotments, { now, until });
    if (claimed.length === 0) return;
    for (const delivery of claimed) {
      await attemptDelivery(dependencies, delivery, new AbortController().signal);
    }
  }
}
