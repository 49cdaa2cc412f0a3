import type { Weight } from '#chains/adapter.ts';
import { AMOUNT_MINIMUM_CENTS } from '#schemas/create-payment.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  type Asked,
  type AskedBetween,
  type DustTransfer,
  findRecorded,
  listAsked,
  type Place,
} from '#storage/repositories/deposits/dust.ts';

/**
 * Dust is less than this share of the smallest amount asked for at its address, in per mille: 1 %. That is half a
 * cent of the smallest payment. Matching tolerates differences of at most 2 %, so that dust is far from any amount
 * that is asked for.
 */
export const DUST_PER_MILLE = 10n;

/** Dust is also worth less than this, in cents: the smallest possible payment. */
export const DUST_BELOW_CENTS = AMOUNT_MINIMUM_CENTS;

/** A transfer that differs from a rest by at most this share is near it: 2 %, the most that matching tolerates. */
export const NEAR_DIVISOR = 50n;

/** Which requested amounts count, by when they were reserved. */
export interface AskedWithin {
  /** Amounts count if they are still reserved, or were released after this time. */
  readonly since: Date;
  /** Amounts that were reserved later do not count; default: no limit. */
  readonly until?: Date;
  /** The latest time at which the transfers were made; default: now. */
  readonly madeBy?: Date | undefined;
}

/**
 * The longest time from a transfer until the amounts that were requested at its time are released, in milliseconds: a
 * payment waits for a day at most, and then for its funds to be final. This bounds how much is read for an old
 * transfer.
 */
const RELEASED_WITHIN_MS = 48 * 60 * 60_000;

/**
 * Classifies transfers before any further call to a node is made for them. A transfer of 0 is always dust. Any other
 * one is dust only if amounts are reserved at its address and it cannot have been meant to pay one of them. A
 * transfer that is recorded as a deposit is never dust.
 * @returns Weights in the order of the transfers, which is that of the chain.
 */
export async function weighTransfers(
  db: Connection,
  transfers: readonly DustTransfer[],
  within: AskedWithin,
): Promise<Weight[]> {
  if (transfers.length === 0) return [];
  const asked = await readAsked(db, transfers, between(within));
  const weights = transfers.map((transfer): Weight => {
    const own = asked.get(keyOf(transfer));
    const weight = own?.isAwaited === true ? 'awaited' : 'other';
    return transfer.tokenAmount > 0n && own?.mayServe(transfer.tokenAmount) !== false
      ? weight
      : 'dust';
  });
  // Amounts come and go, but a transfer that was recorded once stays a deposit.
  const doubtful = transfers.filter(
    ({ tokenAmount }, index) => weights[index] === 'dust' && tokenAmount > 0n,
  );
  const recorded = await findRecorded(db, doubtful);
  const kept = new Set(doubtful.filter((_, index) => recorded[index]));
  return weights.map((weight, index) => {
    const transfer = transfers[index];
    return transfer !== undefined && kept.has(transfer) ? 'other' : weight;
  });
}

/**
 * The amount below which a transfer to each address is dust, in the asset's smallest unit; 0 if even the smallest
 * transfer may be the rest of a payment.
 */
export async function readDustLimits(
  db: Connection,
  places: readonly Place[],
  within: AskedWithin,
): Promise<(place: Place) => bigint> {
  const asked = await listAsked(db, places, DUST_BELOW_CENTS, between(within));
  const limits = new Map(
    asked.map(each => [keyOf(each), each.rests.length > 0 ? 0n : dustBelow(each)]),
  );
  return place => limits.get(keyOf(place)) ?? 0n;
}

/** Smaller amounts are dust; 0 if no amount is requested. */
export function dustBelow({ least, worth }: Pick<Asked, 'least' | 'worth'>): bigint {
  if (least === null || worth === null) return 0n;
  const share = (least * DUST_PER_MILLE) / 1000n;
  return share < worth ? share : worth;
}

function between({ since, until, madeBy }: AskedWithin): AskedBetween {
  const releasedBy = madeBy === undefined ? null : new Date(madeBy.getTime() + RELEASED_WITHIN_MS);
  return { since, until: until ?? null, releasedBy };
}

interface Serving {
  readonly isAwaited: boolean;
  mayServe(tokenAmount: bigint): boolean;
}

async function readAsked(
  db: Connection,
  transfers: readonly DustTransfer[],
  within: AskedBetween,
): Promise<Map<string, Serving>> {
  const places = new Map(transfers.map(transfer => [keyOf(transfer), transfer]));
  const asked = await listAsked(db, [...places.values()], DUST_BELOW_CENTS, within);
  return new Map(asked.map(each => [keyOf(each), serving(each)]));
}

/**
 * A rest may itself be smaller than dust. Every transfer of exactly that amount counts: it completes the payment, and
 * the first one may turn out to have failed. Of the transfers near that amount only one counts, since it may have
 * been meant to complete the payment: an attacker could send any number of them to cause calls.
 */
function serving(asked: Asked): Serving {
  const limit = dustBelow(asked);
  const rests = new Set(asked.rests);
  const near = new Set(asked.rests);
  return {
    isAwaited: asked.isAwaited,
    mayServe(amount) {
      if (amount >= limit || rests.has(amount)) return true;
      const rest = [...near].find(each => distance(each, amount) * NEAR_DIVISOR <= each);
      return rest !== undefined && near.delete(rest);
    },
  };
}

function distance(one: bigint, other: bigint): bigint {
  return one > other ? one - other : other - one;
}

function keyOf({ blockchainId, address }: Place): string {
  return `${blockchainId} ${address}`;
}
