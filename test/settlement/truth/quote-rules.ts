import type { NetworkId } from './course.ts';
import type { Ledger } from './ledger.ts';

/** What a choice of a network was answered with: a code, or what is asked for. */
export type Quote =
  | string
  | { readonly network: NetworkId; readonly address: string; readonly amount: bigint };

/** The assets: smallest units a cent at the fixed rates, those of a step, and whether it is a stablecoin. */
const ASSETS = {
  'eth-usdc-test': { perCent: 10n ** 4n, step: 100n, smallest: 1n, isStable: true },
  'sol-usdc-dev': { perCent: 10n ** 4n, step: 100n, smallest: 1n, isStable: true },
  'tron-usdt-test': { perCent: 10n ** 4n, step: 100n, smallest: 1n, isStable: true },
  // 4,000 and 100,000 dollars.
  'eth-test': {
    perCent: 25n * 10n ** 11n,
    step: 10n ** 10n,
    smallest: 10n ** 10n,
    isStable: false,
  },
  'btc-test': { perCent: 10n, step: 1n, smallest: 1n, isStable: false },
} as const satisfies Record<NetworkId, object>;

interface Wanted {
  readonly id: string;
  readonly network: NetworkId;
  readonly cents: number;
  /** Those of the branch. */
  readonly addresses: readonly string[];
  /** Whether the chain is seen too late for anybody to be sent there. */
  readonly isLate: boolean;
  /** Whether others choose at the same moment. */
  readonly isRace: boolean;
  readonly at: number;
}

/** Holds an answer against the rules of quotes, and enters it. */
export function checkQuote(
  ledger: Ledger,
  { id, network, cents, addresses, isLate, isRace, at }: Wanted,
  quote: Quote,
  complain: (what: string) => void,
): void {
  const mayChoose = ledger.mayChoose(id, at);
  const keeps = mayChoose && ledger.hasChosen(id, network, at);
  const expected = !mayChoose ? 'E1040' : isLate && !keeps ? 'E5002' : 'a quote';
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
  const { perCent, step, isStable } = ASSETS[network];
  const price = BigInt(cents) * perCent;
  const share = price / 200n;
  const most = isStable
    ? price + perCent - 1n
    : price + (share > 3n * perCent ? share : 3n * perCent);
  // The first amount is rounded up to a step, whatever the budget.
  const first = ((price + step - 1n) / step) * step;
  if (quote.amount < price || (quote.amount > most && quote.amount !== first)) {
    complain(`${quote.amount} was asked for ${price}`);
  }
  const live = ledger.holds.filter(({ to, payment }) => to === null && payment !== id);
  const isTaken = live.some(
    hold =>
      hold.network === network && hold.address === quote.address && hold.amount === quote.amount,
  );
  if (isTaken) complain(`${quote.amount} is asked for twice at ${quote.address}`);
  const lastUse = (address: string) =>
    ledger.holds.findLastIndex(hold => hold.network === network && hold.address === address);
  const [idlest] = addresses.toSorted((a, b) => lastUse(a) - lastUse(b));
  if (!isRace && quote.address !== idlest) complain(`${quote.address} was used after ${idlest}`);
  ledger.choose(id, quote, at);
}

/** Whether an amount is a proper rest; null where there was none. */
export function isProperRest(
  network: NetworkId,
  missing: bigint,
  whole: bigint,
  rest: bigint | null,
): boolean {
  const { perCent, step, smallest, isStable } = ASSETS[network];
  const first = ((missing + step - 1n) / step) * step;
  if (rest === null) return missing < smallest || first >= whole;
  const share = missing / 200n;
  // The price is that of the quote, which lies above by up to the same budget: a cent is some more units.
  const cent = (perCent * 104n) / 100n;
  const budget = isStable ? first - missing + cent : share > 3n * cent ? share : 3n * cent;
  const most = first - missing > budget ? first : missing + budget;
  return rest >= missing && rest <= most && rest < whole;
}
