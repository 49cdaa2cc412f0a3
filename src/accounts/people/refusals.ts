import { type RefusalArguments, Refused } from '#errors/refusals/refused.ts';

/** A form is refused: the reason, and the field that it is about. */
export class FieldRefused extends Refused {
  override readonly name = 'FieldRefused';
  readonly field: string;

  constructor(field: string, ...refusal: RefusalArguments) {
    super(...refusal);
    this.field = field;
  }
}

/** The password or the code is not that of the person. The log of the request has the refusal's code. */
export class WrongProof extends FieldRefused {}

/** Too many codes were wrong: for a while none is checked on this kind of device. */
export class SecondFactorClosed extends WrongProof {
  /** @param isKnownDevice Whether the person has signed in with this device before. */
  constructor(isKnownDevice: boolean) {
    super('code', 'too-many-codes', { isKnownDevice });
  }
}

/** The session has ended: elsewhere, or by too many wrong codes and passwords. */
export class SessionEnded extends Error {}

/** The link was used, or has expired, while the form was open. */
export class LinkEnded extends Error {}
