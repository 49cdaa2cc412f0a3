import pino, { type DestinationStream, type Logger } from 'pino';
import type { Config } from '../config/config.ts';

/** Paths of everything that must not reach a log, should it ever be handed to one. */
const SECRET_PATHS = [
  'passphrase',
  'secret',
  'apiKey',
  'authorization',
  'headers.authorization',
  'headers["x-mp-passphrase"]',
  'headers["x-mp-signature"]',
].flatMap(path => [path, path.startsWith('headers') ? `req.${path}` : `*.${path}`]);

/** Where PostgreSQL's errors quote whole rows and values, which are merchants' and customers' data. */
const ROW_PATHS = ['err.detail', 'err.where'];

/** Lines are written together once they are so many bytes (chosen, not measured), */
const WRITE_BYTES = 15 * 1024;
/** or have waited so long, in milliseconds. */
const WRITE_INTERVAL_MS = 100;

/**
 * Standard output, written without waiting for it: a write for each line costs a third of a read's
 * whole time. An orderly end writes what is left. An exit, or an error that ends the process, writes
 * what waits, and does not wait for a write that is under way; a killed process loses a tenth of a second.
 */
export function standardOutput(): DestinationStream & { flushSync(): void } {
  const stream = pino.destination({
    sync: false,
    minLength: WRITE_BYTES,
    periodicFlush: WRITE_INTERVAL_MS,
    contentMode: 'buffer',
  });
  return {
    // Given strings, sonic-boom copies all that wait for each line it adds, which takes a tenth of a
    // read's time; bytes it puts together once. Its types know strings alone.
    write: line => void stream.write(Buffer.from(line) as unknown as string),
    // Called by pino after a fatal line.
    flushSync: () => stream.flushSync(),
  };
}

/**
 * Makes the field of a line's time, in ISO 8601. It is written anew once a millisecond: at 10,000 lines
 * a second for every tenth.
 */
function timeField(): () => string {
  let at = Number.NaN;
  let field = '';
  return () => {
    const now = Date.now();
    if (now !== at) {
      at = now;
      field = `,"time":"${new Date(now).toISOString()}"`;
    }
    return field;
  };
}

/**
 * One JSON line an entry, levels by name.
 * @param destination Where the lines go instead of stdout, line by line.
 */
export function createLogger(
  config: Pick<Config, 'logLevel'>,
  name: string,
  destination?: DestinationStream,
): Logger {
  return pino(
    {
      name,
      level: config.logLevel,
      redact: { paths: [...SECRET_PATHS, ...ROW_PATHS], censor: '[redacted]' },
      formatters: { level: label => ({ level: label }) },
      timestamp: timeField(),
    },
    destination,
  );
}
