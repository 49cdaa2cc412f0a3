import type { Selectable } from 'kysely';
import { chainOf } from '#chains/chain-list.ts';
import type { Deposit, ReservationsTable } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { Finding } from '#storage/database/watching-tables.ts';
import type { FaultKind } from '../../settlement/truth/judge.ts';
import {
  HOLDING,
  isConfirmedNever,
  isOfOmission,
  mayHide,
  mayHold,
  tellsOfUndone,
} from './holds.ts';
import { judgePayment } from './judge-payment.ts';
import type { PlayedChain } from './play.ts';
import {
  type Complain,
  type Fault,
  keyOf,
  type PlacedTransfer,
  POLL_MS,
  type Real,
  transfersOf,
} from './rules.ts';
import type { ChainStage } from './stage.ts';
import { judgeIndices } from './wallet-rules.ts';

export type Reservation = Selectable<ReservationsTable>;

/** What a chain has left in the database. */
export interface ChainRows {
  readonly payments: readonly Payment[];
  readonly deposits: readonly Deposit[];
  readonly reservations: readonly Reservation[];
  readonly findings: readonly Finding[];
  readonly halted: string | null;
}

/** Reads what each of the chains has left. */
export async function readChainRows(
  { db }: ChainStage,
  played: readonly PlayedChain[],
): Promise<Map<PlayedChain, ChainRows>> {
  const payments = await db.selectFrom('payments').selectAll().execute();
  const deposits = await db.selectFrom('deposits').selectAll().orderBy('id').execute();
  const reservations = await db.selectFrom('reservations').selectAll().orderBy('id').execute();
  const findings = await db.selectFrom('findings').selectAll().execute();
  const chains = await db.selectFrom('chains').select(['id', 'halted']).execute();
  return new Map(
    played.map(each => {
      const { slot } = each.world;
      const isOwn = (row: { blockchain_id: string }) => slot.networks.includes(row.blockchain_id);
      return [
        each,
        {
          payments: each.customers.ids.flatMap(id => payments.filter(row => row.id === id)),
          deposits: deposits.filter(isOwn),
          reservations: reservations.filter(isOwn),
          findings: findings.filter(({ chain }) => chain === slot.chain),
          halted: chains.find(({ id }) => id === slot.chain)?.halted ?? null,
        },
      ];
    }),
  );
}

/** Compares the rows with the chain as it is in the end, and with what payments asked for. */
export function judgeChain(
  { networks }: ChainStage,
  played: PlayedChain,
  rows: ChainRows,
): Fault[] {
  const faults = [...played.faults];
  const fault = (kind: FaultKind, what: string) => void faults.push({ kind, what });
  const real = transfersOf(played.chain.best);
  judgeTransfers(played, rows, real, fault);
  judgeIndices(played.world, rows, fault);
  for (const payment of rows.payments) {
    judgePayment(played, rows, { real, payment, windows: networks }, fault);
  }
  for (const finding of rows.findings) {
    const { kind, detail } = finding;
    const isMeant =
      (kind === 'disagreement' && played.world.hasCheck) ||
      (kind === 'corrected' && (played.chain.lied.size > 0 || played.chain.hasLeftOut)) ||
      (kind === 'unreadable' && mayBeRefused(played) && finding.resolved_at !== null) ||
      isOfOmission(played, finding);
    if (!isMeant) fault('other deviation', `finding ${kind}: ${detail}`);
    const isHolding =
      kind !== 'disagreement' && HOLDING.includes(kind) && finding.resolved_at === null;
    if (isHolding && !mayHold(played, finding)) {
      fault('other deviation', `finding ${kind} is open, though a node shows it: ${detail}`);
    }
  }
  if (rows.halted !== null) fault('other deviation', `halted: ${rows.halted}`);
  return faults;
}

/** Whether a node may fail to respond about something, which is then unreadable for a while. */
function mayBeRefused({ world }: PlayedChain): boolean {
  const kinds = ['error', 'lag', 'no answer', 'no block'];
  return world.turns.some(({ mishap }) => mishap !== null && kinds.includes(mishap.kind));
}

