import type { Registry } from 'prom-client';
import { snapshotOf } from './snapshot.ts';
import { snapshotGauges } from './snapshot-gauges.ts';

/** The latest readings of prices and their sources. */
export interface RateReadings {
  readonly sources: readonly {
    readonly source: string;
    readonly asset: string;
    /** Age of the price when it was received, in seconds. */
    readonly ageSeconds: number;
    /** Distance from the median of all sources, as a share of it; null for the only source. */
    readonly deviation: number | null;
  }[];
  readonly assets: readonly { readonly asset: string; readonly available: boolean }[];
}

/** How long readings are reused, in milliseconds: one scrape reads three gauges. */
const LIFETIME_MS = 1_000;

/** Registers gauges of which assets can be quoted, and of the sources of their prices. */
export function registerRateGauges(registry: Registry, observe: () => Promise<RateReadings>): void {
  const register = snapshotGauges(registry, snapshotOf(observe, LIFETIME_MS));
  register(
    'eps_rate_available',
    'Whether the asset could be quoted when it was last asked for: 1 or 0',
    ['asset'],
    (gauge, { assets }) => {
      for (const { asset, available } of assets) gauge.set({ asset }, available ? 1 : 0);
    },
  );
  register(
    'eps_rate_source_age_seconds',
    "Age of the source's price when it was received",
    ['source', 'asset'],
    (gauge, { sources }) => {
      for (const { source, asset, ageSeconds } of sources) gauge.set({ source, asset }, ageSeconds);
    },
  );
  register(
    'eps_rate_source_deviation_ratio',
    "Distance of the source's price from the median of all sources, as a share of it",
    ['source', 'asset'],
    (gauge, { sources }) => {
      for (const { source, asset, deviation } of sources) {
        if (deviation !== null) gauge.set({ source, asset }, deviation);
      }
    },
  );
}
