import type { BaseLogger } from 'pino';
import { Counter } from 'prom-client';
import { ApiError } from '#errors/api-error.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { listWalletAddressesByUse } from '#storage/repositories/accounts/wallet-addresses.ts';
import { lockWallet } from '#storage/repositories/accounts/wallets.ts';
import { findFormerQuote, findFormerRest } from '#storage/repositories/deposits/former-quotes.ts';
import {
  type FreeAmount,
  listAddressesByUse,
  listFreeAmounts,
  type UsedAddress,
} from '#storage/repositories/deposits/free-amounts.ts';
import { insertReservation } from '#storage/repositories/deposits/reservations.ts';
import { lateSince } from '#time/late-window.ts';
import { leastAmount } from './least-amount.ts';
import { FIRST_CANDIDATES, type Terms } from './quote-amounts.ts';

/** Below this share of free amounts a branch needs more addresses: a fifth. */
const FEW_FREE = 1 / 5;

const MINUTE_MS = 60_000;

const TOO_MANY = 'Too many payments of this price are open on this network just now.';

const FREE_AMOUNTS = ['plenty', 'few', 'none'] as const;

const quotes = new Counter({
  name: 'eps_quotes_total',
  help: 'Amounts asked for, by how many of the distinct ones of the price were free',
  labelNames: ['blockchain_id', 'free_amounts'],
});

interface Wanted {
  readonly payment: Payment;
  readonly network: Network;
  readonly terms: Terms;
  /** Warned when a branch runs out of amounts. */
  readonly log: Pick<BaseLogger, 'warn'> | undefined;
}

export interface ReservedQuote {
  readonly address: string;
  /** Integer of the asset's smallest unit. */
  readonly tokenAmount: bigint;
  /** Whether the payment asked for it on the network under a former quote. */
  readonly isFormer: boolean;
}

/**
 * Reserves an amount that is unique at its address, at the least recently used address of the branch that has one
 * free, or at the lowest unused one of its wallet. A customer who comes back to the network gets the amount that the payment had there, if it is still free and
 * worth the price: they may have sent it already.
 * @returns undefined if the branch has no address on the network, or none that can receive so little.
 * @throws ApiError E5002 if no amount is free at any address, and if all addresses of a wallet have just been paid to.
 */
export async function reserveAmount(
  db: Connection,
  wanted: Wanted,
  now: Date,
): Promise<ReservedQuote | undefined> {
  const { payment, network, terms } = wanted;
  const { amounts } = terms;
  const range = {
    from: amounts.reduce((least, amount) => (amount < least ? amount : least)),
    to: amounts.reduce((most, amount) => (amount > most ? amount : most)),
  };
  const payable = await listPayable(db, payment, network.id, range, now);
  const addresses = payable.filter(({ address }) => leastAmount(network, address) <= terms.due);
  if (addresses.length === 0) return undefined;
  reportUse(wanted, addresses);
  const claimant = { paymentId: payment.id, restOf: null };
  const former = await findFormerQuote(db, payment.id, network.id);
  if (
    former !== undefined &&
    addresses.some(({ address }) => address === former.address) &&
    former.tokenAmount >= terms.due - terms.cutBy &&
    former.tokenAmount <= range.to &&
    (await insertFree(db, claimant, { network, ...former }, terms, now))
  ) {
    return { ...former, isFormer: true };
  }
  for (const { address } of addresses) {
    const tokenAmount = await reserveAt(db, claimant, { network, address }, terms, now);
    if (tokenAmount !== undefined) return { address, tokenAmount, isFormer: false };
  }
  throw new ApiError('E5002', TOO_MANY);
}

/** The addresses that a payment may be asked to pay to, in order of preference: the branch's, or those of its wallet. */
async function listPayable(
  db: Connection,
  { id: paymentId, branch_id: branchId }: Payment,
  blockchainId: string,
  range: { readonly from: bigint; readonly to: bigint },
  now: Date,
): Promise<UsedAddress[]> {
  const own = await listAddressesByUse(db, branchId, blockchainId, range);
  const walletId = own.find(each => each.walletId !== null)?.walletId ?? null;
  if (walletId === null) return own;
  await lockWallet(db, walletId);
  const use = { paymentId, range, lateSince: lateSince(now.getTime()) };
  const derived = await listWalletAddressesByUse(db, walletId, use);
  // All that wallets look at have been paid to since the last block.
  if (derived.length === 0) throw new ApiError('E5002', TOO_MANY);
  return derived;
}

