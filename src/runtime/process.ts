import type { Logger } from 'pino';
import { type Config, readConfig } from '#config/config.ts';
import { findWarnings } from '#config/conflicts.ts';
import { createLogger, standardOutput } from '#telemetry/logger.ts';
import { explainFailure, reasonOf } from './explain-failure.ts';

/**
 * Longest a graceful shutdown may take, in milliseconds, before the process exits anyway: longer than any
 * request waits for the database. Work that is left then hangs. The database rolls it back, or another
 * process takes it over, as after any other exit; so the exit status is that of an orderly shutdown.
 */
const SHUTDOWN_TIMEOUT_MS = 9_250;

/**
 * Runs a long-lived entry point: reads the configuration and calls `run`, whose signal is aborted by SIGINT or
 * SIGTERM, with the name of the signal as its reason. A second signal ends the process at once, with status 1.
 */
export async function runProcess(
  name: string,
  run: (config: Config, logger: Logger, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const config = readConfigOrExit(name);
  const logger = createLogger(config, name, standardOutput());
  for (const warning of findWarnings(config)) logger.warn(warning);
  const controller = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(1);
    logger.info({ signal }, 'stopping');
    controller.abort(signal);
    setTimeout(() => {
      logger.error('stopping took too long');
      process.exit();
    }, SHUTDOWN_TIMEOUT_MS).unref();
  };
  // Node would print the error with everything that is attached to it.
  const crash = (error: unknown) => {
    tell(`The service crashed: ${reasonOf(error)}.`);
    logger.fatal({ err: error }, 'crashed');
    process.exit(1);
  };
  process.on('uncaughtException', crash);
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  try {
    await run(config, logger, controller.signal);
  } catch (error) {
    const explained = explainListening(error, config) ?? explainFailure(error);
    tell(explained ?? `The service was stopped by an error: ${reasonOf(error)}.`);
    if (explained === undefined) logger.fatal({ err: error }, 'stopped by an error');
    else tellCollector(logger, explained);
    process.exitCode = 1;
  } finally {
    process.off('uncaughtException', crash);
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  }
}

/** Tells a person why the process ends. */
function tell(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

/** Logs it as well, unless standard output is a terminal, where the same person would read it twice. */
function tellCollector(logger: Logger, sentence: string): void {
  if (!process.stdout.isTTY) logger.fatal(sentence);
}

/** Says in a line why a port could not be listened on; undefined for any other error. */
function explainListening(error: unknown, { host, port, metrics }: Config): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error)) return;
  const failed: Error & { code?: string; address?: string; port?: number; hostname?: string } =
    error;
  if (error.syscall === 'getaddrinfo' && [host, metrics?.host].includes(failed.hostname)) {
    const variable = failed.hostname === host ? 'HOST' : 'METRICS_HOST';
    return `${variable} is "${failed.hostname}", a name that no address is known for.`;
  }
  if (error.syscall !== 'listen') return;
  const [portVariable, hostVariable] =
    failed.port === port ? ['PORT', 'HOST'] : ['METRICS_PORT', 'METRICS_HOST'];
  const where = `${failed.address}:${failed.port}`;
  switch (failed.code) {
    case 'EADDRINUSE':
      return `${where} is in use by another process: end that one, or set ${portVariable}.`;
    case 'EACCES':
      return `${where} may not be listened on by this user: set ${portVariable}.`;
    case 'EADDRNOTAVAIL':
      return `${where} is no address of this machine: set ${hostVariable}.`;
    default:
      return `${where} cannot be listened on: ${failed.message}.`;
  }
}

/** Reads the configuration; prints its problems and exits with status 1 when it is not usable. */
function readConfigOrExit(name: string): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    const explained = explainFailure(error);
    if (explained === undefined) throw error;
    tell(explained);
    tellCollector(createLogger({ logLevel: 'fatal' }, name), explained);
    process.exit(1);
  }
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
