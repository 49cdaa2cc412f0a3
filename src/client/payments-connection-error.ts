import type { ApiRequest } from './exchange.ts';

/**
 * No answer came: the service could not be reached, was too slow, or the connection broke.
 *
 * Whether a create took effect is not known then. Repeat it with the same idempotency key, or look
 * the payment up by its customerReferenceId, before you create it under another key.
 */
export class PaymentsConnectionError extends Error {
  /** How often the request was sent. */
  readonly attempts: number;

  /** @param error What fetch rejected with; the reason behind it becomes the `cause`. */
  constructor({ method, path }: ApiRequest, attempts: number, error: unknown) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    // The query is left out: it may hold your customers' references.
    super(`${method} ${path.replace(/\?.*/s, '')} got no answer: ${describe(cause)}`, { cause });
    this.name = 'PaymentsConnectionError';
    this.attempts = attempts;
  }
}

function describe(cause: unknown): string {
  const { message, code, name } = cause as NodeJS.ErrnoException;
  return message || code || name || String(cause);
}
