import { timingSafeEqual } from 'node:crypto';
import type { SignedParts } from './canonical.ts';
import { type Attempt, messageOf, RIGHT_ORDER, signAttempt } from './mistakes/attempt.ts';
import { bodyMistakes } from './mistakes/body-mistakes.ts';
import { headerMistakes, millisecondMistakes } from './mistakes/header-mistakes.ts';
import { type KeyHints, keyMistakes } from './mistakes/key-mistakes.ts';
import { layoutMistakes } from './mistakes/layout-mistakes.ts';
import type { Finding, Mistake } from './mistakes/mistake.ts';
import { pathMistakes } from './mistakes/path-mistakes.ts';
import { readSignature } from './mistakes/signature-form.ts';

/** Most signatures that are computed to explain one: all of a usual request, in about 50 ms. */
export const ATTEMPTS_MAXIMUM = 3_000;
/** Most bytes that are hashed for it: enough to try every single mistake with a body of 64 KiB. */
export const HASHED_BYTES_MAXIMUM = 16 * 1024 * 1024;

/** What may have been signed with or over, beside what a request shows. */
export interface MismatchHints extends KeyHints {
  /** The Host header: scheme and host are what some sign before the path. */
  readonly host?: string | undefined;
}

export interface Explanation {
  readonly matches: boolean;
  /** The fewest mistakes that lead to the signature; empty when it matches or none of them do. */
  readonly findings: readonly Finding[];
  /** Whether the signature has the form of one at all. */
  readonly readable: boolean;
  /** How many signatures were computed. */
  readonly attempts: number;
}

/**
 * Finds out how a signature came about that is not the right one: by making the usual mistakes on
 * purpose, each by itself and then two at a time, until one leads to the signature.
 *
 * Only a whole match is ever told. That part of a signature is right is not: who could ask for that
 * would find the rest digit by digit.
 */
export function explainMismatch(
  secret: string,
  parts: SignedParts,
  signature: string,
  hints: MismatchHints = {},
): Explanation {
  const read = readSignature(signature);
  if (read === undefined) return { matches: false, findings: [], readable: false, attempts: 0 };
  const { bytes, hash, findings } = read;
  const right = { ...rightWay(secret, parts), hash };
  let attempts = 0;
  let hashed = 0;
  for (const mistakes of candidates(secret, parts, hints)) {
    const [first, second] = mistakes;
    const attempt: Attempt = { ...right, ...first?.change, ...second?.change };
    const message = messageOf(attempt);
    if (attempts >= ATTEMPTS_MAXIMUM || hashed + message.length > HASHED_BYTES_MAXIMUM) break;
    attempts += 1;
    hashed += message.length;
    if (!timingSafeEqual(signAttempt(attempt, message), bytes)) continue;
    const found = [...mistakes.map(toFinding), ...findings];
    return { matches: found.length === 0, findings: found, readable: true, attempts };
  }
  return { matches: false, findings: [], readable: true, attempts };
}

/** No mistake, every one by itself, every two that can be made together, and the many at last. */
function* candidates(
  secret: string,
  parts: SignedParts,
  hints: MismatchHints,
): Generator<readonly Mistake[]> {
  const mistakes = usualMistakes(secret, parts, hints);
  yield [];
  for (const mistake of mistakes) yield [mistake];
  const sociable = mistakes.filter(({ alone }) => alone !== true);
  for (const [index, first] of sociable.entries()) {
    for (const second of sociable.slice(index + 1)) {
      if (areCompatible(first, second)) yield [first, second];
    }
  }
  for (const mistake of millisecondMistakes(parts)) yield [mistake];
}

/** The mistakes that change something of this request; of several that change it alike, the first. */
export function usualMistakes(
  secret: string,
  parts: SignedParts,
  hints: MismatchHints,
): readonly Mistake[] {
  const right = rightWay(secret, parts);
  const different = new Map<string, Mistake>();
  for (const mistake of [
    ...headerMistakes(parts),
    ...pathMistakes(right, hints.host),
    ...bodyMistakes(parts.body),
    ...layoutMistakes(),
    ...keyMistakes(secret, hints),
  ]) {
    const names = Object.keys(mistake.change) as (keyof Attempt)[];
    const changed = fingerprint(names, mistake.change);
    if (changed !== fingerprint(names, right) && !different.has(changed)) {
      different.set(changed, mistake);
    }
  }
  return [...different.values()];
}

function fingerprint(names: readonly (keyof Attempt)[], values: Partial<Attempt>): string {
  const texts = names.map(name => {
    const value = values[name];
    // Marked as bytes: the digits of a secret as text are another key than the bytes they stand for.
    return [
      name,
      value instanceof Uint8Array ? ['bytes', Buffer.from(value).toString('hex')] : value,
    ];
  });
  return JSON.stringify(texts);
}

function areCompatible({ change: first }: Mistake, { change: second }: Mistake): boolean {
  return !Object.keys(first).some(name => name in second);
}

function rightWay(secret: string, { path: target, ...parts }: SignedParts): Attempt {
  const mark = target.indexOf('?');
  const end = mark === -1 ? target.length : mark;
  return {
    ...parts,
    path: target.slice(0, end),
    query: target.slice(end),
    order: RIGHT_ORDER,
    separator: '\n',
    end: '',
    key: secret,
    hash: 'sha256',
    construction: 'hmac',
  };
}

function toFinding({ component, made, remedy }: Mistake): Finding {
  return { component, made, remedy };
}
