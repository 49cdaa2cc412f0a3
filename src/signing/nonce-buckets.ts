/** A part of all nonces, which one server of a cluster keeps. */
export interface NonceBucket {
  /** Hash tag of its keys. */
  readonly tag: string;
  /** Slot of the cluster that the tag hashes to. */
  readonly slot: number;
}

/**
 * Buckets of a cluster, by the slots of their tags: in the middle of each sixth of all slots, so that two,
 * three and six masters that divide the slots evenly have as many each, and none of up to six has none. Each
 * bucket with a nonce is a script to run: a claim takes twice the CPU with 64 buckets, and about the same with
 * 4 to 16.
 */
export const NONCE_BUCKETS: readonly NonceBucket[] = [
  { tag: '21', slot: 1_413 },
  { tag: '47', slot: 4_069 },
  { tag: '86', slot: 6_825 },
  { tag: '27', slot: 9_539 },
  { tag: '17', slot: 12_304 },
  { tag: '71', slot: 14_960 },
];

/** The index of a key's bucket. Key IDs end in random hexadecimal digits, of which six are enough to divide. */
export function bucketOf(keyId: string): number {
  const digits = Number.parseInt(keyId.slice(-6), 16);
  return digits >= 0 ? digits % NONCE_BUCKETS.length : 0;
}
