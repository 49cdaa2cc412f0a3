import type { Duplex } from 'node:stream';
import type { PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { isDatabaseUnavailable } from './failures.ts';
import { preparedName } from './prepared.ts';
import { type Answered, repeatedQueries } from './repeated-query.ts';
import { STATEMENT_TIMEOUT_MS } from './session.ts';

interface SessionClientOptions {
  /** Whether statements that have names are prepared under them. */
  readonly prepares: boolean;
  /** Longest a statement may run, in milliseconds; 0 for no limit. */
  readonly statementTimeoutMs?: number | undefined;
  /** Whether what is sent in one turn of the event loop goes out together. */
  readonly batches?: boolean;
  readonly release: (destroy?: boolean) => void;
  /** Told when the server ends the session; its last word comes before the connection's end. */
  readonly onFatal?: () => void;
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
  const askNamed = repeatedQueries(client);
  const gather = options.batches === true ? gatherWrites(client.connection.stream) : undefined;
  async function query(text: string, values: unknown[]) {
    gather?.();
    const name = options.prepares ? preparedName(text) : undefined;
    watch.sent();
    try {
      return await ask(answered => {
        if (name === undefined) client.query({ text, values }, answered);
        else askNamed({ name, text, values }, answered);
      });
    } catch (error) {
      if (error instanceof pg.DatabaseError && error.severity === 'FATAL') options.onFatal?.();
      throw error;
    } finally {
      watch.answered();
    }
  }
  // The dialect's type has cursors as well, which nobody asks for.
  return { query: query as unknown as PostgresPoolClient['query'], release: options.release };
}

/**
 * A promise of our own for what `send` asks. For its own, pg assigns a function literal to a property
 * of the query, and V8 allocates such functions among the old objects: each then keeps its query and
 * the rows until the next major collection. Collections of young objects, which have to copy what is
 * kept, take 4 to 10 ms with pg's promise under reads, and 2 ms with this one.
 */
function ask(send: (answered: Answered) => void): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    send((error, result) => {
      if (error === null) resolve(result);
      else reject(ownError(error));
    });
  });
}

/**
 * The failure of one query. All queries of a connection that is lost fail with one error, to whose
 * stack Kysely adds the caller of each: the logs of a hundred would hold ten thousand.
 */
function ownError(error: Error): Error {
  const isLost = !(error instanceof pg.DatabaseError) && isDatabaseUnavailable(error);
  return isLost ? Object.assign(new Error(error.message), error) : error;
}

/**
 * Lists whose nonces are answered together send their queries in the same turn of the event loop, and
 * each query is several messages: written to the socket together they take one system call.
 */
function gatherWrites(stream: Duplex): () => void {
  let gathering = false;
  const write = () => {
    gathering = false;
    stream.uncork();
  };
  return () => {
    if (gathering) return;
    gathering = true;
    stream.cork();
    process.nextTick(write);
  };
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
