import type { Attempt } from './attempt.ts';

/** What of a signature a mistake is about. */
export type Component =
  | 'timestamp'
  | 'nonce'
  | 'method'
  | 'path'
  | 'query'
  | 'body'
  | 'layout'
  | 'secret'
  | 'algorithm'
  | 'encoding';

/** A mistake that has been found, in words. */
export interface Finding {
  readonly component: Component;
  /** What the signature was made with, as in `the path without its query`. */
  readonly made: string;
  /** What to do instead: a sentence. */
  readonly remedy: string;
}

/** A mistake that can be made on purpose, to see whether it leads to the signature that was sent. */
export interface Mistake extends Finding {
  /** What it changes of the right way. Two mistakes that change the same cannot both be made. */
  readonly change: Partial<Attempt>;
  /** Whether it is tried by itself only, because it hardly ever comes together with another. */
  readonly alone?: boolean;
}

/** Names bytes of the request in a remedy, quoted, so that every character of them shows. */
export function quote(text: string): string {
  return JSON.stringify(text);
}
