import { type LogFunctionFactory, Logger } from 'graphile-worker';
import type { BaseLogger } from 'pino';

/** Hands the queue's errors to our log; what else it tells is for its own developers. */
export function queueLogger(logger: Pick<BaseLogger, 'error'>): Logger {
  const factory: LogFunctionFactory = scope => (level, message, meta) => {
    if (level === 'error') logger.error({ ...scope, err: meta?.error }, `job queue: ${message}`);
  };
  return new Logger(factory);
}
