import type { Duplex } from 'node:stream';
import type { PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { isDatabaseUnavailable } from './errors.ts';
import { preparedName } from './prepared.ts';
import { countRefusal } from './refusals.ts';
import { type Answered, describeOnce } from './row-descriptions.ts';
import type { SessionOptions } from './session.ts';
import {
  CLOSE_TIMEOUT_MS,
  CONNECT_TIMEOUT_MS,
  RESPONSE_MARGIN_MS,
  STATEMENT_TIMEOUT_MS,
} from './time-limits.ts';

interface SessionClientOptions {
  readonly session: SessionOptions;
  readonly release: (destroy?: boolean) => void;
  /** Whether queries of one tick of the event loop are written together. */
  readonly gathers?: boolean;
  /** Called when the server ends the session, before its connection closes. */
  readonly onFatal?: () => void;
}

/** How often it is checked whether responses are overdue, in milliseconds. */
const CHECK_INTERVAL_MS = 250;

/**
 * Wraps a connected client: prepares the statements that have names, unless it leads to a pooler, and
 * cuts the connection when a response is overdue by more than any statement may take. Without that,
 * requests would wait until the kernel gives up on a server that vanished, after a quarter of an hour.
 */
export function sessionClient(
  client: pg.Client,
  options: SessionClientOptions,
): PostgresPoolClient {
  const { session } = options;
  client.on('notice', notice => session.gate?.heed(notice));
  const watch = watchResponses(client, responseTimeoutMs(session));
  const runPrepared = describeOnce(client);
  const gather = options.gathers === true ? gatherWrites(client.connection.stream) : undefined;
  /** Uses a callback, since objects that pg's own promise refers to survive until a major garbage collection. */
  function query(text: string, values: unknown[]): Promise<pg.QueryResult> {
    const refusal = session.gate?.refuse(text);
    if (refusal !== undefined) return Promise.reject(refusal);
    const name = session.pooler === true ? undefined : preparedName(text);
    watch.sent();
    gather?.();
    return new Promise((resolve, reject) => {
      let isAnswered = false;
      const answered: Answered = (error, result) => {
        // pg calls back twice for a value that it cannot send.
        if (!isAnswered) watch.answered();
        isAnswered = true;
        if (error === null) return resolve(result);
        countRefusal(error);
        if (error instanceof pg.DatabaseError && error.severity === 'FATAL') options.onFatal?.();
        reject(ownError(error));
      };
      if (name === undefined) client.query({ text, values }, answered);
      else runPrepared({ name, text, values }, answered);
    });
  }
  // The dialect's type has cursors as well, which nothing here uses.
  return { query: query as unknown as PostgresPoolClient['query'], release: options.release };
}

/** Returns a function that makes a stream buffer everything written to it until the end of the tick. */
function gatherWrites(stream: Duplex): () => void {
  let isGathering = false;
  const write = () => {
    isGathering = false;
    stream.uncork();
  };
  return () => {
    if (isGathering) return;
    isGathering = true;
    stream.cork();
    process.nextTick(write);
  };
}

/**
 * Cuts those connections that their server has not closed after `CLOSE_TIMEOUT_MS`. Call it before closing
 * them properly, which would never finish on a server that hangs.
 */
export function cutSoon(clients: Iterable<pg.Client>): void {
  // The timer must not keep a process alive that has no open connection left.
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
function ownError(error: Error): Error {
  if (error instanceof pg.DatabaseError) return error;
  return isDatabaseUnavailable(error) ? Object.assign(new Error(error.message), error) : error;
}

/** Longest that a query may be without a response, in milliseconds; undefined without a limit. */
function responseTimeoutMs({
  pooler,
  statementTimeoutMs = STATEMENT_TIMEOUT_MS,
}: SessionOptions): number | undefined {
  if (statementTimeoutMs === 0) return undefined;
  // A pooler keeps a query until it has a connection for it.
  const waitMs = pooler === true ? CONNECT_TIMEOUT_MS : 0;
  return waitMs + statementTimeoutMs + RESPONSE_MARGIN_MS;
}

/**
 * Cuts the connection when a query has been without a response for longer than it may. On a pipeline that
 * includes the time of the queries ahead: behind several that wait for a lock, each for as long as a
 * statement may run, a query would wait for all of them.
 */
function watchResponses(client: pg.Client, timeoutMs = Number.POSITIVE_INFINITY) {
  let sent = 0;
  let answered = 0;
  let checking = false;
  /** Number of queries sent at the last checks, oldest first; empty while every query has its response. */
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
