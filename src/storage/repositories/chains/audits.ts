import { sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { Deposit } from '../../database/deposit-tables.ts';

/** An audit of a day that a worker has claimed. */
export interface ClaimedAudit {
  blockchainId: string;
  chain: string;
  /** YYYY-MM-DD. */
  day: string;
  /** The first block that was not compared yet; null until the day's blocks are found. */
  nextHeight: number | null;
  toHeight: number | null;
  /** The last block of the day before, if that was audited. */
  previousHeight: number | null;
}

/** Begins the audit of a day for every watched network whose chain has a check node. */
export async function addDailyAudits(db: Connection, day: string): Promise<void> {
  const watched = db
    .selectFrom('networks')
    .select(({ cast, val }) => ['id', cast<string>(val(day), 'date').as('day')])
    .where('settled_by', '=', 'chain')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('nodes')
          .select('nodes.id')
          .whereRef('nodes.chain', '=', 'networks.chain')
          .where('role', '=', 'check'),
      ),
    );
  await db
    .insertInto('network_audits')
    .columns(['blockchain_id', 'day'])
    .expression(watched)
    .onConflict(conflict => conflict.doNothing())
    .execute();
}

/** Claims the oldest open audit that is not claimed, of a chain that has a check node still. */
export async function claimAudit(
  db: Connection,
  now: Date,
  until: Date,
): Promise<ClaimedAudit | undefined> {
  // The builder cannot compare a row with a subquery that skips locked rows.
  const { rows } = await sql<ClaimedAudit>`
    update network_audits set claimed_until = ${until}
    from networks
    where networks.id = network_audits.blockchain_id
      and (network_audits.blockchain_id, day) = (
        select audit.blockchain_id, audit.day
        from network_audits as audit join networks as own on own.id = audit.blockchain_id
        where done_at is null and (claimed_until is null or claimed_until <= ${now})
          and exists (select from nodes where nodes.chain = own.chain and role = 'check')
        order by audit.day, audit.blockchain_id limit 1
        for update of audit skip locked)
    returning network_audits.blockchain_id as "blockchainId", networks.chain,
      to_char(day, 'YYYY-MM-DD') as day, next_height as "nextHeight", to_height as "toHeight",
      (select previous.to_height from network_audits as previous
       where previous.blockchain_id = network_audits.blockchain_id
         and previous.day = network_audits.day - 1) as "previousHeight"`.execute(db);
  return rows[0];
}

/** Records the progress of an audit, and releases the claim. */
export async function advanceAudit(
  db: Connection,
  { blockchainId, day }: Pick<ClaimedAudit, 'blockchainId' | 'day'>,
  progress: {
    readonly nextHeight: number | null;
    readonly toHeight: number | null;
    readonly differences: number;
    /** When it may be claimed again; null for at once. */
    readonly notBefore: Date | null;
    readonly doneAt: Date | null;
  },
): Promise<void> {
  await db
    .updateTable('network_audits')
    .set(({ eb }) => ({
      next_height: progress.nextHeight,
      to_height: progress.toHeight,
      differences: eb('differences', '+', progress.differences),
      claimed_until: progress.notBefore,
      done_at: progress.doneAt,
    }))
    .where('blockchain_id', '=', blockchainId)
    .where('day', '=', day)
    .execute();
}

/** Deposits of a network in blocks of a range, as watchers have recorded them, at most `limit`. */
export function listDepositsInBlocks(
  db: Connection,
  blockchainId: string,
  { from, to }: { readonly from: number; readonly to: number },
  limit: number,
): Promise<Deposit[]> {
  return db
    .selectFrom('deposits')
    .selectAll()
    .where('blockchain_id', '=', blockchainId)
    .where('source', '=', 'chain')
    .where('state', '=', 'final')
    .where('block_height', '>=', from)
    .where('block_height', '<=', to)
    .orderBy('block_height')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/**
 * Which of these transfers were made while a payment waited at their address on the network, or at most
 * `lateMs` after it had ended. Watchers need not record any other.
 * @returns Their positions in `transfers`.
 */
export async function findAwaited(
  db: Connection,
  blockchainId: string,
  transfers: readonly { readonly address: string; readonly madeAt: Date }[],
  lateMs: number,
): Promise<number[]> {
  const { rows } = await sql<{ place: number }>`
    select (given.place - 1)::integer as place
    from unnest(${transfers.map(({ address }) => address)}::text[],
                ${transfers.map(({ madeAt }) => madeAt)}::timestamptz[])
         with ordinality as given (address, made_at, place)
    where exists (
      select from reservations
      where blockchain_id = ${blockchainId} and reservations.address = given.address
        and reserved_at <= given.made_at
        and (released_at is null
             or released_at > given.made_at - make_interval(secs => ${lateMs / 1000})))`.execute(
    db,
  );
  return rows.map(({ place }) => place);
}
