import { OperationRefused } from '#accounts/audit/audited-change.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import { findWebhookEndpoint } from '#storage/repositories/webhooks/endpoints.ts';
import type { AttemptOutcome } from './send.ts';
import { type SendDependencies, sendEvent } from './send-event.ts';
import { testEvent } from './test-event.ts';

/** The result of testing an endpoint. */
export interface EndpointTest extends Pick<AttemptOutcome, 'statusCode' | 'error' | 'excerpt'> {
  readonly endpoint: WebhookEndpoint;
  readonly eventId: string;
  /** The host's addresses, if none of them is allowed; for operators alone. */
  readonly refused: readonly string[] | undefined;
  /** Milliseconds. */
  readonly durationMs: number;
}

/**
 * Sends an endpoint, enabled or not, one `payment_prompt.created` event of a payment that does not
 * exist, signed like any other. It is neither recorded nor repeated.
 * @throws OperationRefused for an unknown endpoint.
 */
export async function testEndpoint(
  { db, ...send }: SendDependencies & { readonly db: Connection },
  id: string,
  now: Date,
): Promise<EndpointTest> {
  const endpoint = await findWebhookEndpoint(db, id);
  if (endpoint === undefined) throw new OperationRefused('endpoint-unknown', { endpointId: id });
  const event = testEvent(now);
  const started = performance.now();
  const outcome = await sendEvent(send, { endpoint, event }, now, new AbortController().signal);
  const durationMs = Math.round(performance.now() - started);
  const { statusCode, error, excerpt } = outcome;
  const refused = outcome.refused?.addresses;
  return { endpoint, eventId: event.id, statusCode, error, excerpt, refused, durationMs };
}
