import { type JsonFlag, printObject } from '../print.ts';
import { FailureShown, type Terminal } from '../terminal.ts';

/**
 * Prints the outcome of sending an event, and whether its receiver counts as having it.
 * @throws FailureShown unless the response is one of 2xx.
 */
export function printResponse<T extends { readonly statusCode: number | null }>(
  terminal: Terminal,
  flags: JsonFlag,
  sent: T,
): void {
  const status = sent.statusCode ?? 0;
  const isReceived = status >= 200 && status <= 299;
  printObject(terminal, flags, sent, isReceived ? 'Received.' : reasonOf(status));
  if (!isReceived) throw new FailureShown();
}

function reasonOf(status: number): string {
  return status >= 300 && status <= 399
    ? 'Not received: redirects are not followed. Use the URL that this one leads to.'
    : 'Not received: only a response of 2xx counts.';
}
