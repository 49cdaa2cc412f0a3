import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { guardedConnector } from '../../outbound/guarded-connector.ts';
import type { OutgoingEvent } from '../../repositories/payments/events.ts';
import { readWebhookSecret, SECRET_PREFIX } from '../../signing/webhooks.ts';
import { parseEndpointUrl } from '../../webhooks/endpoint-url.ts';
import { ATTEMPT_TIMEOUT_MS, sendWebhook } from '../../webhooks/send.ts';
import { signEvent } from '../../webhooks/send-event.ts';
import { CommandFailed } from '../terminal.ts';

/** As many as those of an endpoint's secret. */
const SECRET_BYTES = 32;

/** What became of an event; exactly one of `statusCode` and `error` is not null. */
export interface Forwarded {
  readonly at: string;
  readonly eventId: string;
  readonly type: string;
  readonly statusCode: number | null;
  /** Why there was no response. */
  readonly error: string | null;
  /** Beginning of the response's body. */
  readonly responseExcerpt: string | null;
  readonly durationMs: number;
}

/** Sends events to a server of the developer's, as a worker sends them to an endpoint. */
export interface Forwarder {
  readonly url: string;
  readonly secret: string;
  /** Whether the secret was made for this process, so that it has to be printed. */
  readonly isNew: boolean;
  /** @throws The signal's reason if it is aborted before a response. */
  forward(event: OutgoingEvent, signal: AbortSignal): Promise<Forwarded>;
}

/**
 * @param given A secret to sign with; otherwise a new one, which ends with the process.
 * @throws OperationRefused for an invalid URL, CommandFailed for an invalid secret.
 */
export function createForwarder(text: string, given: string | undefined): Forwarder {
  // Local servers are what this is for.
  const url = parseEndpointUrl(text, true);
  const secret = given || SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
  try {
    readWebhookSecret(secret);
  } catch {
    throw new CommandFailed(`WEBHOOK_SECRET must be ${SECRET_PREFIX} and base64.`);
  }
  const connect = guardedConnector({
    allowPrivateAddresses: true,
    timeoutMs: ATTEMPT_TIMEOUT_MS,
    // As the machine resolves names: developers name servers in /etc/hosts.
    resolve: async name => (await lookup(name, { all: true })).map(({ address }) => address),
  });
  return {
    url,
    secret,
    isNew: !given,
    async forward(event, signal) {
      const now = new Date();
      const webhook = { url, ...signEvent(event, [secret], now) };
      const outcome = await sendWebhook(webhook, { connect, now, signal });
      return {
        at: now.toISOString(),
        eventId: event.id,
        type: event.type,
        statusCode: outcome.statusCode,
        error: outcome.error,
        responseExcerpt: outcome.excerpt,
        durationMs: Date.now() - now.getTime(),
      };
    },
  };
}
