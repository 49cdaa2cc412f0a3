import { inspect } from 'node:util';
import pg from 'pg';
import { OperationRefused } from '../accounts/operation.ts';
import { ConfigError } from '../config/config.ts';
import { isDatabaseUnavailable } from '../database/failures.ts';

/** What to tell the operator: one message where the cause is known, the whole error otherwise. */
export function describeFailure(error: unknown): string {
  if (error instanceof OperationRefused) return error.message;
  if (error instanceof ConfigError) return `The configuration is not usable:\n${error.message}`;
  if (isDatabaseUnavailable(error)) {
    return `The database cannot be reached: ${reasonOf(error)}. Check DATABASE_URL and the server.`;
  }
  if (error instanceof pg.DatabaseError) {
    return `The database refused: ${error.message} (SQLSTATE ${error.code}).`;
  }
  return inspect(error);
}

/** The driver's reason; one for each address tried is wrapped in an error without a message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
