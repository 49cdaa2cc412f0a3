/** A share of all nonces, which one server of a cluster keeps. */
export interface NonceBucket {
  /** Hash tag of its keys. */
  readonly tag: string;
  /** Slot of the cluster that the tag hashes to. */
  readonly slot: number;
}

/**
 * Buckets of a cluster, by the slots of their tags. Their slots are in the middle of each sixth of all slots:
 * two, three or six masters with equal shares of the slots have equally many buckets, and each of up to six
 * has at least one. Each bucket with a nonce takes a script: a claim takes twice the CPU with 64 buckets, and
 * about the same with 4 to 16.
 */
export const NONCE_BUCKETS: readonly NonceBucket[] = [
  { tag: '21', slot: 1_413 },
  { tag: '47', slot: 4_069 },
  { tag: '86', slot: 6_825 },
  { tag: '27', slot: 9_539 },
  { tag: '17', slot: 12_304 },
  { tag: '71', slot: 14_960 },
];

/** The index of a key's bucket. Key IDs end in random hexadecimal digits; six of them spread the keys well enough. */
export function bucketOf(keyId: string): number {
  const digits = Number.parseInt(keyId.slice(-6), 16);
  return digits >= 0 ? digits % NONCE_BUCKETS.length : 0;
}
