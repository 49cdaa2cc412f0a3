import { pricedAsset } from './assets.ts';
import { parsePrice } from './price.ts';
import { type Rates, RateUnavailable } from './rate-source.ts';

/**
 * US dollars for one whole unit: round numbers of the right size, easy to check in one's head. They
 * follow no market and are refused in production.
 */
export const FIXED_PRICES: Readonly<Record<string, string>> = {
  BTC: '100000',
  ETH: '4000',
  BNB: '800',
  AVAX: '25',
  SOL: '200',
  TRX: '0.25',
  USDT: '1',
  USDC: '1',
};

export interface FixedRates extends Rates {
  /** Makes an asset and its test assets unavailable, as an outage would. */
  switchOff(symbol: string): void;
  switchOn(symbol: string): void;
}

/**
 * Rates that stand still, for development and tests.
 * @param prices Decimal text by symbol, instead of or beside the usual ones.
 * @throws RangeError for a price that is none.
 */
export function createFixedRates(prices: Readonly<Record<string, string>> = {}): FixedRates {
  const known = new Map<string, bigint>();
  for (const [symbol, text] of Object.entries({ ...FIXED_PRICES, ...prices })) {
    const price = parsePrice(text);
    if (price === undefined) throw new RangeError(`${symbol} cannot cost ${text}`);
    known.set(symbol, price);
  }
  const off = new Set<string>();
  return {
    async usdPrice(assetSymbol) {
      const symbol = pricedAsset(assetSymbol);
      const price = known.get(symbol);
      if (price === undefined) throw new RateUnavailable(symbol, 'it has no fixed rate');
      if (off.has(symbol)) throw new RateUnavailable(symbol, 'it is switched off');
      return price;
    },
    switchOff(symbol) {
      off.add(pricedAsset(symbol));
    },
    switchOn(symbol) {
      off.delete(pricedAsset(symbol));
    },
  };
}
