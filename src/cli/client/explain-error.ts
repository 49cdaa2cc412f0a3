import { ERRORS, type ErrorCode } from '#errors/catalogue.ts';
import { type JsonFlag, printJson, printLines } from '../print.ts';
import type { Terminal } from '../terminal.ts';

/** The error that a text names, in any case. */
export function findErrorCode(text: string): ErrorCode | undefined {
  const wanted = text.toUpperCase();
  return (Object.keys(ERRORS) as ErrorCode[]).find(code => code === wanted);
}

/** Prints what an error means, why it happens and what to do, as its page at /docs/errors does. */
export function printError(terminal: Terminal, { json }: JsonFlag, errorCode: ErrorCode): void {
  const { code, status, type, retry, meaning, why, remedy } = ERRORS[errorCode];
  if (json) {
    printJson(terminal, { errorCode, code, status, type, retry, meaning, why, remedy });
    return;
  }
  printLines(terminal, [
    `${errorCode} ${code} (HTTP ${status}, ${type})`,
    '',
    meaning,
    '',
    'Why it happens',
    ...why.map(cause => `  - ${cause}`),
    '',
    'What to do',
    `  ${remedy}`,
    `  Another attempt: ${retry ? 'yes, with a fresh nonce, timestamp and signature.' : 'no, not unchanged.'}`,
  ]);
}
