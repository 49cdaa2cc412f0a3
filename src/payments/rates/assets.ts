import { PRICE_SCALE } from './price.ts';

/** The real asset behind each test asset, whose price is used for both. */
const REAL_ASSETS: ReadonlyMap<string, string> = new Map([['tBTC', 'BTC']]);

/** Assets meant to be worth one dollar. */
const STABLECOINS: ReadonlySet<string> = new Set(['USDT', 'USDC']);

/** A stablecoin counts as one dollar while its price is within 2 % of it. */
const PEG_MINIMUM = (PRICE_SCALE * 98n) / 100n;
const PEG_MAXIMUM = (PRICE_SCALE * 102n) / 100n;

/** The asset whose price applies: the real one for a test asset, otherwise the asset itself. */
export function pricedAsset(symbol: string): string {
  return REAL_ASSETS.get(symbol) ?? symbol;
}

export function isStablecoin(symbol: string): boolean {
  return STABLECOINS.has(symbol);
}

/** @param price Of a stablecoin, in dollars scaled by 1e18. */
export function isPegged(price: bigint): boolean {
  return price >= PEG_MINIMUM && price <= PEG_MAXIMUM;
}
