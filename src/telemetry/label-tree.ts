/** One value for each combination of labels. */
export type LabelValues<L extends readonly string[]> = { readonly [K in keyof L]: string };

interface Branch<V> {
  readonly value: V;
  readonly below: Map<string, Branch<V>>;
}

/**
 * Values by their labels, found by one look into a map for each label: no key is put together for it,
 * which a request would pay for.
 */
export class LabelTree<V, L extends readonly string[]> {
  readonly #make: () => V;
  readonly #root: Branch<V>;
  readonly #found: { readonly labels: LabelValues<L>; readonly value: V }[] = [];

  /** @param make A value that nothing has been counted in. */
  constructor(labelNames: L, make: () => V) {
    this.#make = make;
    this.#root = { value: make(), below: new Map() };
    // Without labels there is one value, which is there from the start.
    if (labelNames.length === 0)
      this.#found.push({ labels: this.#none(), value: this.#root.value });
  }

  /** The value of these labels, made when it is first asked for. */
  at(labels: LabelValues<L>): V {
    let branch = this.#root;
    for (const label of labels) {
      const next = branch.below.get(label);
      if (next === undefined) return this.#grow(labels);
      branch = next;
    }
    return branch.value;
  }

  /** Every value that has been asked for. */
  entries(): readonly { readonly labels: LabelValues<L>; readonly value: V }[] {
    return this.#found;
  }

  #grow(labels: LabelValues<L>): V {
    let branch = this.#root;
    for (const label of labels) {
      const next = branch.below.get(label) ?? { value: this.#make(), below: new Map() };
      branch.below.set(label, next);
      branch = next;
    }
    this.#found.push({ labels, value: branch.value });
    return branch.value;
  }

  #none(): LabelValues<L> {
    return [] as unknown as LabelValues<L>;
  }
}
