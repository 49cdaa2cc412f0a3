import { pricedAsset } from './assets.ts';
import { parsePrice } from './price.ts';
import { type Rates, RateUnavailable } from './rate-source.ts';

/**
 * US dollars for one whole unit: realistic round numbers that make amounts easy to check. They follow no market; in
 * production they price simulated payments alone.
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

/** Prices for simulated payments, which are worth nothing: constant ones where the markets give none. */
export function orFixedRates(rates: Rates): Rates {
  const fixed = createFixedRates();
  return {
    usdPrice: symbol =>
      rates.usdPrice(symbol).catch(error => {
        if (error instanceof RateUnavailable) return fixed.usdPrice(symbol);
        throw error;
      }),
  };
}

export interface FixedRates extends Rates {
  /** Makes an asset and its test assets unavailable, to simulate an outage. */
  switchOff(symbol: string): void;
  switchOn(symbol: string): void;
}

/**
 * Constant rates, for development and tests.
 * @param prices Decimal text by symbol; overrides or extends `FIXED_PRICES`.
 * @throws RangeError for an invalid price.
 */
export function createFixedRates(prices: Readonly<Record<string, string>> = {}): FixedRates {
  const fixed = new Map<string, bigint>();
  for (const [symbol, text] of Object.entries({ ...FIXED_PRICES, ...prices })) {
    const price = parsePrice(text);
    if (price === undefined) throw new RangeError(`${text} is not a valid price for ${symbol}`);
    fixed.set(symbol, price);
  }
  const off = new Set<string>();
  return {
    async usdPrice(assetSymbol) {
      const symbol = pricedAsset(assetSymbol);
      const price = fixed.get(symbol);
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
