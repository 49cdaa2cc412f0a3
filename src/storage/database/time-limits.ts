/**
 * How long the database may take, in milliseconds.
 *
 * No request takes longer than 10 s, be it a server, a network or a lock that hangs. The claim of a
 * nonce, after whose failure a read goes on, and then work on the database have to fit into that; the
 * rest is for what the request itself does. With PgBouncer these are the limits of the wait for a
 * connection and of the role (guide `pgbouncer`).
 */

/** Longest that a request waits for a connection, from the pool or to the server. */
export const CONNECT_TIMEOUT_MS = 2_500;
/** Longest that anything else does: a command, a migration, the change feed. */
export const PATIENT_CONNECT_TIMEOUT_MS = 5_000;
/** Longest a statement may run; the slowest usual one takes far less. */
export const STATEMENT_TIMEOUT_MS = 3_500;
/**
 * How much later than that PostgreSQL's response may come, before its connection counts as lost: it ends
 * a statement that takes too long by itself, and says so.
 */
export const RESPONSE_MARGIN_MS = 500;
/** Longest that work takes, be it one statement, several of a report, or a create that is tried again. */
export const WORK_TIMEOUT_MS = CONNECT_TIMEOUT_MS + STATEMENT_TIMEOUT_MS + RESPONSE_MARGIN_MS;
/** Longest a statement of a report may run: what cannot be counted by then is refused. */
export const REPORT_STATEMENT_TIMEOUT_MS = 3_000;
/** Longest a claim of a nonce takes. */
export const NONCE_TIMEOUT_MS = 2_000;
/** Longest that a server may take to end a connection that is closed. */
export const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Longest that nothing is written, in milliseconds, because the mark that tells a restored database cannot be read
 * after a start or a change of server.
 */
export const MARK_WAIT_MS = 10_000;
