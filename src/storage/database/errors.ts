import pg from 'pg';

/** Error codes of the operating system that mean the server cannot be reached. */
const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

/**
 * SQLSTATE classes and codes (PostgreSQL, appendix A) that mean the server is there but cannot serve: connection
 * exceptions, a role or a database that it does not let in, insufficient resources, operator intervention (shutdown,
 * statement timeout), read-only after a failover, transactions that it ended on its own, and statements that are not
 * prepared because the query ahead of them in the pipeline, which was to prepare them, was ended.
 */
const SQLSTATE_PREFIXES = [
  '08',
  '28',
  '3D',
  '53',
  '57',
  '25006',
  '25P03',
  '26000',
  '40001',
  '40P01',
  '55P03',
];

/** Messages of the driver for lost and failed connections, which it gives no code. */
const DRIVER_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Client has encountered a connection error',
  'Client was closed',
  'Cannot use a pool after calling end on the pool',
  // Kysely's message, when work continues after its connection broke.
  'Postgres connection has been discarded',
];

/** The database took longer than callers wait for it. */
export class DatabaseTooSlow extends Error {
  constructor() {
    super('the database took too long to answer');
    this.name = 'DatabaseTooSlow';
  }
}

/** A connection leads to a server that must not be used: a standby, or a primary that has been replaced. */
export class NotPrimary extends Error {
  override readonly name = 'NotPrimary';
}

/** A write was not sent: it could be lost with one machine, or nobody has confirmed a restore of the database yet. */
export class WritesRefused extends Error {
  override readonly name = 'WritesRefused';

  /** @param reason Why writes are refused just now. */
  constructor(reason: string) {
    super(`writes are refused: ${reason}`);
  }
}

/** Nothing was read: what the server shows may be on no other machine, and could be lost with it. */
export class ReadsRefused extends Error {
  override readonly name = 'ReadsRefused';

  /** @param reason Why reads are refused just now. */
  constructor(reason: string) {
    super(`reads are refused: ${reason}`);
  }
}

/** Whether `error` means that the database is unavailable, rather than that the query is wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isOwn = [DatabaseTooSlow, NotPrimary, ReadsRefused, WritesRefused].some(
    each => error instanceof each,
  );
  if (isOwn) return true;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  if (error instanceof pg.DatabaseError) {
    // The month of a row has no partition yet; the worker makes it, or `mp migrate` where that has begun to.
    if (error.routine === 'ExecFindPartition') return true;
    if (error.code === '23514' && /^before_\d{6}$/.test(error.constraint ?? '')) return true;
    return SQLSTATE_PREFIXES.some(prefix => error.code?.startsWith(prefix));
  }
  if (isTlsFailure(error)) return true;
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && SYSTEM_CODES.has(code)) return true;
  return DRIVER_MESSAGES.some(message => error.message.startsWith(message));
}

/** Codes of OpenSSL and Node.js for a handshake that failed and a certificate that is not trusted. */
const TLS_CODE =
  /^(ERR_(SSL|TLS|OSSL)_|EPROTO$|CERT_|CRL_|ERROR_IN_C|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(CA|PURPOSE)$|PATH_LENGTH_|HOSTNAME_MISMATCH$)/;
/** Messages of the driver, which have no code, for a server that does not support TLS. */
const NO_TLS = ['The server does not support SSL', 'There was an error establishing an SSL'];

/** Whether a connection failed because TLS could not be negotiated, or the server's certificate is not trusted. */
export function isTlsFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return TLS_CODE.test(code ?? '') || NO_TLS.some(message => error.message.startsWith(message));
}

/** Whether the database refused the statement, which then had no effect; false for a lost connection. */
export function isRefusedByDatabase(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.severity !== 'FATAL';
}

/** Whether a statement ran for longer than it may (SQLSTATE query_canceled), or the server did not respond in time. */
export function isStatementTimeout(error: unknown): boolean {
  if (error instanceof DatabaseTooSlow) return true;
  return error instanceof pg.DatabaseError && error.code === '57014';
}

/** Whether a lock could not be acquired in time (SQLSTATE lock_not_available). */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '55P03';
}

/** Whether the role may not do what was asked (SQLSTATE insufficient_privilege). */
export function isAccessDenied(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '42501';
}

/** Whether another row already has a value that must be unique (SQLSTATE unique_violation). */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505';
}

/** Whether the database ended one of several statements that waited for each other (SQLSTATE deadlock_detected). */
export function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '40P01';
}

/** Whether locks of others ended a statement or its transaction, which may succeed when it is retried. */
export function isLockConflict(error: unknown): boolean {
  return isDeadlock(error) || isLockTimeout(error);
}
