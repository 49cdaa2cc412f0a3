/** Environment and output of a command. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to standard output: the result and nothing else. */
  out(text: string): void;
  /** False once the reader of standard output is gone; long outputs end then. */
  isRead?(): boolean;
  /** A signal that Ctrl-C aborts from now on, instead of ending the process. */
  untilInterrupted?(): AbortSignal;
  /** Asks for a line; secret input is not shown. Resolves with undefined at the end of the input. */
  ask?(question: string, isSecret: boolean): Promise<string | undefined>;
  /** Pause after each request of a command that polls, in milliseconds; by default the command's own. */
  readonly pollMs?: number;
  /** Columns for a line that tells progress; undefined unless standard error is a terminal. */
  readonly progressWidth?: number | undefined;
  /** Whether standard output is a terminal, in which a line of progress would get between what is printed. */
  readonly isOutShown?: boolean;
  /** Writes to standard error: refusals, failures and wrong usage. */
  err(text: string): void;
}

/** The command failed. Only the message is printed. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** The command failed and has already printed its result: only the exit status is left to set. */
export class FailureShown extends Error {}
