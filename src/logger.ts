import pino, { type DestinationStream, type Logger } from 'pino';
import type { Config } from './config.ts';

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

/**
 * One JSON line an entry, levels by name.
 * @param destination Where the lines go instead of stdout.
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
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  );
}
