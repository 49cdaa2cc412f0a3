import type { Command } from 'commander';
import { OperationRefused } from '../../audit/audited-change.ts';
import { listAttempts } from '../../repositories/webhooks/attempts.ts';
import { listDeliveries } from '../../repositories/webhooks/deliveries.ts';
import { findWebhookEndpoint } from '../../repositories/webhooks/endpoints.ts';
import { redeliver } from '../../webhooks/redeliver.ts';
import { RETRY_DELAYS_SECONDS } from '../../webhooks/retry-schedule.ts';
import { withSession } from '../accounts/session.ts';
import { printList, printObject } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { addVerb, integerFrom, type JsonFlag, parseId } from '../values.ts';
import { deliveryObject } from './webhook-object.ts';

const DELIVERIES_DEFAULT = 20;
const DELIVERIES_MAXIMUM = 100;
/** Most attempts of a page of deliveries. Doubled, because a killed worker's attempt is made again. */
const ATTEMPTS_MAXIMUM = 2 * DELIVERIES_MAXIMUM * RETRY_DELAYS_SECONDS.length;

/** `mp webhook deliveries | redeliver` */
export function defineDeliveries(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'deliveries', 'list deliveries to an endpoint, newest first, with every attempt')
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .option(
      '--limit <n>',
      `most rows to list, 1 to ${DELIVERIES_MAXIMUM}`,
      integerFrom(1, DELIVERIES_MAXIMUM),
      DELIVERIES_DEFAULT,
    )
    .action((endpointId: string, flags: JsonFlag & { limit: number }) =>
      withSession(terminal, async ({ db }) => {
        if ((await findWebhookEndpoint(db, endpointId)) === undefined) {
          throw new OperationRefused(`There is no webhook endpoint ${endpointId}.`);
        }
        const deliveries = await listDeliveries(db, { endpointId }, flags.limit);
        const attempts = await listAttempts(
          db,
          deliveries.map(delivery => delivery.id),
          ATTEMPTS_MAXIMUM,
        );
        const rows = deliveries.map(delivery =>
          deliveryObject(
            delivery,
            attempts.filter(attempt => attempt.delivery_id === delivery.id),
          ),
        );
        printList(terminal, flags, rows, [
          ...(['id', 'eventType', 'status', 'attempts'] as const),
          ...(['lastResult', 'nextAttemptAt'] as const),
        ]);
      }),
    );

  addVerb(noun, 'redeliver', 'deliver an event to its endpoint again')
    .argument('<delivery>', 'delivery ID, as `mp webhook deliveries` shows it', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        const delivery = await redeliver(session, id);
        printObject(terminal, flags, deliveryObject(delivery, []), 'A worker will send it now.');
      }),
    );
}
