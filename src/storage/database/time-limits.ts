/**
 * How long the database may take, in milliseconds.
 *
 * No request takes longer than 10 s, even if a server, a network or a lock hangs. The claim of a nonce (a
 * read goes on when that fails) and then the work on the database have to fit into that; the rest is for
 * what the request itself does. With PgBouncer these are the limits of the wait for a connection and of
 * the role (guide `pgbouncer`).
 */

/** Longest that a request waits for a connection, from the pool or to the server. */
export const CONNECT_TIMEOUT_MS = 2_500;
/** Longest that anything else waits for a connection: a command, a migration, the change feed. */
export const PATIENT_CONNECT_TIMEOUT_MS = 5_000;
/** Longest a statement may run; the slowest usual one takes far less. */
export const STATEMENT_TIMEOUT_MS = 3_500;
/**
 * How long after the statement timeout a response may still come before the connection counts as lost:
 * PostgreSQL itself ends a statement that takes too long, and reports it.
 */
export const RESPONSE_MARGIN_MS = 500;
/** Longest that work takes: one statement, several of a report, or a create that is retried. */
export const WORK_TIMEOUT_MS = CONNECT_TIMEOUT_MS + STATEMENT_TIMEOUT_MS + RESPONSE_MARGIN_MS;
/** Longest a statement of a report may run: what cannot be counted by then is refused. */
export const REPORT_STATEMENT_TIMEOUT_MS = 3_000;
/** Longest a claim of a nonce takes. */
export const NONCE_TIMEOUT_MS = 2_000;
/** Longest that a server may take to end a connection that is closed. */
export const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Longest that writes are refused, in milliseconds, because the mark by which a restored database is recognised
 * cannot be read after a start or a change of server.
 */
export const MARK_WAIT_MS = 10_000;
