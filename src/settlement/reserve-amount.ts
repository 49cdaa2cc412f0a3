import type { BaseLogger } from 'pino';
import { Counter } from 'prom-client';
import type { Connection } from '../database/connection.ts';
import type { Deposit } from '../database/deposit-tables.ts';
import type { Payment } from '../database/payment-tables.ts';
import { ApiError } from '../errors/api-error.ts';
import {
  insertReservation,
  listAddressesByUse,
  listFreeAmounts,
  type UsedAddress,
} from '../repositories/deposits/reservations.ts';

/** Amounts to use before longer ones: a stablecoin has a hundred with four decimals. */
const FIRST_TIER = 100;
/** Below this share of free amounts a branch needs more addresses: a fifth. */
const FEW_FREE = 1 / 5;

const FREE_AMOUNTS = ['plenty', 'few', 'none'] as const;

const quotes = new Counter({
  name: 'eps_quotes_total',
  help: 'Amounts asked for, by how many of the distinct ones of the price were free',
  labelNames: ['blockchain_id', 'free_amounts'],
});

interface Wanted {
  readonly payment: Payment;
  readonly blockchainId: string;
  /** The distinct amounts of the price, in order of preference. */
  readonly amounts: readonly bigint[];
  /** Warned when a branch runs out of amounts. */
  readonly log: Pick<BaseLogger, 'warn'> | undefined;
}

/**
 * Reserves an amount that is unique at its address, at the address of the branch that is longest unused
 * and has one free.
 * @returns undefined if the branch has no address on the network.
 * @throws ApiError E5002 if no amount is free at any address.
 */
export async function reserveAmount(
  db: Connection,
  wanted: Wanted,
  now: Date,
): Promise<{ address: string; tokenAmount: bigint } | undefined> {
  const { payment, blockchainId, amounts } = wanted;
  const range = {
    from: amounts.reduce((least, amount) => (amount < least ? amount : least)),
    to: amounts.reduce((most, amount) => (amount > most ? amount : most)),
  };
  const addresses = await listAddressesByUse(db, payment.branch_id, blockchainId, range);
  if (addresses.length === 0) return undefined;
  reportUse(wanted, addresses);
  for (const { address } of addresses) {
    const claimant = { paymentId: payment.id, restOf: null };
    const place = { blockchainId, address };
    const tokenAmount = await reserveAt(db, claimant, place, amounts, now);
    if (tokenAmount !== undefined) return { address, tokenAmount };
  }
  throw new ApiError('E5002', 'Too many payments of this price are open on this network just now.');
}

/**
 * Reserves an amount for the rest of a payment, at the address where too little has arrived.
 * @param deposit The deposit of too little.
 * @returns undefined if no amount is free.
 */
export function reserveRest(
  db: Connection,
  deposit: Pick<Deposit, 'id' | 'blockchain_id' | 'address'> & { readonly payment_id: string },
  amounts: readonly bigint[],
  now: Date,
): Promise<bigint | undefined> {
  const { id, blockchain_id: blockchainId, address, payment_id: paymentId } = deposit;
  return reserveAt(db, { paymentId, restOf: id }, { blockchainId, address }, amounts, now);
}

interface Claimant {
  readonly paymentId: string;
  /** As in `insertReservation`. */
  readonly restOf: string | null;
}

/**
 * Reserves the least recently used of the short amounts, or of the longer ones if all short ones
 * are taken. If a concurrent checkout takes an amount first, tries the next one.
 */
async function reserveAt(
  db: Connection,
  { paymentId, restOf }: Claimant,
  place: { blockchainId: string; address: string },
  amounts: readonly bigint[],
  now: Date,
): Promise<bigint | undefined> {
  for (const tier of [amounts.slice(0, FIRST_TIER), amounts.slice(FIRST_TIER)]) {
    const free = await listFreeAmounts(db, place.blockchainId, place.address, tier);
    for (const tokenAmount of free) {
      const taken = await insertReservation(db, paymentId, { ...place, tokenAmount }, now, restOf);
      if (taken) return tokenAmount;
    }
  }
  return undefined;
}

/** Counts how many amounts were free, and names the branch when they are few. */
function reportUse(
  { payment, blockchainId, amounts, log }: Wanted,
  addresses: readonly UsedAddress[],
): void {
  const all = addresses.length * amounts.length;
  const free = Math.max(0, all - addresses.reduce((sum, { reserved }) => sum + reserved, 0));
  const found = free === 0 ? 'none' : free < all * FEW_FREE ? 'few' : 'plenty';
  // Every series exists from the first quote on, so that its first increase is noticed.
  for (const label of FREE_AMOUNTS) {
    quotes.inc({ blockchain_id: blockchainId, free_amounts: label }, label === found ? 1 : 0);
  }
  if (found === 'plenty') return;
  const { merchant_id: merchantId, branch_id: branchId } = payment;
  log?.warn(
    { merchantId, branchId, blockchainId, addresses: addresses.length, free, all },
    'few amounts are free: add deposit addresses to the branch',
  );
}
