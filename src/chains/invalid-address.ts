/**
 * An address that is refused. `reason` explains it to the operator and never repeats the text: a private
 * key pasted by mistake must not end up in a log.
 */
export class InvalidAddress extends Error {
  override name = 'InvalidAddress';
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}
