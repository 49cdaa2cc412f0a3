import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { REDELIVERIES_MAXIMUM, redeliver, redeliverFailed } from '#payments/webhooks/redeliver.ts';
import { RETRY_DELAYS_SECONDS } from '#payments/webhooks/retry-schedule.ts';
import { listAttempts } from '#storage/repositories/webhooks/attempts.ts';
import { listDeliveries } from '#storage/repositories/webhooks/deliveries.ts';
import { findWebhookEndpoint } from '#storage/repositories/webhooks/endpoints.ts';
import type { CliCommand } from '../cli-command.ts';
import { parseDate, parseId } from '../values.ts';
import { deliveryObject } from './webhook-object.ts';

const DELIVERIES_DEFAULT = 20;
const DELIVERIES_MAXIMUM = 100;
/** Maximum attempts of a page of deliveries. Doubled, because a killed worker's attempt is repeated. */
const ATTEMPTS_MAXIMUM = 2 * DELIVERIES_MAXIMUM * RETRY_DELAYS_SECONDS.length;

/** `mp webhook deliveries | redeliver | redeliver-failed` */
export function defineDeliveries(noun: CliCommand): void {
  noun
    .verb('deliveries', 'list deliveries to an endpoint, newest first, with every attempt')
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .limit(DELIVERIES_MAXIMUM, DELIVERIES_DEFAULT)
    .onDatabase(async ({ db, showList }, endpointId: string, { limit }: { limit: number }) => {
      if ((await findWebhookEndpoint(db, endpointId)) === undefined) {
        throw new OperationRefused('endpoint-unknown', { endpointId });
      }
      const deliveries = await listDeliveries(db, { endpointId }, limit);
      const all = Map.groupBy(
        await listAttempts(db, deliveries, ATTEMPTS_MAXIMUM),
        attempt => attempt.delivery_id,
      );
      const rows = deliveries.map(delivery => deliveryObject(delivery, all.get(delivery.id) ?? []));
      showList(rows, [
        ...(['id', 'eventType', 'status', 'attempts'] as const),
        ...(['lastResult', 'nextAttemptAt'] as const),
      ]);
    });

  noun
    .verb('redeliver', 'deliver an event to its endpoint again')
    .argument('<delivery>', 'delivery ID, as `mp webhook deliveries` shows it', parseId)
    .onDatabase(async (session, id: string) => {
      session.show(deliveryObject(await redeliver(session, id), []), 'A worker will send it now.');
    });

  noun
    .verb(
      'redeliver-failed',
      `deliver again what failed or was cancelled since a time, at most ${REDELIVERIES_MAXIMUM}`,
    )
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .requiredOption('--since <time>', 'deliveries that were made from then on', parseDate)
    .onDatabase(async (session, id: string, { since }: { since: Date }) => {
      const redelivered = await redeliverFailed(session, id, since);
      const { deliveries, hasMore } = redelivered;
      const rest = hasMore ? ' Run it again for the rest.' : '';
      session.show(
        redelivered,
        deliveries === 0
          ? 'Nothing failed or was cancelled.'
          : `A worker will send them now.${rest}`,
      );
    });
}
