/** A mistake in words. */
export interface Finding {
  /** timestamp, nonce, method, path, query, body, layout, secret, algorithm or encoding. */
  readonly component: string;
  /** What the signature was made with, as in `the path without its query`. */
  readonly made: string;
  /** What to do instead: a sentence. */
  readonly remedy: string;
}

/** A mistake that can be made on purpose, to see whether it leads to the signature that was sent. */
export interface Mistake extends Finding {
  /** How the attempt differs from the right one. */
  readonly change: Partial<Attempt>;
}

/** One way to sign a request. */
export interface Attempt {
  /** What is signed, in order. */
  readonly parts: readonly (Uint8Array | string)[];
  readonly separator: string;
  readonly key: Key;
  readonly digest: Digest;
}

export type Key = Uint8Array | string;
export type Digest = (hash: string, key: Key, message: Buffer) => Buffer;

/** A value that may have been used by mistake, with what to call it. */
export type Named<Value> = readonly [made: string, value: Value];

/** Other values that may have been signed, or signed with. No explanation ever shows any of them. */
export interface MismatchHints {
  readonly keyId?: string | undefined;
  readonly passphrase?: string | undefined;
  readonly otherSecrets?: readonly OtherSecret[];
  /** The Host header: scheme and host are what some sign before the path. */
  readonly host?: string | undefined;
  /** Address at which clients reach the service. Its path is the prefix of a proxy, which is never signed. */
  readonly publicUrl?: string | undefined;
}

/** A secret that may have been taken for the right one, and what to call it. */
export interface OtherSecret {
  readonly name: string;
  readonly secret: string;
}
