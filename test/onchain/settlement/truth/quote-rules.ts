import type { NetworkId } from './course.ts';
import type { Ledger } from './ledger.ts';

/** The answer to a choice of a network: a code, or what is asked for. */
export type Quote =
  | string
  | { readonly network: NetworkId; readonly address: string; readonly amount: bigint };

/**
 * Assets, in smallest units: the price of a cent at the fixed rates, the units of a step and of the last decimal, the
 * whole unit, and the least amount that can be sent, also as a rest.
 */
export const ASSETS = {
  'eth-usdc-test': { perCent: 10n ** 4n, steps: [100n, 1n], unit: 10n ** 6n, least: 1n },
  'sol-usdc-dev': { perCent: 10n ** 4n, steps: [100n, 1n], unit: 10n ** 6n, least: 1n },
  'tron-usdt-test': { perCent: 10n ** 4n, steps: [100n, 1n], unit: 10n ** 6n, least: 1n },
  // At 4,000 and 100,000 dollars.
  'eth-test': {
    perCent: 25n * 10n ** 11n,
    steps: [10n ** 10n],
    unit: 10n ** 18n,
    least: 10n ** 10n,
  },
  // P2WPKH.
  'btc-test': { perCent: 10n, steps: [1n], unit: 10n ** 8n, least: 588n },
} as const satisfies Record<NetworkId, object>;

/** The most that may be asked for: 3 cents or 0.5 % above what is due, or the first amount of the right shape. */
function mostFor(network: NetworkId, due: bigint, cent: bigint): bigint {
  const share = due / 200n;
  const most = due + (share > 3n * cent ? share : 3n * cent);
  const { steps } = ASSETS[network];
  const [step] = steps;
  let first = ((due + step - 1n) / step) * step;
  if (first % (step * 10n) === 0n) first += step;
  return first > most ? first : most;
}

/** Whether no other amount can become this one by cutting or rounding. */
function isDistinctive(network: NetworkId, amount: bigint): boolean {
  const [step, fine = step] = ASSETS[network].steps as readonly [bigint, bigint?];
  const isOf = (unit: bigint) => amount % unit === 0n && amount % (unit * 10n) !== 0n;
  // With six decimals: the fourth is zero, and the last two are below a half.
  return isOf(step) || (isOf(fine) && amount % (step * 10n) < step / 2n);
}

/** Addresses in a row without funds, behind which nobody is asked to pay: wallets look at 20. */
const GAP = 18;

interface Wanted {
  readonly id: string;
  readonly network: NetworkId;
  readonly cents: number;
  /** The branch's addresses. */
  readonly addresses: readonly string[];
  /** Whether these are the addresses of a wallet, in the order of their indices. */
  readonly isWallet: boolean;
  /** Whether the chain's scan lags too much to offer its network. */
  readonly isLate: boolean;
  /** Whether others choose concurrently. */
  readonly isRace: boolean;
  readonly at: number;
}

