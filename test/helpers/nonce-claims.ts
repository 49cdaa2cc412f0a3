import type { NonceStore } from '#signing/nonce-store.ts';

/** A request with a nonce, as it was captured. */
export interface Captured {
  readonly keyId: string;
  readonly nonce: string;
  /** When it was signed, in milliseconds since the epoch; a timestamp has whole seconds of it. */
  readonly signedAt: number;
}

/** A request of a key that is signed now. */
export function signNow(keyId: string): Captured {
  return { keyId, nonce: crypto.randomUUID(), signedAt: Date.now() };
}

/** What becomes of a creation with the nonce, as authentication decides it; `unknown` while the store is unavailable. */
export async function judge(
  store: NonceStore,
  { keyId, nonce, signedAt }: Captured,
): Promise<'executed' | 'replay' | 'too old' | 'unknown'> {
  try {
    const { isNew, since } = await store.claim(keyId, nonce, Date.now());
    if (!isNew) return 'replay';
    return Math.floor(signedAt / 1000) * 1000 < since ? 'too old' : 'executed';
  } catch {
    return 'unknown';
  }
}
