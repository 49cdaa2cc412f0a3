/** Which part of a webhook failed: a header, the time, the signature, or the body it signs. */
export type WebhookFailure =
  | 'webhook-id'
  | 'webhook-timestamp'
  | 'timestamp-too-old'
  | 'timestamp-too-new'
  | 'webhook-signature'
  | 'signature-mismatch'
  | 'body';

/** A webhook that is not to be acted on: answer it with a 400 and do nothing. */
export class WebhookVerificationError extends Error {
  readonly failure: WebhookFailure;

  constructor(failure: WebhookFailure, message: string) {
    super(message);
    this.name = 'WebhookVerificationError';
    this.failure = failure;
  }
}
