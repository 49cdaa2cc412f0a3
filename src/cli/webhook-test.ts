import type { Command } from 'commander';
import { TEST_ID_PREFIX } from '../webhooks/test-event.ts';
import { printObject } from './print.ts';
import { type Session, withSession } from './session.ts';
import { AnsweredFailure, type Terminal } from './terminal.ts';
import { addVerb, type JsonFlag, parseId } from './values.ts';

/** `mp webhook test` */
export function defineTest(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'test', 'send an endpoint a signed test event once, and show its response')
    .argument('<id>', 'ID of a webhook endpoint', parseId)
    .addHelpText(
      'after',
      `\nThe event is a payment_prompt.created whose IDs begin with ${TEST_ID_PREFIX}.\n` +
        'It is not repeated and leaves no delivery. Exit status: 0 for a response of 2xx, else 1.',
    )
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        const { endpoint, excerpt, ...outcome } = await send(session, id);
        const { statusCode } = outcome;
        const isReceived = statusCode !== null && statusCode >= 200 && statusCode <= 299;
        const note = isReceived ? 'Received.' : 'Not received: only a response of 2xx counts.';
        const { id: endpointId, url } = endpoint;
        const shown = { endpointId, url, ...outcome, responseExcerpt: excerpt };
        printObject(terminal, flags, shown, note);
        if (!isReceived) throw new AnsweredFailure();
      }),
    );
}

/** Sends it as a worker would. */
async function send({ db, keyring, config }: Session, id: string) {
  // Loaded on demand: the other commands need no HTTP client.
  const [{ testEndpoint }, { guardedConnector }, { ATTEMPT_TIMEOUT_MS }] = await Promise.all([
    import('../webhooks/test-endpoint.ts'),
    import('../outbound/guarded-connector.ts'),
    import('../webhooks/send.ts'),
  ]);
  const allowPrivateAddresses = config.environment !== 'production';
  const connect = guardedConnector({ allowPrivateAddresses, timeoutMs: ATTEMPT_TIMEOUT_MS });
  const logger = { error: () => undefined, warn: () => undefined, info: () => undefined };
  return testEndpoint({ db, keyring, connect, allowPrivateAddresses, logger }, id, new Date());
}
