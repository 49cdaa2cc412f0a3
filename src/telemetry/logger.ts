import pino, { type DestinationStream, type Logger } from 'pino';
import type { Config } from '#config/config.ts';
import { serializeError } from './serialize-error.ts';

/** Fields that must never reach a log, even if they are passed to it by mistake. */
const SECRET_PATHS = [
  'passphrase',
  'secret',
  'apiKey',
  'authorization',
  'headers.authorization',
  'headers["x-mp-passphrase"]',
  'headers["x-mp-signature"]',
].flatMap(path => [path, path.startsWith('headers') ? `req.${path}` : `*.${path}`]);

/** Buffered bytes that trigger a write. */
const WRITE_LENGTH = 15 * 1024;
/** Longest a line stays in the buffer, in milliseconds. */
const WRITE_INTERVAL_MS = 100;

/**
 * Standard output, buffered and asynchronous: a write for each line would take a third of the time of a read
 * request. The buffer is flushed at exit and after a fatal line, but a write in flight is not waited for; a
 * killed process loses the last tenth of a second.
 */
export function standardOutput(): DestinationStream & { flushSync(): void } {
  const stream = pino.destination({
    sync: false,
    minLength: WRITE_LENGTH,
    contentMode: 'buffer',
  });
  /** Bytes that are not written yet. */
  let waiting = 0;
  let flushing: NodeJS.Timeout | undefined;
  stream.on('write', (written: number) => {
    waiting -= written;
  });
  // Runs only while bytes wait. sonic-boom's own periodic flush always runs, and writes nothing each time:
  // a third of what wakes an idle process.
  function flush(): void {
    if (waiting > 0) {
      stream.flush();
    } else {
      clearInterval(flushing);
      flushing = undefined;
    }
  }
  return {
    write(line) {
      const bytes = Buffer.from(line);
      waiting += bytes.length;
      // For strings, sonic-boom measures and copies its whole buffer with each line. Its types lack buffers.
      stream.write(bytes as unknown as string);
      flushing ??= setInterval(flush, WRITE_INTERVAL_MS).unref();
    },
    flushSync: () => stream.flushSync(),
  };
}

/** Standard error, each line at once. */
export function standardError(): DestinationStream {
  return pino.destination({ fd: 2, sync: true });
}

let formattedAt = 0;
let formatted = '';

/** The time as pino's own `isoTime` writes it, formatted once a millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== formattedAt) {
    formattedAt = now;
    formatted = `,"time":"${new Date(now).toISOString()}"`;
  }
  return formatted;
}

/**
 * Makes a logger that writes one JSON line an entry, with levels by name.
 * @param destination Where the lines go; stdout, unbuffered, when left out.
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
      redact: { paths: SECRET_PATHS, censor: '[redacted]' },
      serializers: { err: serializeError },
      formatters: { level: label => ({ level: label }) },
      timestamp: isoTime,
    },
    destination,
  );
}
