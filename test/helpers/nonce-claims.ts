import type { NonceStore } from '#signing/nonce-store.ts';

/** A captured request with a nonce. */
export interface Captured {
  readonly keyId: string;
  readonly nonce: string;
  /** When it was signed, in milliseconds since the epoch; its timestamp has whole seconds. */
  readonly signedAt: number;
}

/** A request signed now with a key. */
export function signNow(keyId: string): Captured {
  return { keyId, nonce: crypto.randomUUID(), signedAt: Date.now() };
}

/** How authentication decides on a creation with the nonce; `unknown` while the store is unavailable. */
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
