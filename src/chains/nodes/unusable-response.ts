/** A response that cannot be used. The message does not contain its text, which may be anything. */
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
 * Pause of a node after an oversized response, in milliseconds. Good responses to other calls do not shorten it:
 * another node is asked meanwhile.
 */
export const OVERSIZED_PAUSE_MS = 60_000;

/** A response larger than the call can rightly return. None of it was parsed. */
export class Oversized extends UnusableResponse {
  override name = 'Oversized';
  constructor(what: string) {
    super(`an answer ${what}`, OVERSIZED_PAUSE_MS);
  }
}

/** The node refuses a call or a batch that asks for too much at once, and may accept a smaller one. */
export class TooMuchAsked extends UnusableResponse {
  override name = 'TooMuchAsked';
}

/** There is no response in time, here or at the provider's gateway. A call that asks for less may have one. */
export class TookTooLong extends UnusableResponse {
  override name = 'TookTooLong';
}
