import { PaymentsApiError, PaymentsConnectionError } from '#client/index.ts';
import { cell } from '../print.ts';
import { CommandFailed } from '../terminal.ts';
import type { ClientContext } from './command.ts';

/** Says why there was no response: fetch puts the reason into the cause. */
export function describeSilence(
  { whenSilent }: Pick<ClientContext, 'whenSilent'>,
  baseUrl: string,
  error: unknown,
): CommandFailed {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const { code, name, message } = cause as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return new CommandFailed(`${baseUrl} did not answer in time.`);
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') {
    return new CommandFailed(`Nothing answers on ${baseUrl} (${code}): ${whenSilent}`);
  }
  return new CommandFailed(`The request to ${baseUrl} failed: ${message || code || name}.`);
}

/** Says why a request was refused, and where to read more. */
function describeRefusal(refusal: PaymentsApiError): CommandFailed {
  const { errorCode, message, requestId } = refusal;
  const help = errorCode === '' ? '' : ` "mp explain ${errorCode}" says more.`;
  const named = requestId === undefined ? '' : ` (request ${requestId})`;
  return new CommandFailed(cell(`${message}${named}${help}`));
}

/** Describes a failure of the client; returns anything else as it is. */
export function describeClientFailure(
  context: Pick<ClientContext, 'whenSilent'>,
  baseUrl: string,
  error: unknown,
): unknown {
  if (error instanceof PaymentsApiError) return describeRefusal(error);
  if (error instanceof PaymentsConnectionError) return describeSilence(context, baseUrl, error);
  return error;
}