/**
 * Reserves an amount for the rest of a payment, at the address of the underpayment. Prefers the amount that was the
 * rest before, if it is still free.
 * @param deposit The underpayment.
 * @returns undefined if no amount is free.
 */
export async function reserveRest(
  db: Connection,
  { id, address, payment_id: paymentId }: Pick<Deposit, 'id' | 'address'> & { payment_id: string },
  network: Network,
  terms: Terms,
  now: Date,
): Promise<bigint | undefined> {
  const claimant = { paymentId, restOf: id };
  const place = { network, address };
  const former = await findFormerRest(db, paymentId, id);
  if (former !== undefined && terms.amounts.includes(former)) {
    const slot = { ...place, tokenAmount: former };
    if (await insertFree(db, claimant, slot, terms, now)) return former;
  }
  return reserveAt(db, claimant, place, terms, now);
}

interface Claimant {
  readonly paymentId: string;
  /** As in `insertReservation`. */
  readonly restOf: string | null;
}

interface Where {
  readonly network: Network;
  readonly address: string;
}

/**
 * Reserves an amount whose group no other payment has at the address, so that the payments can be told apart even if
 * wallets cut the amounts: the least recently used of the first candidates, else one of the nearest group. If all
 * groups are taken, takes the least recently used of the first candidates, then of the others. If a concurrent
 * checkout takes an amount first, tries the next.
 */
async function reserveAt(
  db: Connection,
  claimant: Claimant,
  place: Where,
  terms: Terms,
  now: Date,
): Promise<bigint | undefined> {
  const { amounts, group } = terms;
  const listFree = (some: readonly bigint[]) =>
    listFreeOf(db, claimant, place, { ...terms, amounts: some }, now);
  const near = await listFree(amounts.slice(0, FIRST_CANDIDATES));
  const tryAll = async (some: readonly { readonly tokenAmount: bigint }[]) => {
    for (const { tokenAmount } of some) {
      if (await insert(db, claimant, { ...place, tokenAmount }, terms, now)) return tokenAmount;
    }
    return undefined;
  };
  const apart = await tryAll(near.filter(({ isApart }) => isApart));
  if (apart !== undefined) return apart;
  const far = await listFree(amounts.slice(FIRST_CANDIDATES));
  const nearest = far
    .filter(({ isApart }) => isApart)
    .toSorted((a, b) => Number(a.tokenAmount / group - b.tokenAmount / group));
  return tryAll([...nearest, ...near, ...far]);
}

function listFreeOf(
  db: Connection,
  { paymentId }: Claimant,
  { network, address }: Where,
  { amounts, group }: Terms,
  now: Date,
): Promise<FreeAmount[]> {
  const promisedSince = new Date(now.getTime() - network.window_minutes * MINUTE_MS);
  const place = { blockchainId: network.id, address };
  return listFreeAmounts(db, place, { amounts, group, paymentId, promisedSince });
}

/** Like `insert`, but refuses an amount that is promised to another payment. */
async function insertFree(
  db: Connection,
  claimant: Claimant,
  slot: Where & { readonly tokenAmount: bigint },
  terms: Terms,
  now: Date,
): Promise<boolean> {
  const only = { ...terms, amounts: [slot.tokenAmount] };
  const [free] = await listFreeOf(db, claimant, slot, only, now);
  return free !== undefined && insert(db, claimant, slot, terms, now);
}

/** Reserves an amount. Returns whether it was free. */
function insert(
  db: Connection,
  { paymentId, restOf }: Claimant,
  { network, address, tokenAmount }: Where & { readonly tokenAmount: bigint },
  { due, cent, cutBy }: Terms,
  now: Date,
): Promise<boolean> {
  // From this amount on, less is missing than can be sent.
  const unsendable = tokenAmount - leastAmount(network, address, true) + 1n;
  return insertReservation(db, paymentId, { blockchainId: network.id, address, tokenAmount }, now, {
    restOf,
    cutFrom: atLeastOne(due - cutBy),
    aloneFrom: atLeastOne(due - cent > unsendable ? due - cent : unsendable),
  });
}

function atLeastOne(amount: bigint): bigint {
  return amount > 1n ? amount : 1n;
}

/** Counts how many amounts were free, and warns about the branch when they are few. */
function reportUse(
  { payment, network: { id: blockchainId }, terms: { amounts }, log }: Wanted,
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