function judgeTransfers(
  played: PlayedChain,
  { deposits, reservations, findings }: ChainRows,
  real: Real,
  fault: Complain,
): void {
  const { chain, world } = played;
  const isHeld = isConfirmedNever(world) || findings.some(each => mayHold(played, each));
  const byKey = Map.groupBy(deposits, keyOf);
  for (const [key, transfer] of real) {
    const { network, address, amount, block } = transfer;
    const here = reservations.filter(
      each => each.blockchain_id === network && each.address === address,
    );
    const isWatched = here.some(each => each.reserved_at.getTime() < block.madeAt);
    // Whether it is dust depends on what was asked for at that moment.
    const most = here.reduce(
      (sum, each) => (BigInt(each.token_amount) > sum ? BigInt(each.token_amount) : sum),
      0n,
    );
    const mayBeDust = amount * 90n < most;
    const [row, second] = byKey.get(key) ?? [];
    const isWaiting = isHeld && transfer.transaction === chain.leftOut;
    if (second !== undefined) fault('wrong credit', `${key} is recorded twice`);
    if (row === undefined) {
      // On Solana, balances are not compared after the end of a payment; transfers in time are judged with the
      // payment.
      const mayBeLate = world.slot.family === 'solana' && transfer.transaction === chain.leftOut;
      const isHidden = findings.some(each => mayHide(played, transfer, each));
      const isLost = isWatched && !mayBeDust && !isWaiting && !mayBeLate && !isHidden;
      if (isLost) fault('lost transfer', `${key} is not recorded`);
      continue;
    }
    const isRight = row.address === address && BigInt(row.token_amount) === amount;
    // A lie is not detected while a node leaves the transfer out: the deposit is seen or reversed, and never final.
    const isDoubted = isWaiting && chain.lied.has(transfer.transaction) && row.state !== 'final';
    if (!isRight && !isDoubted)
      fault('wrong credit', `${key} is recorded as ${row.token_amount} at ${row.address}`);
    const isUndone =
      row.state === 'reversed' &&
      findings.some(
        each => each.transaction_hash === row.transaction_hash && tellsOfUndone(played, each),
      );
    if (row.state !== 'final' && !isWaiting && !isUndone)
      fault('lost transfer', `${key} is ${row.state}, and not final`);
    if (row.block_hash !== block.hash && transfer.transaction !== chain.leftOut)
      fault('other deviation', `${key} is in another block`);
    judgeTimes(row, transfer);
  }
  for (const row of deposits) {
    if (real.has(keyOf(row))) continue;
    const made = chain.transactions.find(({ hash }) => hash === row.transaction_hash);
    const wasMade = made?.transfers.some(
      each => each.network === row.blockchain_id && each.position === row.position,
    );
    if (made !== undefined && wasMade !== true) {
      fault('wrong credit', `${keyOf(row)} is recorded, and there is no such transfer`);
    }
    if (row.state === 'final' || row.state === 'seen') {
      fault('lost transfer', `${keyOf(row)} is ${row.state}, and not on the chain`);
    }
    if (row.payment_id !== null && row.state !== 'failed') {
      fault('wrong credit', `${keyOf(row)} is credited, and not on the chain`);
    }
  }

  /** Checks that the transfer was made between the recorded times. */
  function judgeTimes(row: Deposit, { transaction, block }: PlacedTransfer): void {
    const isListed = world.slot.family === 'bitcoin';
    const first = isListed
      ? transaction.sentAt
      : (chain.firstMinedAt.get(transaction) ?? block.madeAt);
    const latest = row.occurred_at?.getTime() ?? 0;
    const earliest = row.earliest_at?.getTime() ?? latest;
    if (latest < first) fault('other deviation', `${keyOf(row)} occurred before it was made`);
    const doubt = POLL_MS + 2 * chainOf(world.slot.chain).clockSkewMs;
    const last = chain.lastMinedAt(transaction);
    if (!isListed && latest > last + doubt) {
      fault('other deviation', `${keyOf(row)} occurred long after it was made`);
    }
    if (earliest > last + POLL_MS) {
      fault('other deviation', `${keyOf(row)} occurred at the earliest after it was made`);
    }
  }
}
