import type { BaseLogger } from 'pino';
import type { buildConnector } from 'undici';
import type { Keyring } from '#crypto/keyring.ts';
import { webhookHeaders } from '#signing/webhooks.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import type { OutgoingEvent } from '#storage/repositories/payments/events.ts';
import type { ClaimedDelivery } from '#storage/repositories/webhooks/claims.ts';
import { traceHeaders } from '#telemetry/trace-context.ts';
import { type AttemptOutcome, noResponse, type OutgoingWebhook, sendWebhook } from './send.ts';

export interface SendDependencies {
  readonly keyring: Keyring;
  readonly logger: Pick<BaseLogger, 'error' | 'warn' | 'info'>;
  /** Opens connections to allowed addresses only. */
  readonly connect: buildConnector.connector;
  /** Whether plain HTTP is allowed; never in production. */
  readonly allowPrivateAddresses: boolean;
  /** Timeout of an attempt, in milliseconds. */
  readonly timeoutMs?: number;
}

/**
 * Signs an event and sends it to an endpoint. Failures are part of the outcome.
 * @throws The signal's reason if it is aborted before a response.
 */
export async function sendEvent(
  { connect, keyring, logger, allowPrivateAddresses, timeoutMs }: SendDependencies,
  { endpoint, event }: Pick<ClaimedDelivery, 'endpoint' | 'event'>,
  now: Date,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  if (!allowPrivateAddresses && !endpoint.url.startsWith('https://')) {
    return noResponse('the URL is not https');
  }
  let secrets: string[];
  try {
    secrets = openSecrets(keyring, endpoint, now);
  } catch (error) {
    // The delivery is retried as usual; meanwhile an operator has to restore the master key.
    logger.error({ err: error, endpointId: endpoint.id }, 'webhook secret cannot be opened');
    return noResponse('the signing secret cannot be opened');
  }
  const webhook = { url: endpoint.url, ...signEvent(event, secrets, now) };
  const outcome = await sendWebhook(webhook, { connect, now, signal, timeoutMs });
  if (outcome.refused !== null) {
    const { hostname, addresses } = outcome.refused;
    logger.warn({ endpointId: endpoint.id, hostname, addresses }, 'webhook address refused');
  }
  return outcome;
}

/** Headers and body of an event, with one signature per secret. */
export function signEvent(
  event: OutgoingEvent,
  secrets: readonly string[],
  now: Date,
): Pick<OutgoingWebhook, 'headers' | 'body'> {
  const body = eventEnvelope(event);
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signed = webhookHeaders(secrets, { id: event.id, timestamp, body });
  return { headers: { ...signed, ...traceHeaders(event) }, body };
}

/** The request body: identical for every delivery of an event, with the data exactly as stored. */
export function eventEnvelope({
  id,
  type,
  createdAt,
  data,
}: Pick<OutgoingEvent, 'id' | 'type' | 'createdAt' | 'data'>): string {
  const head = JSON.stringify({ id, object: 'event', type, createdAt });
  return `${head.slice(0, -1)},"data":${data}}`;
}

/** The current secret, and the previous one during its grace period. */
function openSecrets(keyring: Keyring, endpoint: WebhookEndpoint, now: Date): string[] {
  const secrets = [keyring.open(endpoint.secret, endpoint.id, endpoint.master_key_version)];
  const { previous_secret: sealed, previous_master_key_version: version } = endpoint;
  const until = endpoint.previous_valid_until;
  if (sealed !== null && version !== null && until !== null && until > now) {
    secrets.push(keyring.open(sealed, endpoint.id, version));
  }
  return secrets;
}
