import { Gauge, type Registry } from 'prom-client';

/** Registers a gauge that shows a part of a reading. */
export type RegisterGauge<S> = <L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[],
  show: (gauge: Gauge<L>, reading: S) => void,
) => void;

/** Makes gauges that share one reading. They are absent while there is none, since an unknown value is not zero. */
export function snapshotGauges<S>(
  registry: Registry,
  snapshot: () => Promise<S | null>,
): RegisterGauge<S> {
  return <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    show: (gauge: Gauge<L>, reading: S) => void,
  ) => {
    new Gauge<L>({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        this.reset();
        const reading = await snapshot();
        if (reading !== null) show(this, reading);
        // A gauge without labels would be 0 after a reset.
        else if (labelNames.length === 0) this.remove();
      },
    });
  };
}
