/** Where a command reads its surroundings and writes its answer. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output: what was asked for and nothing else. */
  out(text: string): void;
  /** Standard error: refusals, failures and wrong usage. */
  err(text: string): void;
}

/** What was asked for cannot be done; the message is all that the operator needs. */
export class CommandFailed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailed';
  }
}

/** The answer, already printed, is that it failed: nothing is left to say but the exit status. */
export class AnsweredFailure extends Error {
  constructor() {
    super('the failure has been printed');
    this.name = 'AnsweredFailure';
  }
}
