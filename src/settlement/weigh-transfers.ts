import { AMOUNT_MINIMUM_CENTS } from '#schemas/create-payment.ts';
import type { Weight } from '../chains/adapter.ts';
import type { Connection } from '../database/connection.ts';
import {
  type Asked,
  type AskedBetween,
  type DustTransfer,
  findRecorded,
  listAsked,
  type Place,
} from '../repositories/deposits/dust.ts';

/**
 * Dust is less than this share of the smallest amount asked for at its address, in per mille: 1 %. Of the
 * smallest payment that is half a cent, and nobody is asked for a part of a cent. What the rules of matching
 * make up for is at most 2 %, so that what is left out here is far from serving any amount.
 */
export const DUST_PER_MILLE = 10n;

/** And it is worth less than this, in cents: the smallest payment that there can be. */
export const DUST_BELOW_CENTS = AMOUNT_MINIMUM_CENTS;

/** A transfer within this share of a rest is nearly that: 2 %, as much as matching makes up for at most. */
export const NEAR_DIVISOR = 50n;

/** Which amounts count, by when their payments had them reserved. */
export interface AskedWithin {
  /** Amounts count that are reserved still, or were until after this time. */
  readonly since: Date;
  /** Amounts that were reserved later do not count; all do unless given. */
  readonly until?: Date;
  /** When the transfers were made at the latest; now unless given. */
  readonly madeBy?: Date | undefined;
}

/**
 * Amounts that were asked for when a transfer was made are released within this time of it, in milliseconds:
 * a payment waits for a day at most, and after that for its funds to be final. It keeps what is read for a
 * transfer of long ago small.
 */
const RELEASED_WITHIN_MS = 48 * 60 * 60_000;

/**
 * Weighs transfers before anything more is asked about them. A transfer of the value 0 is always dust. Any other
 * one is dust only if amounts are reserved at its address and it cannot have been meant to pay one of them. What
 * was recorded as a deposit before stays one.
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
  // Amounts come and go; what was recorded once stays a deposit.
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
 * Below which amount a transfer to each address is dust, in the asset's smallest unit; 0 where even the
 * smallest one may be the rest of a payment.
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

/** What is smaller is dust; 0 where nothing is asked for. */
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
 * A rest may itself be smaller than dust. A transfer of exactly that amount completes the payment, and before
 * its receipt is read nobody knows whether the first one has failed, so that all of them pass. One that is near
 * may have been meant to complete it; further ones serve nobody, and would cost as much as dust.
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
