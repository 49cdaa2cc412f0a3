import pg from 'pg';
import { OperationRefused } from '../audit/audited-change.ts';
import { ConfigError } from '../config/config.ts';
import {
  isDatabaseUnavailable,
  isDeadlock,
  ReadsRefused,
  WritesRefused,
} from '../database/errors.ts';
import { ServiceRoleError } from '../database/service-role.ts';
import { MigrationUnfinished } from '../database/short-locks.ts';
import { UncertainCommit } from '../database/transaction.ts';
import { MasterKeyMissing } from '../keys/master-keys.ts';
import { MigrationsPending } from '../runtime/storage.ts';
import { serializeError } from '../telemetry/serialize-error.ts';

/** Errors whose message is all that the operator needs. */
const EXPLAINED = [
  OperationRefused,
  MigrationsPending,
  MigrationUnfinished,
  MasterKeyMissing,
  ServiceRoleError,
];

/** Describes a failure to the operator: a message where the cause is known, else where it came from. */
export function describeFailure(error: unknown): string {
  if (EXPLAINED.some(kind => error instanceof kind)) return (error as Error).message;
  if (error instanceof ReadsRefused) return `Nothing was done, since ${error.message}.`;
  if (error instanceof WritesRefused) return `Nothing was changed, since ${error.message}.`;
  if (error instanceof UncertainCommit) {
    return `The connection failed at the end: look first whether it was done. ${reasonOf(error.cause)}.`;
  }
  if (error instanceof ConfigError) return `The configuration is not usable:\n${error.message}`;
  if (isDeadlock(error)) {
    return 'Nothing was changed, since somebody changed the same at that moment: run the command again.';
  }
  if (isDatabaseUnavailable(error)) {
    return `The database cannot be reached: ${reasonOf(error)}. Check DATABASE_URL and the server.`;
  }
  if (error instanceof pg.DatabaseError) {
    return `The database reported: ${error.message} (SQLSTATE ${error.code}).`;
  }
  return serializeError(error)?.stack || String(error);
}

/** The driver's message. With several addresses it throws an AggregateError, whose own message is empty. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
