/** Why a response is none; without the text of the response, which may be anything. */
export class UnusableResponse extends Error {
  override name = 'UnusableResponse';
  /** What the node asks for; null for the usual pause. */
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null = null) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * How long a node is left alone that has answered far too much, in milliseconds: another one is asked
 * meanwhile, which its good responses in between must not put off.
 */
export const OVERSIZED_PAUSE_MS = 60_000;

/** A response beyond what the call can rightly return. Nothing of it was parsed. */
export class Oversized extends UnusableResponse {
  override name = 'Oversized';
  constructor(what: string) {
    super(`an answer ${what}`, OVERSIZED_PAUSE_MS);
  }
}

/** The node refuses a call or a batch that asks for too much at once, and may answer a smaller one. */
export class TooMuchAsked extends UnusableResponse {
  override name = 'TooMuchAsked';
}

/** There is no response in time, here or behind the provider's gateway; a question for less may have one. */
export class TookTooLong extends UnusableResponse {
  override name = 'TookTooLong';
}
