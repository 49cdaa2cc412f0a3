import { LabelTree, type LabelValues } from './label-tree.ts';

/** One line of a metric: `suffix` follows its name, `labels` are by name. */
export interface Sample {
  readonly suffix: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What this process counts, as plain numbers, until somebody reads it. */
export interface Instrument {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labelNames: readonly string[];
  samples(): Sample[];
}

/** What there is to say of an instrument. */
interface Description<L extends readonly string[]> {
  readonly name: string;
  /** What it means, on one line. */
  readonly help: string;
  readonly labelNames: L;
}

const labelled = (names: readonly string[], values: readonly string[]) =>
  Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));

/** A number that can be counted up, or set. */
class Numbers<const L extends readonly string[]> implements Instrument {
  readonly name: string;
  readonly help: string;
  readonly labelNames: L;
  readonly type: 'counter' | 'gauge';
  readonly #tree: LabelTree<{ value: number }, L>;

  constructor(type: 'counter' | 'gauge', { name, help, labelNames }: Description<L>) {
    this.type = type;
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    this.#tree = new LabelTree(labelNames, () => ({ value: 0 }));
  }

  protected at(labels: LabelValues<L>): { value: number } {
    return this.#tree.at(labels);
  }

  samples(): Sample[] {
    return this.#tree.entries().map(({ labels, value: { value } }) => ({
      suffix: '',
      labels: labelled(this.labelNames, labels),
      value,
    }));
  }
}

/** Counts what has happened since the process began. */
export class Tally<const L extends readonly string[]> extends Numbers<L> {
  constructor(description: Description<L>) {
    super('counter', description);
  }

  add(...labels: LabelValues<L>): void {
    this.at(labels).value += 1;
  }
}

/** How something stands. */
export class Level<const L extends readonly string[]> extends Numbers<L> {
  constructor(description: Description<L>) {
    super('gauge', description);
  }

  set(value: number, ...labels: LabelValues<L>): void {
    this.at(labels).value = value;
  }

  change(by: number, ...labels: LabelValues<L>): void {
    this.at(labels).value += by;
  }
}

interface Durations {
  /** How many lay at or below each bound, and above the one before it; the last above all. */
  readonly counts: number[];
  sum: number;
}

/** How long things took, in seconds: how many below each bound, and all together. */
export class Timing<const L extends readonly string[]> implements Instrument {
  readonly type = 'histogram';
  readonly name: string;
  readonly help: string;
  readonly labelNames: L;
  readonly #bounds: readonly number[];
  readonly #tree: LabelTree<Durations, L>;

  /** @param bounds Seconds, ascending. */
  constructor({ name, help, labelNames }: Description<L>, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    this.#bounds = bounds;
    const make = () => ({ counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 });
    this.#tree = new LabelTree(labelNames, make);
  }

  observe(seconds: number, ...labels: LabelValues<L>): void {
    const durations = this.#tree.at(labels);
    let index = 0;
    while (index < this.#bounds.length && seconds > (this.#bounds[index] ?? 0)) index += 1;
    durations.counts[index] = (durations.counts[index] ?? 0) + 1;
    durations.sum += seconds;
  }

  samples(): Sample[] {
    return this.#tree.entries().flatMap(({ labels: values, value: { counts, sum } }) => {
      const labels = labelled(this.labelNames, values);
      let below = 0;
      const buckets = counts.map((count, index) => {
        below += count;
        const le = String(this.#bounds[index] ?? '+Inf');
        return { suffix: '_bucket', labels: { ...labels, le }, value: below };
      });
      return [
        ...buckets,
        { suffix: '_sum', labels, value: sum },
        { suffix: '_count', labels, value: below },
      ];
    });
  }
}
