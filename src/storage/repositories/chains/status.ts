import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import { COUNTED_MAXIMUM } from '../backlog.ts';
import { MAY_BE_PAID } from '../payments/moves.ts';

/** How far a chain has been read. */
export interface ChainStatus {
  readonly id: string;
  /** Why nothing is written; null while it is watched. */
  readonly halted: string | null;
  /** The node's newest block when it was last asked. */
  readonly height: number | null;
  readonly scannedHeight: number | null;
  /** Also null if the chain has no finality of its own. */
  readonly finalHeight: number | null;
  /** Every transfer up to this time is recorded; null before the first one. */
  readonly watchedUntil: Date | null;
  /** When the oldest of its nodes was added; null without one. */
  readonly nodesSince: Date | null;
  /** The worker that watches it now. */
  readonly holder: string | null;
}

/** All chains (12), in the order of the documentation. */
export async function listChainStatus(db: Connection): Promise<ChainStatus[]> {
  const { rows } = await sql<ChainStatus>`
    select id, halted,
           case when halted is null or head_height is null then greatest(head_height, cursor_height)
                else head_height end as height,
           cursor_height as "scannedHeight", final_height as "finalHeight",
           watched_until as "watchedUntil", "nodesSince",
           case when lease_until > now() then lease_holder end as holder
    from chains left join lateral (
      select min(created_at) as "nodesSince" from nodes where nodes.chain = chains.id) as oldest on true
    order by position`.execute(db);
  return rows;
}

/**
 * Overdue payments of a network that do not expire, because the second scan has not reached their end yet, or because
 * something at their address cannot be read or explained.
 */
interface HeldPayments {
  readonly blockchainId: string;
  readonly chain: string;
  readonly count: number;
}

/** How long any payment may wait for the second scan of its end, in milliseconds; it is held if it waits longer. */
const USUAL_WAIT_MS = 2 * 60_000;

/** Overdue payments that wait for the watcher longer than usual; counts at most `COUNTED_MAXIMUM` per network. */
export async function countHeldPayments(db: Connection, now: Date): Promise<HeldPayments[]> {
  const { rows } = await sql<HeldPayments>`
    select networks.id as "blockchainId", chain, held.count
    from networks join chains on chains.id = networks.chain cross join lateral (
      select count(*)::integer as count
      from (select from payments
            where flow = 'crypto' and status = 'pending' and session_status = 'pending'
              and coalesce(blockchain_id, '') = networks.id and expires_at <= ${new Date(now.getTime() - USUAL_WAIT_MS)}
              and (expires_at > coalesce(expires_until, '-infinity') or ${MAY_BE_PAID})
            limit ${COUNTED_MAXIMUM}) as counted) as held
    where networks.settled_by <> 'simulation' and held.count > 0
    order by networks.position`.execute(db);
  return rows;
}

/** When the oldest deposit of each chain that is seen and not final was observed. */
export function findOldestSeen(db: Connection): Promise<{ chain: string; since: Date }[]> {
  return db
    .selectFrom('networks')
    .innerJoin('deposits', 'deposits.blockchain_id', 'networks.id')
    .select(({ fn }) => ['chain', fn.min('observed_at').as('since')])
    .where('state', '=', sql.lit('seen'))
    .where('source', '=', sql.lit('chain'))
    .groupBy('chain')
    .execute();
}

/** Open findings by chain and kind; counts at most `COUNTED_MAXIMUM`. */
export function countOpenFindings(
  db: Connection,
): Promise<{ chain: string; kind: string; count: number }[]> {
  const open = db
    .selectFrom('findings')
    .select(['chain', 'kind'])
    .where('resolved_at', 'is', null)
    .limit(COUNTED_MAXIMUM);
  return db
    .selectFrom(open.as('open'))
    .select(({ fn }) => ['chain', 'kind', fn.countAll<number>().as('count')])
    .groupBy(['chain', 'kind'])
    .orderBy('chain')
    .orderBy('kind')
    .execute();
}
