import type { RateReadings } from '#telemetry/rate-gauges.ts';
import type { Clock } from '#time/clock.ts';
import type { Rate } from './rate-source.ts';

/** How long a reading is shown, in milliseconds: quotes are made when payers ask for them. */
const SHOWN_MS = 5 * 60_000;

/** Deviations have this many decimals. */
const DEVIATION_DIGITS = 6;

interface Reading extends Rate {
  readonly source: string;
  readonly receivedAt: number;
}

/** Keeps the last rate of each source, and which assets could be quoted, for metrics. */
export function createRateRecorder(clock: Clock) {
  const readings = new Map<string, Reading>();
  const assets = new Map<string, { readonly available: boolean; readonly at: number }>();
  const isShown = (at: number) => Math.abs(clock() - at) <= SHOWN_MS;

  return {
    responded(source: string, rate: Rate): void {
      readings.set(`${source} ${rate.symbol}`, { ...rate, source, receivedAt: clock() });
    },
    /** Drops the source's reading of the asset. */
    failed(source: string, symbol: string): void {
      readings.delete(`${source} ${symbol}`);
    },
    priced(symbol: string, available: boolean): void {
      assets.set(symbol, { available, at: clock() });
    },
    /** Assets that could not be quoted when they were last asked for. */
    unavailable(): string[] {
      return [...assets].filter(([, { available }]) => !available).map(([symbol]) => symbol);
    },
    readings(): RateReadings {
      const shown = [...readings.values()].filter(({ receivedAt }) => isShown(receivedAt));
      const bySymbol = Map.groupBy(shown, ({ symbol }) => symbol);
      return {
        sources: [...bySymbol].flatMap(([asset, group]) => {
          const prices = group.map(({ price }) => price);
          return group.map(({ source, price, at, receivedAt }) => ({
            source,
            asset,
            ageSeconds: Math.max(0, receivedAt - at) / 1000,
            deviation: prices.length < 2 ? null : deviationOf(price, medianOf(prices)),
          }));
        }),
        assets: [...assets]
          .filter(([, { at }]) => isShown(at))
          .map(([asset, { available }]) => ({ asset, available })),
      };
    },
  };
}

function medianOf(prices: readonly bigint[]): bigint {
  const sorted = prices.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const upper = sorted[sorted.length >> 1] ?? 0n;
  const lower = sorted[(sorted.length - 1) >> 1] ?? 0n;
  return (lower + upper) / 2n;
}

function deviationOf(price: bigint, median: bigint): number {
  const distance = price < median ? median - price : price - median;
  const scale = 10 ** DEVIATION_DIGITS;
  return Number((distance * BigInt(scale)) / median) / scale;
}
