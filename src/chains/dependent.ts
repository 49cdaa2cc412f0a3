/** A transaction that is in no block, and what it depends on. */
export interface Dependent {
  readonly id: string;
  /** Outputs that it spends, as `hash:index`; null if that is not known. */
  readonly inputs: readonly string[] | null;
  /** Outputs that its ancestors in the mempool spend, likewise; none unless given. */
  readonly ancestry?: readonly string[] | null;
}

/** Every output on which a transaction depends. */
export function dependenciesOf({ inputs, ancestry }: Dependent): readonly string[] {
  return [...(inputs ?? []), ...(ancestry ?? [])];
}

/**
 * Whether a transaction that spends an output on which another one depends is that one itself, or one of its ancestors: an
 * ancestor is what has made such an output. Any other one is in conflict with it.
 */
export function isKin(spender: string, dependent: Dependent): boolean {
  return (
    spender === dependent.id ||
    dependenciesOf(dependent).some(output => output.startsWith(`${spender}:`))
  );
}

/**
 * The IDs of the transactions that cannot get into a block any more, since another one has spent what they depend on, or
 * since they spend what a transaction makes that cannot get into one either.
 * @param spentBy The transaction that spends each output in a block.
 */
export function findConflicts(
  dependents: readonly Dependent[],
  spentBy: ReadonlyMap<string, string>,
): ReadonlySet<string> {
  const undone = new Set<string>();
  const isUndone = (dependent: Dependent) =>
    dependenciesOf(dependent).some(output => {
      const spender = spentBy.get(output);
      const [maker = ''] = output.split(':');
      return (spender !== undefined && !isKin(spender, dependent)) || undone.has(maker);
    });
  for (let found = -1; found < undone.size; ) {
    found = undone.size;
    for (const dependent of dependents) if (isUndone(dependent)) undone.add(dependent.id);
  }
  return undone;
}
