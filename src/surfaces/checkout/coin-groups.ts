import type { NetworkChoice } from './checkout.ts';

/** An asset with the networks that carry it. */
interface CoinGroup {
  readonly symbol: string;
  readonly name: string;
  /** At least one. */
  readonly choices: readonly NetworkChoice[];
}

/**
 * Groups networks by coin. Coins are in the order of their first networks, and the networks of a coin keep
 * theirs. Coins of test networks are groups of their own, after the real ones.
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
