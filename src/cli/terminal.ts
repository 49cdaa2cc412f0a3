/** Environment and output of a command. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to standard output: the result and nothing else. */
  out(text: string): void;
  /** Whether anybody still reads standard output; long outputs stop when nobody does. */
  isRead?(): boolean;
  /**
   * A signal that Ctrl-C aborts from now on, in place of ending the process; for a command that runs
   * until then.
   */
  untilInterrupted?(): AbortSignal;
  /** Writes to standard error: refusals, failures and wrong usage. */
  err(text: string): void;
}

/** The command failed. Only the message is printed. */
export class CommandFailed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CommandFailed';
  }
}

/** The command failed and has already printed its result: only the exit status is left to set. */
export class AnsweredFailure extends Error {
  constructor() {
    super('the failure has been printed');
    this.name = 'AnsweredFailure';
  }
}
