import { PRICE_SCALE } from './price.ts';

/** Assets without a market, and the ones whose price they are shown with. */
const REAL_ASSETS: ReadonlyMap<string, string> = new Map([['tBTC', 'BTC']]);

/** Assets meant to be worth one dollar. */
const STABLECOINS: ReadonlySet<string> = new Set(['USDT', 'USDC']);

/** A dollar give or take 2 %: what a stablecoin may cost and still be taken for a dollar. */
const PEG_LEAST = (PRICE_SCALE * 98n) / 100n;
const PEG_MOST = (PRICE_SCALE * 102n) / 100n;

/** The asset whose rate prices this one: itself, or the real asset behind a test asset. */
export function pricedAsset(symbol: string): string {
  return REAL_ASSETS.get(symbol) ?? symbol;
}

export function isStablecoin(symbol: string): boolean {
  return STABLECOINS.has(symbol);
}

/** Whether a stablecoin at this price, scaled by 1e18, still passes for a dollar. */
export function isPegged(price: bigint): boolean {
  return price >= PEG_LEAST && price <= PEG_MOST;
}
