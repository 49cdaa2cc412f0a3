import type { NetworkChoice } from './checkout.ts';

/** An asset with the networks that carry it. */
export interface CoinGroup {
  readonly symbol: string;
  readonly name: string;
  /** At least one. */
  readonly choices: readonly NetworkChoice[];
}

/**
 * Groups networks by coin. A coin takes the place of its first network; the networks of a coin keep their
 * order. Coins of test networks stand apart from real ones, after them.
 */
export function groupByCoin(choices: readonly NetworkChoice[]): CoinGroup[] {
  const real = choices.filter(({ network }) => network.environment === 'production');
  const test = choices.filter(({ network }) => network.environment === 'test');
  return [...groupBySymbol(real), ...groupBySymbol(test)];
}

function groupBySymbol(choices: readonly NetworkChoice[]): CoinGroup[] {
  const groups = Map.groupBy(choices, ({ network }) => network.asset_symbol);
  return [...groups].map(([symbol, group]) => {
    return { symbol, name: group[0]?.network.asset_name ?? symbol, choices: group };
  });
}
