import type { PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { isDatabaseUnavailable } from './errors.ts';
import { preparedName } from './prepared.ts';
import type { SessionOptions } from './session.ts';
import {
  ANSWER_MARGIN_MS,
  CLOSE_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  STATEMENT_TIMEOUT_MS,
} from './time-limits.ts';

interface SessionClientOptions {
  readonly session: SessionOptions;
  readonly release: (destroy?: boolean) => void;
  /** Called when the server ends the session, before its connection closes. */
  readonly onFatal?: () => void;
}

/** How often unanswered queries are looked at, in milliseconds. */
const CHECK_INTERVAL_MS = 250;

/**
 * Wraps a connected client: prepares the statements that have names, unless it leads to a pooler, and
 * cuts the connection when an answer is overdue by more than any statement may take. Without that,
 * requests would wait until the kernel gives up on a server that vanished, after a quarter of an hour.
 */
export function sessionClient(
  client: pg.Client,
  options: SessionClientOptions,
): PostgresPoolClient {
  const { session } = options;
  const watch = watchAnswers(client, answerTimeoutMs(session));
  async function query(text: string, values: unknown[]) {
    const name = session.pooler === true ? undefined : preparedName(text);
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
 * Cuts in a moment those connections that their server has not ended until then. Call it before ending
 * them in an orderly way, which a server that hangs would never finish.
 */
export function cutSoon(clients: Iterable<pg.Client>): void {
  // A process that has no open connection left need not wait for it.
  setTimeout(() => {
    for (const client of clients) cut(client);
  }, CLOSE_TIMEOUT_MS).unref();
}

/** Ends a connection at once; its queries fail. */
export function cut(client: pg.Client): void {
  client.connection.stream.destroy();
}

/**
 * An error for this query alone. pg fails all queries of a lost connection with one error, and Kysely
 * appends each caller's stack to it: a hundred log entries would hold ten thousand stacks.
 */
function ownError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof pg.DatabaseError) return error;
  return isDatabaseUnavailable(error) ? Object.assign(new Error(error.message), error) : error;
}

/** Longest that a query may be without an answer, in milliseconds; undefined without a limit. */
function answerTimeoutMs({
  pooler,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
}: SessionOptions): number | undefined {
  if (statementTimeoutMs === 0) return undefined;
  // A pooler keeps a query until it has a connection for it.
  const waitMs = pooler === true ? CONNECT_TIMEOUT_MS : 0;
  return waitMs + statementTimeoutMs + ANSWER_MARGIN_MS;
}

/**
 * Cuts the connection when a query has been without an answer for longer than it may. On a pipeline that
 * includes the time in which others were worked on: behind several that wait for a lock, each for as
 * long as a statement may, a query would wait for all of them.
 */
function watchAnswers(client: pg.Client, timeoutMs = Number.POSITIVE_INFINITY) {
  let sent = 0;
  let answered = 0;
  let checking = false;
  /** How many had been sent at the last checks, oldest first; all of them while something is unanswered. */
  const marks: number[] = [];
  const marksMaximum = Math.floor(timeoutMs / CHECK_INTERVAL_MS) - 1;

  function check() {
    checking = false;
    const due = marks.length < marksMaximum ? 0 : (marks.shift() ?? 0);
    if (answered < due) {
      cut(client);
    } else if (answered < sent) {
      marks.push(sent);
      checkSoon();
    } else {
      marks.length = 0;
    }
  }

  function checkSoon() {
    checking = true;
    setTimeout(check, CHECK_INTERVAL_MS).unref();
  }

  return {
    sent() {
      sent += 1;
      if (!checking && timeoutMs !== Number.POSITIVE_INFINITY) checkSoon();
    },
    answered() {
      answered += 1;
    },
  };
}
