import type { PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { preparedName } from './prepared.ts';
import { STATEMENT_TIMEOUT_MS } from './session.ts';

interface SessionClientOptions {
  /** Whether statements that have names are prepared under them. */
  readonly prepares: boolean;
  /** Longest a statement may run, in milliseconds; 0 for no limit. */
  readonly statementTimeoutMs?: number | undefined;
  readonly release: (destroy?: boolean) => void;
}

/**
 * How much longer than the longest statement a server may be silent, in milliseconds, before its
 * connection counts as lost: PostgreSQL itself ends a statement that takes too long, and says so.
 */
const SILENCE_MARGIN_MS = 5_000;
const CHECK_INTERVAL_MS = 1_000;

/**
 * Wraps a connected client: prepares the statements that have names, and breaks the connection when
 * the server owes an answer for longer than any statement may take. Without that, requests would
 * wait for a server that is gone without a word until the kernel gives up, after a quarter of an hour.
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
    } finally {
      watch.answered();
    }
  }
  // The dialect's type has cursors as well, which nobody asks for.
  return { query: query as unknown as PostgresPoolClient['query'], release: options.release };
}

function watchSilence(client: pg.Client, statementTimeoutMs: number) {
  let owed = 0;
  let heardAt = performance.now();
  const watch = {
    sent() {
      if (owed === 0) heardAt = performance.now();
      owed += 1;
    },
    answered() {
      owed -= 1;
      heardAt = performance.now();
    },
  };
  if (statementTimeoutMs === 0) return watch;
  const check = setInterval(() => {
    const silentMs = performance.now() - heardAt;
    if (owed > 0 && silentMs > statementTimeoutMs + SILENCE_MARGIN_MS) {
      client.connection.stream.destroy();
    }
  }, CHECK_INTERVAL_MS).unref();
  client.once('end', () => clearInterval(check));
  return watch;
}
