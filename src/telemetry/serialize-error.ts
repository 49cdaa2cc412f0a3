import pino from 'pino';
import { maskSecrets } from '#crypto/mask-secrets.ts';

/**
 * What is logged of an error beside its type, message and stack: properties of Node's, PostgreSQL's and
 * our own errors that say what went wrong. Drivers attach more, such as the whole client with the key
 * that cancels its queries, the arguments of a Redis AUTH, the URL that could not be parsed, or the
 * values of a row. A list of what must not be logged would miss what they attach next.
 */
const FIELDS = [
  'code',
  'errno',
  'syscall',
  'address',
  'port',
  'hostname',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
  'statusCode',
  'errorCode',
  'requestId',
] as const;

/** An error as it is logged. */
interface SerializedError {
  readonly type: string;
  /** With the messages of its causes. */
  readonly message: string;
  /** With the stacks of its causes. */
  readonly stack: string;
  /** The errors of an AggregateError, for example one for each address of a host. */
  readonly errors?: readonly unknown[];
  readonly [field: string]: unknown;
}

/**
 * Serializes any thrown value, with secrets masked, even where a message quotes what a client has sent;
 * undefined stays undefined.
 */
export function serializeError(error: unknown): SerializedError | undefined {
  if (error === undefined) return undefined;
  if (!(error instanceof Error)) {
    return { type: typeof error, message: maskSecrets(String(error)), stack: '' };
  }
  const { type, message, stack } = pino.stdSerializers.err(error);
  const shown = Object.entries(error).filter(([name]) =>
    (FIELDS as readonly string[]).includes(name),
  );
  const { errors } = error as AggregateError;
  return {
    type,
    message: maskSecrets(message),
    stack: maskSecrets(stack),
    ...(Array.isArray(errors) ? { errors: errors.map(serializeError) } : {}),
    ...Object.fromEntries(shown),
  };
}
