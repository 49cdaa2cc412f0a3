import { TIMESTAMP_WINDOW_SECONDS } from './canonical.ts';

/**
 * How long a nonce is remembered, in seconds. A timestamp may lie a whole window ahead of the
 * server and stays valid for another one after it; a tenth more covers clocks that disagree.
 */
export const NONCE_LIFETIME_SECONDS = 2.2 * TIMESTAMP_WINDOW_SECONDS;

/** The store of used nonces cannot be reached, so a replay cannot be told from a first use. */
export class NonceStoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('the nonce store is unavailable', { cause });
    this.name = 'NonceStoreUnavailable';
  }
}

/** Remembers which nonces a key has used; shared by all replicas. */
export interface NonceStore {
  /** Where the nonces live, for logs and readiness. */
  readonly kind: 'redis' | 'postgres';
  /**
   * Uses up a nonce.
   * @param now Milliseconds since the epoch.
   * @returns Whether it was new for this key.
   * @throws NonceStoreUnavailable
   */
  claim(keyId: string, nonce: string, now: number): Promise<boolean>;
  /** @throws NonceStoreUnavailable */
  ping(): Promise<void>;
  close(): Promise<void>;
}
