import type { Connection } from '../../database/connection.ts';
import type { Finding } from '../../database/watching-tables.ts';
import { hasRow } from '../rows.ts';

/** What is found, with all that identifies it; a part that does not apply is left out. */
export interface NewFinding {
  readonly id: string;
  readonly chain: string;
  /** For example `disagreement`, `final_vanished`, `unapplied`, `unexplained_inflow` or `unreadable`. */
  readonly kind: string;
  readonly blockchainId?: string | null;
  readonly transactionHash?: string | null;
  readonly position?: number | null;
  readonly address?: string | null;
  /** Integer of the asset's smallest unit. */
  readonly amount?: bigint | null;
  readonly height?: number | null;
  /** The block before the first of several, of which `height` is the last; null for one block. */
  readonly sinceHeight?: number | null;
  /** A sentence for operators. */
  readonly detail: string;
}

/**
 * Records a finding, unless the same one is open.
 * @returns Whether it is new.
 */
export async function addFinding(db: Connection, finding: NewFinding, now: Date): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('findings')
    .values({
      id: finding.id,
      chain: finding.chain,
      kind: finding.kind,
      blockchain_id: finding.blockchainId ?? null,
      transaction_hash: finding.transactionHash ?? null,
      position: finding.position ?? null,
      address: finding.address ?? null,
      amount: finding.amount ?? null,
      height: finding.height ?? null,
      since_height: finding.sinceHeight ?? null,
      detail: finding.detail,
      found_at: now,
      resolved_at: null,
    })
    .onConflict(conflict => conflict.doNothing())
    .executeTakeFirstOrThrow();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Open findings, oldest first; those of one kind on one chain if given. */
export function listOpenFindings(
  db: Connection,
  limit: number,
  only?: { readonly chain: string; readonly kind: string },
): Promise<Finding[]> {
  let query = db.selectFrom('findings').selectAll().where('resolved_at', 'is', null);
  if (only !== undefined) {
    query = query.where('chain', '=', only.chain).where('kind', '=', only.kind);
  }
  return query.orderBy('found_at').orderBy('id').limit(limit).execute();
}

/** Resolves an open finding; undefined if there is none. */
export function resolveFinding(
  db: Connection,
  id: string,
  now: Date,
): Promise<Finding | undefined> {
  return db
    .updateTable('findings')
    .set({ resolved_at: now })
    .where('id', '=', id)
    .where('resolved_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Resolves open findings of some kinds in blocks above a height.
 * @param only `blocks` for those of one block alone, not of a range.
 * @returns How many there were.
 */
export async function resolveFindingsAbove(
  db: Connection,
  { chain, kinds, only }: ResolvedKinds,
  height: number,
  now: Date,
): Promise<number> {
  let query = db
    .updateTable('findings')
    .set({ resolved_at: now })
    .where('chain', '=', chain)
    .where('kind', 'in', kinds)
    .where('height', '>', height)
    .where('resolved_at', 'is', null);
  if (only === 'blocks') query = query.where('since_height', 'is', null);
  const { numUpdatedRows } = await query.executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}

interface ResolvedKinds {
  readonly chain: string;
  readonly kinds: readonly string[];
  readonly only: 'blocks' | 'all';
}

/**
 * Whether the native balance of one of the addresses rose at a height, or at a later one that stands for
 * several blocks, without a transfer that explains it.
 */
export async function hasUnexplainedInflow(
  db: Connection,
  chain: string,
  addresses: readonly string[],
  height: number,
): Promise<boolean> {
  if (addresses.length === 0) return false;
  const query = db
    .selectFrom('findings')
    .select('id')
    .where('chain', '=', chain)
    .where('blockchain_id', '=', chain)
    .where('kind', '=', 'unexplained_inflow')
    .where('address', 'in', addresses)
    .where('height', '>=', height)
    .where('resolved_at', 'is', null);
  return hasRow(query);
}
