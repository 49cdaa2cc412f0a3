/** A form is refused: the reason, and the field that it is about. */
export class FieldRefused extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.name = 'FieldRefused';
    this.field = field;
  }
}

/** The password or the code is not that of the person. */
export class WrongProof extends FieldRefused {
  /** For the log. */
  readonly refusal: string;

  constructor(field: 'password' | 'code', message: string, refusal = `wrong-${field}`) {
    super(field, message);
    this.refusal = refusal;
  }
}

/** Too many codes were wrong: for a while none is checked on this kind of device. */
export class SecondFactorClosed extends WrongProof {
  /** @param isKnownDevice Whether the person has signed in with this device before. */
  constructor(isKnownDevice: boolean) {
    const others = isKnownDevice
      ? ''
      : ', and at once on a device that you have signed in with before';
    super(
      'code',
      `Too many wrong codes were entered for you${isKnownDevice ? ' on this device' : ''}. Codes are taken again in a quarter of an hour${others}. If this stays, ask for a link for a new password.`,
      'too-many-codes',
    );
  }
}

/** The session has ended: elsewhere, or by too many wrong codes and passwords. */
export class SessionEnded extends Error {}

/** The link was used, or has expired, while the form was open. */
export class LinkEnded extends Error {}
