import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { CommandRefused } from '#onchain/watching/operate/command-refused.ts';
import { explainFailure, reasonOf } from '#runtime/explain-failure.ts';
import { isDeadlock, ReadsRefused } from '#storage/database/errors.ts';
import { MigrationUnfinished } from '#storage/database/short-locks.ts';
import { UncertainCommit } from '#storage/database/transaction.ts';
import { serializeError } from '#telemetry/serialize-error.ts';

/**
 * Describes a failure to the operator: a message where the cause is known, else the stack.
 * @param variable The variable whose URL led to the database, if that is not DATABASE_URL.
 */
export function describeFailure(error: unknown, variable?: string): string {
  if (
    error instanceof OperationRefused ||
    error instanceof CommandRefused ||
    error instanceof MigrationUnfinished
  ) {
    return error.message;
  }
  if (error instanceof ReadsRefused) return `Nothing was done, since ${error.message}.`;
  if (error instanceof UncertainCommit) {
    return `The connection failed at the end: look first whether it was done. ${reasonOf(error.cause)}.`;
  }
  if (isDeadlock(error)) {
    return 'Nothing was changed, since somebody changed the same at that moment: run the command again.';
  }
  return explainFailure(error, variable) ?? (serializeError(error)?.stack || String(error));
}
