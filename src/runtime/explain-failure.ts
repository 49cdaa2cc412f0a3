import pg from 'pg';
import { MasterKeyMissing } from '#accounts/keys/master-keys.ts';
import { ConfigError } from '#config/config.ts';
import { CannotStart } from '#errors/cannot-start.ts';
import { isDatabaseUnavailable, isTlsFailure, WritesRefused } from '#storage/database/errors.ts';
import { ServiceRoleError } from '#storage/database/service-role.ts';
import { ServiceRunning } from './development/local-service.ts';
import { MigrationsPending } from './storage.ts';

/** Errors whose message is all that the operator needs. */
const EXPLAINED = [
  CannotStart,
  MigrationsPending,
  MasterKeyMissing,
  ServiceRoleError,
  ServiceRunning,
];

/** SQLSTATEs with which a server refuses a session: for the role, its password, or a missing database. */
const REFUSED_SESSION = /^(28|3D000)/;

/**
 * Says why a process or a command failed, where it is known.
 * @param variable The variable whose URL led to the database.
 * @returns undefined for any other error: then the operator needs its stack.
 */
export function explainFailure(error: unknown, variable = 'DATABASE_URL'): string | undefined {
  if (EXPLAINED.some(kind => error instanceof kind)) return (error as Error).message;
  if (error instanceof ConfigError) return `The configuration is not usable:\n${error.message}`;
  if (error instanceof WritesRefused) return `Nothing was changed, since ${error.message}.`;
  if (error instanceof pg.DatabaseError && REFUSED_SESSION.test(error.code ?? '')) {
    return `The database refuses what ${variable} names: ${error.message} (SQLSTATE ${error.code}).`;
  }
  if (isTlsFailure(error)) {
    return `TLS with the database failed: ${reasonOf(error)}. Check sslmode and sslrootcert in ${variable}, and the server's certificate.`;
  }
  if (isDatabaseUnavailable(error)) {
    return `The database cannot be reached: ${reasonOf(error)}. Check ${variable} and the server.`;
  }
  if (error instanceof pg.DatabaseError) {
    return `The database reported: ${error.message} (SQLSTATE ${error.code}).`;
  }
  return undefined;
}

/**
 * The message of an error, without the full stop at its end. With several addresses the driver throws an
 * AggregateError, whose own message is empty.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  // OpenSSL's reason in words; its message is a line of codes.
  const { reason, message } = (error ?? {}) as { reason?: unknown; message?: unknown };
  const isOpenSsl = error instanceof Error && 'library' in error && typeof reason === 'string';
  return String(isOpenSsl ? reason : (message ?? error)).replace(/\.$/, '');
}
