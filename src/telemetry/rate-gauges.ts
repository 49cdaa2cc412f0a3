import { Gauge, type Registry } from 'prom-client';
import { snapshotOf } from './snapshot.ts';

/** What was last seen of prices and their sources. */
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

/** Registers gauges of what is quoted, and of the sources it is quoted from. */
export function registerRateGauges(registry: Registry, observe: () => Promise<RateReadings>): void {
  const snapshot = snapshotOf(observe, LIFETIME_MS);
  new Gauge({
    name: 'eps_rate_available',
    help: 'Whether the asset could be quoted when it was last asked for: 1 or 0',
    labelNames: ['asset'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { asset, available } of (await snapshot()).assets) {
        this.set({ asset }, available ? 1 : 0);
      }
    },
  });
  new Gauge({
    name: 'eps_rate_source_age_seconds',
    help: "Age of the source's price when it was received",
    labelNames: ['source', 'asset'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { source, asset, ageSeconds } of (await snapshot()).sources) {
        this.set({ source, asset }, ageSeconds);
      }
    },
  });
  new Gauge({
    name: 'eps_rate_source_deviation_ratio',
    help: "Distance of the source's price from the median of all sources, as a share of it",
    labelNames: ['source', 'asset'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { source, asset, deviation } of (await snapshot()).sources) {
        if (deviation !== null) this.set({ source, asset }, deviation);
      }
    },
  });
}
