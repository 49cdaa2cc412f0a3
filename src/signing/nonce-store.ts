import { hash } from 'node:crypto';
import { TIMESTAMP_WINDOW_SECONDS } from './canonical.ts';

/**
 * How long a nonce is stored, in seconds. A timestamp may lie a whole window ahead of the server's time
 * and stays valid for another window after it; a tenth more covers clocks that differ.
 */
export const NONCE_LIFETIME_SECONDS = 2.2 * TIMESTAMP_WINDOW_SECONDS;

/** What is stored of a nonce: SHA-256 in base64url, which bounds its size. */
export function nonceDigest(nonce: string): string {
  return hash('sha256', nonce, 'base64url');
}

/** The store of used nonces is unreachable, so a replay cannot be detected. */
export class NonceStoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('the nonce store is unavailable', { cause });
    this.name = 'NonceStoreUnavailable';
  }
}

/** The result of a claim. */
export interface NonceClaim {
  /** Whether the nonce was new for its key. */
  readonly isNew: boolean;
  /**
   * Since when the store has certainly kept every nonce, in milliseconds since the epoch. For earlier
   * times it is unknown whether a nonce was used.
   */
  readonly since: number;
}

/** The state of a server that keeps nonces. */
export interface NonceServer {
  /** Host and port; null for a single server. */
  readonly name: string | null;
  /** Why it cannot be reached, or accepts no claims; null when it does. */
  readonly failure: Error | null;
  /** The policy by which it may evict nonces early; null when it keeps them, or cannot be reached. */
  readonly evictionPolicy: string | null;
}

/** Stores the nonces that each key has used; shared by all replicas. */
export interface NonceStore {
  /** Where the nonces live, for logs and readiness. */
  readonly kind: 'redis' | 'postgres';
  /**
   * Claims a nonce.
   * @param now Milliseconds since the epoch.
   * @throws NonceStoreUnavailable
   */
  claim(keyId: string, nonce: string, now: number): Promise<NonceClaim>;
  /** Asks each server that keeps nonces; there is at least one. */
  probe(): Promise<readonly NonceServer[]>;
  close(): Promise<void>;
}
