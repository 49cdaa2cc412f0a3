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
import { EVENT_TYPES, PAYMENT_EVENT_TYPES } from '#schemas/event.ts';
import { listWebhookEndpoints } from '#storage/repositories/webhooks/endpoints.ts';
import { type CliCommand, type PageFlags, pageNote } from '../cli-command.ts';
import type { Session } from '../session.ts';
import { listOf, parseId } from '../values.ts';
import { defineDeliveries } from './deliveries.ts';
import { defineTest } from './test.ts';
import { endpointObject } from './webhook-object.ts';

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
