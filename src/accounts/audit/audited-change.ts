import { maskSecrets } from '#crypto/mask-secrets.ts';
import { newId } from '#crypto/new-id.ts';
import { Refused } from '#errors/refusals/refused.ts';
import type { ChangeOrigin } from '#storage/database/account-tables.ts';
import { untilHeard } from '#storage/database/change-feed.ts';
import type { Connection } from '#storage/database/connection.ts';
import { transact } from '#storage/database/transaction.ts';
import { insertAuditEntry } from '#storage/repositories/accounts/audit-log.ts';
import type { Clock } from '#time/clock.ts';

/** A change is refused. The message tells the operator why, and what to do instead. */
export class OperationRefused extends Refused {
  override readonly name = 'OperationRefused';
}

/** Who makes a change, and in which database. */
export interface Operator {
  /** A pool, or an open transaction shared by several changes. */
  readonly db: Connection;
  readonly clock: Clock;
  /** Name in the audit log: in the panel, the person's e-mail. */
  readonly actor: string;
  readonly origin?: ChangeOrigin;
  /** Who signed in to make it, in which account and from which IP address; only in the panel. */
  readonly personId?: string;
  readonly accountId?: string | null;
  readonly address?: string;
}

/** The result of a change and what the audit log records of it. */
interface AuditedChange<T> {
  readonly result: T;
  readonly objectId: string;
  /** Contains no secret: any that somebody wrote into a name or a URL is masked. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/**
 * Makes a change and writes its audit entry in one transaction, then waits until the change is in effect on
 * every replica. Within an open transaction it neither commits nor waits; that is up to the caller.
 * @param action Type of object, a dot and a verb, for example `merchant.create`.
 */
export async function audited<T>(
  { db, clock, actor, origin, personId, accountId, address }: Operator,
  action: string,
  change: (tx: Connection, now: Date) => Promise<AuditedChange<T>>,
): Promise<T> {
  const run = async (tx: Connection) => {
    const now = new Date(clock());
    const { result, objectId, detail = {} } = await change(tx, now);
    const [objectType = action] = action.split('.');
    const made = { id: newId(), actor, origin, personId, accountId, address };
    const entry = { ...made, action, objectType, objectId, detail: withoutSecrets(detail), now };
    await insertAuditEntry(tx, entry);
    return result;
  };
  if (db.isTransaction) return run(db);
  const result = await transact(db, run);
  await untilHeard(db);
  return result;
}

function withoutSecrets(detail: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const text = JSON.stringify(detail, (_, value) =>
    typeof value === 'string' ? maskSecrets(value) : value,
  );
  return JSON.parse(text);
}

/**
 * The columns of an update: `values` without the undefined ones.
 * @throws OperationRefused when none is left.
 */
export function columnsToSet<T extends object>(
  values: T,
): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  if (entries.length === 0) throw new OperationRefused('nothing-to-change');
  return Object.fromEntries(entries) as Partial<{ [K in keyof T]: Exclude<T[K], undefined> }>;
}
