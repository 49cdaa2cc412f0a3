/** A transaction and what it depends on, as far as that was in no block. */
export interface Dependent {
  readonly id: string;
  /** Outputs that it spends, as `hash:index`; null if that is not known. */
  readonly inputs: readonly string[] | null;
  /** Outputs that its ancestors in the mempool spend, likewise. */
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
