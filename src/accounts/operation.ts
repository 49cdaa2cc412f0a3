import { untilHeard } from '../database/change-feed.ts';
import type { Connection } from '../database/connection.ts';
import { transact } from '../database/transaction.ts';
import { insertAuditEntry } from '../repositories/audit-log.ts';
import type { Clock } from '../time/clock.ts';

/** A change cannot be made; the message tells the operator why and what would do. */
export class OperationRefused extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperationRefused';
  }
}

/** What an operator's change works with. */
export interface Operator {
  /** A pool, or an open transaction that several changes share. */
  readonly db: Connection;
  readonly clock: Clock;
  /** Who changes something, as the audit log names them. */
  readonly actor: string;
}

/** What happened, for the audit log; `detail` never holds a secret. */
export interface AuditedChange<T> {
  readonly result: T;
  readonly objectId: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

/**
 * Makes a change and its audit entry in one transaction. When it resolves, the change holds on every
 * replica; within an open transaction that is for whoever commits it to wait for.
 * @param action For example `merchant.create`: the kind of object, a dot, the verb.
 */
export async function audited<T>(
  { db, clock, actor }: Operator,
  action: string,
  change: (tx: Connection, now: Date) => Promise<AuditedChange<T>>,
): Promise<T> {
  const run = async (tx: Connection) => {
    const now = new Date(clock());
    const { result, objectId, detail = {} } = await change(tx, now);
    const [objectType = action] = action.split('.');
    await insertAuditEntry(tx, { actor, action, objectType, objectId, detail, now });
    return result;
  };
  if (db.isTransaction) return run(db);
  const result = await transact(db, run);
  await untilHeard(db);
  return result;
}

/** Leaves out what was not given, so that only what was asked for is set. */
export function given<T extends object>(
  values: T,
): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<{ [K in keyof T]: Exclude<T[K], undefined> }>;
}

/** @throws OperationRefused when nothing is to be set. */
export function requireSomething(change: object): void {
  if (Object.keys(change).length === 0) {
    throw new OperationRefused('Nothing to set: give at least one of the flags.');
  }
}
