import { type Metric, Registry } from 'prom-client';
import type { Instrument } from './instruments.ts';

/** A registry of instruments, which are read when somebody asks. */
export function createRegistry(instruments: readonly Instrument[]): Registry {
  const registry = new Registry();
  for (const instrument of instruments) registry.registerMetric(asMetric(instrument));
  return registry;
}

/**
 * The instrument as one of prom-client's metrics, of which a registry asks no more than name and
 * values. Its own would have every request pay for checking and joining labels.
 */
function asMetric(instrument: Instrument): Metric {
  const { name, help, type, labelNames } = instrument;
  const metric = {
    name,
    help,
    type,
    labelNames,
    get: async () => ({
      name,
      help,
      type,
      aggregator: 'sum',
      values: instrument.samples().map(({ suffix, labels, value }) => ({
        metricName: `${name}${suffix}`,
        labels,
        value,
      })),
    }),
  };
  return metric as unknown as Metric;
}
