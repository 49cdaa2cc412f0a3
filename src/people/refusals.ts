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
export class WrongProof extends FieldRefused {}

/** The link was used, or has expired, while the form was open. */
export class LinkEnded extends Error {}
