import { TEST_ID_PREFIX } from '#signing/vectors/test-payment.ts';
import type { CliCommand } from '../cli-command.ts';
import { printResponse } from '../client/print-response.ts';
import type { JsonFlag } from '../print.ts';
import { type Session, withSession } from '../session.ts';
import { CommandFailed, type Terminal } from '../terminal.ts';
import { parseId } from '../values.ts';

interface TestFlags extends JsonFlag {
  readonly url?: string;
}

/** `mp webhook test` */
export function defineTest(noun: CliCommand): void {
  const { terminal } = noun;
  const command = noun.verb('test', 'send a signed test event once, and show the response');
  command
    .argument('[id]', 'ID of a webhook endpoint', parseId)
    .option('--url <url>', 'instead of an endpoint, in development: where to send it')
    .addHelpText(
      'after',
      `\nThe event is a payment_prompt.created whose IDs begin with ${TEST_ID_PREFIX}.\n` +
        'It is not repeated and leaves no delivery. To a --url it is signed with the secret in\n' +
        'WEBHOOK_SECRET, or with a new one, which is printed. Exit status: 0 for a response of 2xx,\n' +
        'else 1.',
    )
    .action(async (id: string | undefined, { url, ...flags }: TestFlags) => {
      if (id !== undefined && url === undefined) {
        return withSession(terminal, async session => {
          const sent = await send(session, id);
          const { endpoint, excerpt: responseExcerpt, refused, ...outcome } = sent;
          const { id: endpointId, url } = endpoint;
          const error = refused ? `${outcome.error} (${refused.join(', ')})` : outcome.error;
          printResponse(terminal, flags, { endpointId, url, ...outcome, error, responseExcerpt });
        });
      }
      if (id !== undefined || url === undefined) {
        return command.error('error: give either the ID of an endpoint or --url');
      }
      printResponse(terminal, flags, await sendTo(url, terminal));
    });
}

/** Sends the event to the developer's own server, which needs neither an endpoint nor a database. */
async function sendTo(text: string, { env }: Terminal) {
  if (env.NODE_ENV === 'production') {
    throw new CommandFailed('In production a test goes to an endpoint: give its ID.');
  }
  const [{ createForwarder }, { testEvent }, { eventEnvelope }] = await Promise.all([
    import('../client/forward.ts'),
    import('#payments/webhooks/test-event.ts'),
    import('#payments/webhooks/send-event.ts'),
  ]);
  const { url, secret, isNew, sign, send } = createForwarder(text, env.WEBHOOK_SECRET);
  const { signal } = new AbortController();
  const event = testEvent(new Date());
  const sent = { id: event.id, type: event.type, body: eventEnvelope(event) };
  const { at: _at, type: _type, ...forwarded } = await send(sign(sent), signal);
  return { url, ...(isNew ? { secret } : {}), ...forwarded };
}

/** Sends the event as a worker would. */
async function send({ db, clock, keyring, config }: Session, id: string) {
  // Loaded on demand: the other commands need no HTTP client.
  const [{ testEndpoint }, { guardedConnector }, { ATTEMPT_TIMEOUT_MS }] = await Promise.all([
    import('#payments/webhooks/test-endpoint.ts'),
    import('#outbound/guarded-connector.ts'),
    import('#payments/webhooks/send.ts'),
  ]);
  const allowPrivateAddresses = config.environment !== 'production';
  const connect = guardedConnector({ allowPrivateAddresses, timeoutMs: ATTEMPT_TIMEOUT_MS });
  const logger = { error: () => undefined, warn: () => undefined, info: () => undefined };
  const tools = { db, keyring, connect, allowPrivateAddresses, logger };
  return testEndpoint(tools, id, new Date(clock()));
}
