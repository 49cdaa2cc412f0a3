import type { Command } from 'commander';
import { EVENT_TYPES, PAYMENT_EVENT_TYPES } from '#schemas/event.ts';
import { requireMerchant } from '../../accounts/merchants.ts';
import { listWebhookEndpoints } from '../../repositories/webhooks/endpoints.ts';
import { disableEndpoint, enableEndpoint, setEndpoint } from '../../webhooks/change-endpoint.ts';
import {
  ALL_TYPES,
  createEndpoint,
  ENDPOINTS_MAXIMUM,
  type IssuedEndpoint,
  rotateEndpointSecret,
  SECRET_GRACE_MS,
  type Subscription,
} from '../../webhooks/manage-endpoints.ts';
import { type Session, withSession } from '../accounts/session.ts';
import { printList, printObject } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import {
  addPageFlags,
  addVerb,
  type JsonFlag,
  listOf,
  type PageFlags,
  pageNote,
  parseId,
  requireFlag,
} from '../values.ts';
import { defineDeliveries } from './deliveries.ts';
import { defineTest } from './test.ts';
import { endpointObject } from './webhook-object.ts';

const SHOWN_ONCE = 'The secret is shown only once: save it now.';
const GRACE_HOURS = SECRET_GRACE_MS / 3_600_000;
interface CreateFlags extends JsonFlag {
  readonly merchant: string;
  readonly url: string;
  readonly types?: Subscription;
}

interface SetFlags extends JsonFlag {
  readonly url?: string;
  readonly types?: Subscription;
}

const parseTypes = listOf([ALL_TYPES, ...EVENT_TYPES]);
const TYPES = `comma-separated: ${EVENT_TYPES.join(', ')}; or ${ALL_TYPES}, which are the first ${PAYMENT_EVENT_TYPES.length}`;

/** `mp webhook create | list | set | enable | disable | test | rotate | deliveries | redeliver` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'create', `add an endpoint, at most ${ENDPOINTS_MAXIMUM}; its secret is shown once`)
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .requiredOption('--url <url>', 'URL to send events to; https in production')
    .option('--types <a,b>', `${TYPES} (default: ${ALL_TYPES})`, parseTypes)
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

  addVerb(noun, 'set', 'change an endpoint')
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .option('--url <url>', 'URL to send events to, pending ones as well')
    .option('--types <a,b>', TYPES, parseTypes)
    .action((id: string, { url, types, ...flags }: SetFlags, command: Command) => {
      requireFlag(command, ['url', 'types']);
      return withSession(terminal, async session => {
        const allowPrivateAddresses = session.config.environment !== 'production';
        const change = { url, types, allowPrivateAddresses };
        const endpoint = await setEndpoint(session, id, change);
        printObject(terminal, flags, endpointObject(endpoint, session.clock()));
      });
    });

  addVerb(noun, 'enable', 'enable an endpoint again, for events from now on')
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        const endpoint = await enableEndpoint(session, id);
        printObject(terminal, flags, endpointObject(endpoint, session.clock()));
      }),
    );

  addVerb(noun, 'disable', 'disable an endpoint and cancel its pending deliveries')
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        const endpoint = await disableEndpoint(session, id, `Disabled by ${session.actor}.`);
        printObject(terminal, flags, endpointObject(endpoint, session.clock()));
      }),
    );

  defineTest(noun, terminal);
  defineDeliveries(noun, terminal);
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
