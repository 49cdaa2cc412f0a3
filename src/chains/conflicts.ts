/** An unconfirmed transaction, and what it depends on. */
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
 * Whether `spender`, which spends an output that `dependent` depends on, is that transaction itself or one of its
 * ancestors, which create such outputs. Any other spender conflicts with it.
 */
export function isKin(spender: string, dependent: Dependent): boolean {
  return (
    spender === dependent.id ||
    dependenciesOf(dependent).some(output => output.startsWith(`${spender}:`))
  );
}

/**
 * The IDs of the transactions that can no longer get into a block: another transaction has spent what they depend on,
 * or they spend an output of a transaction that can no longer get into a block itself.
 * @param spentBy The transaction in a block that spends each output.
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
