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

/** Something wrong in place of what is right, with its name. */
export type Named<Value> = readonly [made: string, value: Value];

/** What else may have been signed with or over. No explanation ever shows any of it. */
export interface MismatchHints {
  readonly keyId?: string | undefined;
  readonly passphrase?: string | undefined;
  readonly otherSecrets?: readonly OtherSecret[];
  /** The Host header: scheme and host are what some sign before the path. */
  readonly host?: string | undefined;
}

/** A secret that may have been taken for the right one, and what to call it. */
export interface OtherSecret {
  readonly name: string;
  readonly secret: string;
}
