import type { PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { isDatabaseUnavailable } from './errors.ts';
import { preparedName } from './prepared.ts';
import { STATEMENT_TIMEOUT_MS } from './session.ts';

interface SessionClientOptions {
  /** Whether statements that have names are prepared under them. */
  readonly prepares: boolean;
  /** Longest a statement may run, in milliseconds; 0 for no limit. */
  readonly statementTimeoutMs?: number | undefined;
  readonly release: (destroy?: boolean) => void;
  /** Called when the server ends the session, before its connection closes. */
  readonly onFatal?: () => void;
}

/**
 * How much longer than the longest statement a server may be silent, in milliseconds, before its
 * connection counts as lost: PostgreSQL itself ends a statement that takes too long, and says so.
 */
const SILENCE_MARGIN_MS = 5_000;
const CHECK_INTERVAL_MS = 1_000;

/**
 * Wraps a connected client: prepares the statements that have names, and destroys the connection when
 * an answer is overdue by more than any statement may take. Without that, requests would wait until
 * the kernel gives up on a server that vanished, after a quarter of an hour.
 */
export function sessionClient(
  client: pg.Client,
  options: SessionClientOptions,
): PostgresPoolClient {
  const watch = watchSilence(client, options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS);
  async function query(text: string, values: unknown[]) {
    const name = options.prepares ? preparedName(text) : undefined;
    watch.sent();
    try {
      return await client.query(name === undefined ? { text, values } : { name, text, values });
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.severity === 'FATAL') options.onFatal?.();
      throw ownError(error);
    } finally {
      watch.answered();
    }
  }
  // The dialect's type has cursors as well, which nothing here uses.
  return { query: query as unknown as PostgresPoolClient['query'], release: options.release };
}

/**
 * An error for this query alone. pg fails all queries of a lost connection with one error, and Kysely
 * appends each caller's stack to it: a hundred log entries would hold ten thousand stacks.
 */
function ownError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof pg.DatabaseError) return error;
  return isDatabaseUnavailable(error) ? Object.assign(new Error(error.message), error) : error;
}

function watchSilence(client: pg.Client, statementTimeoutMs: number) {
  let inFlight = 0;
  let lastAnswerAt = performance.now();
  const watch = {
    sent() {
      if (inFlight === 0) lastAnswerAt = performance.now();
      inFlight += 1;
    },
    answered() {
      inFlight -= 1;
      lastAnswerAt = performance.now();
    },
  };
  if (statementTimeoutMs === 0) return watch;
  const check = setInterval(() => {
    const silentMs = performance.now() - lastAnswerAt;
    if (inFlight > 0 && silentMs > statementTimeoutMs + SILENCE_MARGIN_MS) {
      client.connection.stream.destroy();
    }
  }, CHECK_INTERVAL_MS).unref();
  client.once('end', () => clearInterval(check));
  return watch;
}
