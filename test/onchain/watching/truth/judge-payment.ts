import { chainOf } from '#chains/chain-list.ts';
import { pricedAsset } from '#payments/rates/assets.ts';
import { FIXED_PRICES } from '#payments/rates/fixed-rates.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { LAG_MS } from './faulty-node.ts';
import { isConfirmedNever, mayHide, mayHold } from './holds.ts';
import type { ChainRows, Reservation } from './judge.ts';
import type { PlayedChain } from './play.ts';
import { type Complain, keyOf, type PlacedTransfer, POLL_MS, type Real } from './rules.ts';
import type { ChainStage } from './stage.ts';
import { enoughAt, isOwnAddress, sumOf } from './wallet-rules.ts';

/** The most that block clocks and backends may be behind at the end of a payment, in milliseconds. */
const CLOCKS_MS = 2_000 + LAG_MS;

/** Compares a payment's outcome with what it asked for, and with the chain as it is in the end. */
export function judgePayment(
  played: PlayedChain,
  { deposits, findings, payments, reservations }: ChainRows,
  {
    real,
    payment,
    windows,
  }: {
    readonly real: Real;
    readonly payment: Payment;
    readonly windows: ChainStage['networks'];
  },
  fault: Complain,
): void {
  const { world, customers } = played;
  const { id, status, session_status: session } = payment;
  const place = customers.ids.indexOf(id);
  const own = deposits.filter(each => each.payment_id === id && each.state === 'final');
  const held = reservations.filter(each => each.payment_id === id);
  const whole = held.filter(each => each.rest_of === null);
  const isHeld = findings
    .filter(each => mayHold(played, each))
    .some(finding =>
      held.some(
        each => each.blockchain_id === finding.blockchain_id && each.address === finding.address,
      ),
    );
  const isWaiting =
    isConfirmedNever(world) &&
    deposits.some(
      each =>
        each.payment_id === id &&
        each.state === 'seen' &&
        each.transaction_hash === played.chain.leftOut?.hash,
    );
  if (status === 'pending' && !isHeld && !isWaiting)
    fault('lost transfer', `payment ${place} is still ${status}/${session}`);
  if (status === 'successful' && !own.some(suffices) && !addsUp()) {
    fault('unfunded', `payment ${place} is successful by nothing`);
  }
  for (const row of own) judgeCredit(row);
  if (status === 'expired' && own.length > 0) {
    fault('other deviation', `payment ${place} is ${status}, though it has got something`);
  }
  if (session === 'expired') {
    const paid = [...real.values()].find(isInTime);
    if (paid !== undefined) {
      fault('expired though paid', `payment ${place} expired, paid by ${paid.transaction.hash}`);
    }
  }
  judgeParts();

  /** Whether what came to an address that it alone was asked to pay to adds up to enough. */
  function addsUp(): boolean {
    return [...new Set(held.map(each => each.address))].some(address => {
      const here = own.filter(each => each.address === address);
      const sum = sumOf(here.map(each => each.token_amount));
      return isOwn(address) && sum >= enough(address);
    });
  }

  /** Checks that an unpaid payment has got all that came in time to an address of its own, and that it was not enough. */
  function judgeParts(): void {
    const last = whole.at(-1);
    if (status === 'successful' || last === undefined || !isOwn(last.address)) return;
    const { address, token_amount: asked } = last;
    // Less may be dust.
    const parts = [...real].filter(
      ([, each]) => each.amount * 90n >= BigInt(asked) && isTimely(each),
    );
    for (const [key] of parts) {
      const row = deposits.find(each => keyOf(each) === key);
      if (row !== undefined && row.payment_id !== id) {
        fault(
          'lost transfer',
          `${key} is not of payment ${place}, which alone was asked for there`,
        );
      }
    }
    const sum = sumOf(parts.map(([, each]) => each.amount));
    if (session === 'expired' && sum >= enough(address)) {
      fault('expired though paid', `payment ${place} expired, paid by parts of ${sum}`);
    }
  }

  function isOwn(address: string): boolean {
    return isOwnAddress(world, { reservations }, payment, address);
  }

  function enough(address: string): bigint {
    const [network = ''] = world.slot.networks;
    const asset = windows.get(network);
    if (asset === undefined) throw new Error(`there is no network ${network}`);
    return enoughAt(world, { reservations }, payment, address, asset);
  }

  function suffices(row: Deposit): boolean {
    const received = BigInt(row.token_amount);
    const least = leastOf(row.blockchain_id);
    if (row.outcome === 'rest') {
      return held.some(({ rest_of: part }) => {
        const before = own.find(each => each.id === part);
        return before !== undefined && BigInt(before.token_amount) + received >= least;
      });
    }
    if (row.outcome === 'tolerated' && received >= least) return true;
    return whole.some(({ token_amount: amount }) => {
      const due = BigInt(amount);
      const least = due * BigInt(10_000 - world.toleranceBps);
      return received * 10_000n >= least && received * 50n <= due * 51n;
    });
  }

  /**
   * The least that counts as the price: a cent or 0.1 % less, for wallets that cut amounts and rests that cannot be
   * sent.
   */
  function leastOf(network: string): bigint {
    const { symbol = '', decimals = 0 } = windows.get(network) ?? {};
    const dollars = FIXED_PRICES[pricedAsset(symbol)] ?? '1';
    // Prices have at most two decimals.
    const perCent = 10n ** BigInt(decimals) / BigInt(Math.round(Number(dollars) * 100));
    const price = BigInt(payment.amount) * perCent;
    const share = price / 1000n;
    // A cent of the amount asked for, which may exceed the price.
    const cent = (perCent * 104n) / 100n;
    return price - (cent > share ? cent : share);
  }

  /**
   * Checks that no payment got a transfer that was sent before it was opened, has another payment's amount, or names
   * another payment.
   */
  function judgeCredit(row: Deposit): void {
    const transfer = real.get(keyOf(row));
    if (transfer === undefined) return;
    const what = `payment ${place} got ${keyOf(row)}`;
    const isAsked = held.some(
      each => each.blockchain_id === row.blockchain_id && each.address === row.address,
    );
    if (!isAsked) fault('wrong credit', `${what}, where it asked for nothing`);
    const first = Math.min(...held.map(each => each.reserved_at.getTime()));
    const { transaction, amount, block } = transfer;
    // After an outage, the assumed time of a transfer may be off by twice the difference of block clocks.
    const doubt = POLL_MS + 2 * chainOf(world.slot.chain).clockSkewMs;
    if (transaction.sentAt < first - doubt && block.madeAt < first - doubt) {
      fault('wrong credit', `${what}, made before it was there`);
    }
    const isOwn = held.some(each => BigInt(each.token_amount) === amount);
    const other = reservations.find(
      each =>
        each.payment_id !== id && BigInt(each.token_amount) === amount && waits(each, transfer),
    );
    if (!isOwn && other !== undefined) fault('wrong credit', `${what}, which another asked for`);
    const named = customers.ids[transaction.names ?? -1];
    const namedEnd = payments.find(each => each.id === named);
    const isNamed =
      world.slot.family === 'solana' &&
      named !== undefined &&
      named !== id &&
      namedEnd !== undefined &&
      endOf(namedEnd) > block.madeAt + POLL_MS &&
      !deposits.some(each => each.payment_id === named) &&
      reservations.some(each => each.payment_id === named && waits(each, transfer));
    if (isNamed) fault('wrong credit', `${what}, which names another`);
  }

  /** Whether it paid the last amount that was asked for, exactly and in time. */
  function isInTime(transfer: PlacedTransfer): boolean {
    const last = whole.at(-1);
    if (last === undefined) return false;
    const { transaction } = transfer;
    // A transfer that names another payment pays that one, or none.
    const isNamed = world.slot.family === 'solana' && transaction.names !== null;
    if (isNamed && transaction.names !== place) return false;
    // A slight overpayment goes to the payment it names, unless another one asks for exactly this amount.
    const due = BigInt(last.token_amount);
    const isOthers = reservations.some(
      each => each.payment_id !== id && BigInt(each.token_amount) === transfer.amount,
    );
    const most = isNamed && !isOthers ? due + due / 50n : due;
    return transfer.amount >= due && transfer.amount <= most && isTimely(transfer);
  }

  /** Whether it came while the last amount was asked for, where it was asked for. */
  function isTimely(transfer: PlacedTransfer): boolean {
    const last = whole.at(-1);
    if (last === undefined) return false;
    if (last.blockchain_id !== transfer.network || last.address !== transfer.address) return false;
    const reservedAt = last.reserved_at.getTime();
    const { transaction } = transfer;
    if (played.chain.lied.has(transaction)) return false;
    // It was taken for a part of another transfer, whose amount was reported as twice as high.
    if (findings.some(each => mayHide(played, transfer, each))) return false;
    // The primary node may have been on a branch without it when the payment ended.
    const endedAt = last.released_at?.getTime() ?? Number.POSITIVE_INFINITY;
    if (played.chain.isHidden(transaction, endedAt)) return false;
    // Solana shows only current balances: what came before the first look at an address, and was left out, is
    // included in its initial balance.
    const isOld = world.slot.family === 'solana' && !played.isKnown(reservedAt, transfer);
    const isUnseen = isOld && transaction === played.chain.leftOut;
    if (isUnseen) return false;
    const isListed = world.slot.family === 'bitcoin' && played.chain.listed.has(transaction);
    const madeAt = isListed ? transaction.sentAt : played.chain.lastMinedAt(transaction);
    const until = Math.min(
      endOf(payment),
      reservedAt + (windows.get(transfer.network)?.windowMs ?? 0),
    );
    return transaction.sentAt >= reservedAt && madeAt + CLOCKS_MS <= until;
  }
}

function endOf({ quoted_until: quoted, expires_at: end }: Payment): number {
  return (quoted ?? end).getTime();
}

/** Whether an amount was certainly asked for when a transfer was made. */
function waits(
  {
    blockchain_id: network,
    address,
    reserved_at: from,
    released_at: to,
    rest_of: rest,
  }: Reservation,
  transfer: PlacedTransfer,
): boolean {
  const { sentAt } = transfer.transaction;
  const { madeAt } = transfer.block;
  return (
    rest === null &&
    network === transfer.network &&
    address === transfer.address &&
    from.getTime() < sentAt &&
    (to === null || to.getTime() > madeAt + POLL_MS)
  );
}
