import { pricedAsset } from '#payments/rates/assets.ts';
import { FIXED_PRICES } from '#payments/rates/fixed-rates.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { ChainRows } from './judge.ts';
import type { Complain } from './rules.ts';
import type { ChainStage } from './stage.ts';
import type { World } from './world.ts';

/** How long a payment's address is no other one's after its quote has ended, in milliseconds. */
const LATE_MS = 24 * 60 * 60_000;

type Asked = Pick<World, 'wallet' | 'toleranceBps'>;

/** Whether an address is one of the wallet's at which this payment alone was ever asked to pay. */
export function isOwnAddress(
  { wallet }: Asked,
  { reservations }: Pick<ChainRows, 'reservations'>,
  { id }: Pick<Payment, 'id'>,
  address: string,
): boolean {
  const here = reservations.filter(each => each.address === address);
  return (
    wallet?.addresses.includes(address) === true &&
    here.length > 0 &&
    here.every(each => each.payment_id === id)
  );
}

/**
 * The sum that settles a payment at its own address: what it last asked for there less the tolerance, or its price
 * less a cent or 0.1 %.
 */
export function enoughAt(
  { toleranceBps }: Asked,
  { reservations }: Pick<ChainRows, 'reservations'>,
  { id, amount }: Pick<Payment, 'id' | 'amount'>,
  address: string,
  {
    symbol,
    decimals,
  }: Pick<ReturnType<ChainStage['networks']['get']> & object, 'symbol' | 'decimals'>,
): bigint {
  const last = reservations.findLast(each => each.payment_id === id && each.address === address);
  const asked = BigInt(last?.token_amount ?? 0);
  const dollars = Number(FIXED_PRICES[pricedAsset(symbol)] ?? '1');
  const cent = 10n ** BigInt(decimals) / BigInt(Math.round(dollars * 100));
  const price = BigInt(amount) * cent;
  const tolerated = asked - (asked * BigInt(toleranceBps)) / 10_000n;
  const cut = price - (cent > price / 1000n ? cent : price / 1000n);
  return tolerated < cut ? tolerated : cut;
}

/** The sum of amounts. */
export function sumOf(amounts: readonly (bigint | string)[]): bigint {
  return amounts.reduce<bigint>((sum, each) => sum + BigInt(each), 0n);
}

/** Whether the last of several transfers to its own address has settled a payment. */
export function isSettledByParts(
  world: Asked,
  rows: Pick<ChainRows, 'reservations' | 'deposits'>,
  payment: Payment,
): boolean {
  const { id, status, address } = payment;
  const own = rows.deposits.filter(each => each.payment_id === id && each.state === 'final');
  const isOwn = address !== null && isOwnAddress(world, rows, payment, address);
  return status === 'successful' && isOwn && own.some(({ outcome }) => outcome === 'rest');
}

/**
 * Checks that each payment was asked to pay at the lowest index of its wallet that nothing had arrived at, and that
 * nobody else had, or had had in the last 24 hours; or at the one that it had before.
 */
export function judgeIndices(
  { wallet }: Asked,
  { reservations, deposits }: Pick<ChainRows, 'reservations' | 'deposits'>,
  fault: Complain,
): void {
  if (wallet === null) return;
  const hasArrived = (address: string, at: Date) =>
    deposits.some((each: Deposit) => each.address === address && each.observed_at <= at);
  for (const [index, each] of reservations.entries()) {
    if (each.rest_of !== null) continue;
    const { address, payment_id: id, reserved_at: at } = each;
    const before = reservations.slice(0, index);
    const own = before.filter(other => other.payment_id === id);
    const what = `payment ${id} was asked for at ${wallet.addresses.indexOf(address)}`;
    if (own.length > 0) {
      if (!own.some(other => other.address === address)) {
        fault('other deviation', `${what}, where it had not been before`);
      }
      continue;
    }
    if (hasArrived(address, at)) fault('other deviation', `${what}, where something had arrived`);
    const isTaken = (place: string) =>
      before.some(
        ({ address: taken, released_at: to }) =>
          taken === place && (to === null || to.getTime() > at.getTime() - LATE_MS),
      );
    const free = wallet.addresses.find(place => !isTaken(place) && !hasArrived(place, at));
    if (free !== undefined && free !== address) {
      fault('other deviation', `${what}, while ${wallet.addresses.indexOf(free)} was free`);
    }
  }
}
