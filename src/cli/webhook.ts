import type { Command } from 'commander';
import { EVENT_TYPES, type EventType } from '#schemas/event.ts';
import { OperationRefused } from '../accounts/audited-change.ts';
import { requireMerchant } from '../accounts/merchants.ts';
import { listAttempts } from '../repositories/webhook-attempts.ts';
import { listDeliveries } from '../repositories/webhook-deliveries.ts';
import { findWebhookEndpoint, listWebhookEndpoints } from '../repositories/webhook-endpoints.ts';
import {
  createEndpoint,
  disableEndpoint,
  ENDPOINTS_MAXIMUM,
  type IssuedEndpoint,
  rotateEndpointSecret,
  SECRET_GRACE_MS,
} from '../webhooks/manage-endpoints.ts';
import { redeliver } from '../webhooks/redeliver.ts';
import { RETRY_DELAYS_SECONDS } from '../webhooks/retry-schedule.ts';
import { printList, printObject } from './print.ts';
import { type Session, withSession } from './session.ts';
import type { Terminal } from './terminal.ts';
import {
  addPageFlags,
  addVerb,
  integerFrom,
  type JsonFlag,
  listOf,
  type PageFlags,
  pageNote,
  parseId,
} from './values.ts';
import { deliveryObject, endpointObject } from './webhook-object.ts';

const SHOWN_ONCE = 'The secret is shown only once: save it now.';
const GRACE_HOURS = SECRET_GRACE_MS / 3_600_000;
const DELIVERIES_DEFAULT = 20;
const DELIVERIES_MAXIMUM = 100;
/** Most attempts of a page of deliveries. Doubled, because a killed worker's attempt is made again. */
const ATTEMPTS_MAXIMUM = 2 * DELIVERIES_MAXIMUM * RETRY_DELAYS_SECONDS.length;

interface CreateFlags extends JsonFlag {
  readonly merchant: string;
  readonly url: string;
  readonly types?: EventType[];
}

/** `mp webhook create | list | rotate | disable | deliveries | redeliver` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'create', `add an endpoint, at most ${ENDPOINTS_MAXIMUM}; its secret is shown once`)
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .requiredOption('--url <url>', 'URL to send events to; https in production')
    .option(
      '--types <a,b>',
      `comma-separated: ${EVENT_TYPES.join(', ')} (default: all)`,
      listOf(EVENT_TYPES),
    )
    .action(({ merchant: merchantId, url, types, ...flags }: CreateFlags) =>
      withSession(terminal, async session => {
        const issued = await createEndpoint(session, session.keyring, {
          merchantId,
          url,
          types,
          allowPrivateAddresses: session.config.environment !== 'production',
        });
        printIssued(terminal, flags, issued, session, SHOWN_ONCE);
      }),
    );

  addPageFlags(addVerb(noun, 'list', 'list endpoints, newest first'), 'webhook endpoint')
    .option('--merchant <id>', 'only endpoints of this merchant', parseId)
    .action((flags: PageFlags & { merchant?: string }) =>
      withSession(terminal, async ({ db, clock }) => {
        const { merchant: merchantId, limit, before } = flags;
        if (merchantId !== undefined) await requireMerchant(db, merchantId);
        const page = await listWebhookEndpoints(db, { merchantId, limit, before });
        const rows = page.map(endpoint => endpointObject(endpoint, clock()));
        const columns = ['id', 'merchantId', 'url', 'types', 'status'] as const;
        printList(terminal, flags, rows, columns, pageNote(rows, flags));
      }),
    );

  addVerb(noun, 'rotate', 'issue a new secret for an endpoint; it is shown once')
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        const issued = await rotateEndpointSecret(session, session.keyring, id);
        const old = `Events are also signed with the old secret for another ${GRACE_HOURS} hours.`;
        printIssued(terminal, flags, issued, session, `${SHOWN_ONCE}\n${old}`);
      }),
    );

  addVerb(noun, 'disable', 'disable an endpoint permanently, with its pending deliveries')
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        const endpoint = await disableEndpoint(session, id, `Disabled by ${session.actor}.`);
        printObject(terminal, flags, endpointObject(endpoint, session.clock()));
      }),
    );

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

/** Prints the secret right after the ID, where it is hard to overlook. */
function printIssued(
  terminal: Terminal,
  flags: JsonFlag,
  { endpoint, secret }: IssuedEndpoint,
  { clock }: Session,
  note: string,
): void {
  const { id, ...rest } = endpointObject(endpoint, clock());
  printObject(terminal, flags, { id, secret, ...rest }, note);
}
