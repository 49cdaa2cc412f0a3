import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { requireMerchant } from '#accounts/merchants.ts';
import {
  disableEndpoint,
  enableEndpoint,
  setEndpoint,
} from '#payments/webhooks/change-endpoint.ts';
import {
  ALL_TYPES,
  createEndpoint,
  ENDPOINTS_MAXIMUM,
  type IssuedEndpoint,
  rotateEndpointSecret,
  SECRET_GRACE_MS,
  type Subscription,
} from '#payments/webhooks/manage-endpoints.ts';
import { REDELIVERIES_MAXIMUM, redeliver, redeliverFailed } from '#payments/webhooks/redeliver.ts';
import { RETRY_DELAYS_SECONDS } from '#payments/webhooks/retry-schedule.ts';
import { EVENT_TYPES, PAYMENT_EVENT_TYPES } from '#schemas/event.ts';
import { listAttempts } from '#storage/repositories/webhooks/attempts.ts';
import { listDeliveries } from '#storage/repositories/webhooks/deliveries.ts';
import {
  findWebhookEndpoint,
  listWebhookEndpoints,
} from '#storage/repositories/webhooks/endpoints.ts';
import { type CliCommand, type PageFlags, pageNote } from '../cli-command.ts';
import type { Session } from '../session.ts';
import { listOf, parseDate, parseId } from '../values.ts';
import { defineTest } from './test.ts';
import { deliveryObject, endpointObject } from './webhook-object.ts';

const SHOWN_ONCE = 'The secret is shown only once: save it now.';
const GRACE_HOURS = SECRET_GRACE_MS / 3_600_000;

interface SetFlags {
  readonly url?: string;
  readonly types?: Subscription;
}

interface CreateFlags extends SetFlags {
  readonly merchant: string;
  readonly url: string;
}

const parseTypes = listOf([ALL_TYPES, ...EVENT_TYPES]);
const TYPES = `comma-separated: ${EVENT_TYPES.join(', ')}; or ${ALL_TYPES}, which are the first ${PAYMENT_EVENT_TYPES.length}`;

/** `mp webhook create | list | set | enable | disable | test | rotate | deliveries | redeliver | redeliver-failed` */
export function define(noun: CliCommand): void {
  noun
    .verb('create', `add an endpoint, at most ${ENDPOINTS_MAXIMUM}; its secret is shown once`)
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .requiredOption('--url <url>', 'URL to send events to; https in production')
    .option('--types <a,b>', `${TYPES} (default: ${ALL_TYPES})`, parseTypes)
    .onDatabase(async (session, { merchant: merchantId, url, types }: CreateFlags) => {
      const allowPrivateAddresses = session.config.environment !== 'production';
      const input = { merchantId, url, types, allowPrivateAddresses };
      const issued = await createEndpoint(session, session.keyring, input);
      session.show(issuedObject(issued, session), SHOWN_ONCE);
    });

  noun
    .verb('list', 'list endpoints, newest first')
    .paged('webhook endpoint')
    .option('--merchant <id>', 'only endpoints of this merchant', parseId)
    .onDatabase(async ({ db, clock, showList }, flags: PageFlags & { merchant?: string }) => {
      const { merchant: merchantId, limit, before } = flags;
      if (merchantId !== undefined) await requireMerchant(db, merchantId);
      const page = await listWebhookEndpoints(db, { merchantId, limit, before });
      const rows = page.map(endpoint => endpointObject(endpoint, clock()));
      showList(rows, ['id', 'merchantId', 'url', 'types', 'status'], pageNote(rows, flags));
    });

  noun
    .verb('rotate', 'issue a new secret for an endpoint; it is shown once')
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .onDatabase(async (session, id: string) => {
      const issued = await rotateEndpointSecret(session, session.keyring, id);
      const old = `Events are also signed with the old secret for another ${GRACE_HOURS} hours.`;
      session.show(issuedObject(issued, session), `${SHOWN_ONCE}\n${old}`);
    });

  noun
    .verb('set', 'change an endpoint')
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .option('--url <url>', 'URL to send events to, pending ones as well')
    .option('--types <a,b>', TYPES, parseTypes)
    .atLeastOneOf('url', 'types')
    .onDatabase(async (session, id: string, { url, types }: SetFlags) => {
      const allowPrivateAddresses = session.config.environment !== 'production';
      const endpoint = await setEndpoint(session, id, { url, types, allowPrivateAddresses });
      session.show(endpointObject(endpoint, session.clock()));
    });

  noun
    .verb('enable', 'enable an endpoint again, and queue again what disabling it cancelled')
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .onDatabase(async (session, id: string) => {
      const { endpoint, ...queued } = await enableEndpoint(session, id);
      const rest = queued.hasMore ? ' Run `mp webhook redeliver-failed` for the rest.' : '';
      session.show(
        { ...endpointObject(endpoint, session.clock()), ...queued },
        queued.deliveries > 0 ? `A worker will send them now.${rest}` : undefined,
      );
    });

  noun
    .verb('disable', 'disable an endpoint and cancel its pending deliveries until it is enabled')
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .onDatabase(async (session, id: string) => {
      const endpoint = await disableEndpoint(session, id, `disabled-by ${session.actor}`);
      session.show(endpointObject(endpoint, session.clock()));
    });

  defineTest(noun);
  defineDeliveries(noun);
}

/** The secret comes right after the ID, where it is hard to overlook. */
function issuedObject({ endpoint, secret }: IssuedEndpoint, { clock }: Session) {
  const { id, ...rest } = endpointObject(endpoint, clock());
  return { id, secret, ...rest };
}

const DELIVERIES_DEFAULT = 20;
const DELIVERIES_MAXIMUM = 100;
/** Maximum attempts of a page of deliveries. Doubled, because a killed worker's attempt is repeated. */
const ATTEMPTS_MAXIMUM = 2 * DELIVERIES_MAXIMUM * RETRY_DELAYS_SECONDS.length;

/** `mp webhook deliveries | redeliver | redeliver-failed` */
function defineDeliveries(noun: CliCommand): void {
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