/** Checks an answer against the rules of quotes, and records it in the ledger. */
export function checkQuote(
  ledger: Ledger,
  { id, network, cents, addresses, isWallet, isLate, isRace, at }: Wanted,
  quote: Quote,
  complain: (what: string) => void,
): void {
  const mayChoose = ledger.mayChoose(id, at);
  const keeps = mayChoose && ledger.hasChosen(id, network, at);
  const best = isWallet ? bestOfWallet(ledger, id, addresses, at) : undefined;
  // In a race, what arrives at a wallet's address may be recorded while a payment is asked to pay there.
  const isUsedUp = isWallet && best === undefined && !(isRace && typeof quote !== 'string');
  const expected = !mayChoose ? 'E1040' : (isLate || isUsedUp) && !keeps ? 'E5002' : 'a quote';
  const got = typeof quote === 'string' ? quote : 'a quote';
  if (got !== expected)
    complain(`a choice of ${network} was answered by ${got} in place of ${expected}`);
  if (typeof quote === 'string') return;
  if (keeps) {
    const { amount, address } = ledger.payments.get(id) ?? {};
    if (amount !== quote.amount || address !== quote.address)
      complain('a quote that holds was changed');
    return;
  }
  const { perCent } = ASSETS[network];
  const due = BigInt(cents) * perCent;
  if (quote.amount < due || quote.amount > mostFor(network, due, perCent)) {
    complain(`${quote.amount} was asked for ${due}`);
  }
  if (!isDistinctive(network, quote.amount)) complain(`${quote.amount} may be another cut short`);
  const others = ledger.holds.filter(
    hold =>
      hold.network === network &&
      hold.address === quote.address &&
      hold.amount === quote.amount &&
      hold.payment !== id,
  );
  if (others.some(({ to }) => to === null)) {
    complain(`${quote.amount} is asked for twice at ${quote.address}`);
  }
  if (others.some(hold => ledger.isPromised(hold, at))) {
    complain(`${quote.amount} is promised to another payment at ${quote.address}`);
  }
  const former = ledger.formerQuote(id, network);
  const isBack = former?.amount === quote.amount && former.address === quote.address;
  // In a race, another payment may have taken it just before.
  if (former !== undefined && !isBack && !isRace && addresses.includes(former.address)) {
    complain(`${quote.amount} was asked for in place of ${former.amount} as before`);
  }
  if (best !== undefined && !isRace && !isBack && quote.address !== best) {
    complain(`${quote.address} was asked for in place of ${best}`);
  }
  const lastUse = (address: string) =>
    ledger.holds.findLastIndex(hold => hold.network === network && hold.address === address);
  const [idlest] = addresses.toSorted((a, b) => lastUse(a) - lastUse(b));
  if (!isWallet && !isRace && !isBack && quote.address !== idlest) {
    complain(`${quote.address} was used after ${idlest}`);
  }
  ledger.choose(id, { ...quote, due, cents, isBack }, at);
}

/**
 * The address of a wallet that a payment must get: its own from before; else the first that nobody else has or had for a
 * day and where nothing arrived; else, of those where nothing arrived, one with the fewest open payments. None behind the
 * last funded one by more than wallets look over. undefined for none.
 */
function bestOfWallet(
  ledger: Ledger,
  id: string,
  addresses: readonly string[],
  at: number,
): string | undefined {
  const holdsAt = (address: string) => ledger.holds.filter(hold => hold.address === address);
  const others = (address: string) => holdsAt(address).filter(hold => hold.payment !== id);
  const open = (address: string) => others(address).filter(({ to }) => to === null).length;
  const isTaken = (address: string) =>
    others(address).some(({ to }) => to === null || to > at - 24 * 60 * 60_000);
  const isShared = (address: string) =>
    new Set(others(address).map(({ payment }) => payment)).size > 1;
  const inOrder = (some: readonly string[]) =>
    some.toSorted(
      (a, b) =>
        Number(isTaken(a)) - Number(isTaken(b)) ||
        (isTaken(a) ? open(a) - open(b) || Number(isShared(b)) - Number(isShared(a)) : 0) ||
        addresses.indexOf(a) - addresses.indexOf(b),
    )[0];
  const own = addresses.filter(address => holdsAt(address).some(({ payment }) => payment === id));
  const lastFunded = addresses.findLastIndex(address => ledger.funded.has(address));
  const inSight = addresses.slice(0, lastFunded + 1 + GAP);
  return inOrder(own) ?? inOrder(inSight.filter(address => !ledger.arrived.has(address)));
}

/** Whether an amount is a valid rest; null where none was asked for. */
export function isProperRest(
  network: NetworkId,
  missing: bigint,
  whole: bigint,
  rest: bigint | null,
): boolean {
  const { perCent, least } = ASSETS[network];
  const due = missing > least ? missing : least;
  // The price is that of the quote, which may exceed what is due by the same margin: a cent is some units more.
  const most = mostFor(network, due, (perCent * 104n) / 100n);
  if (rest === null) return mostFor(network, due, 0n) >= whole;
  return rest >= due && rest <= most && rest < whole && isDistinctive(network, rest);
}
