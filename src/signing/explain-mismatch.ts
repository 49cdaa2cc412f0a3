import { timingSafeEqual } from 'node:crypto';
import type { SignedParts } from './canonical.ts';
import type { Attempt, Finding, MismatchHints } from './mistakes/mistake.ts';
import { hmac } from './mistakes/other-keys.ts';
import { readSignature } from './mistakes/signature-form.ts';
import { usualMistakes } from './mistakes/usual-mistakes.ts';

/**
 * Maximum bytes that are hashed to explain one signature, 25 to 70 ms of CPU: enough to try every mistake
 * with a usual body, and all but the timestamps in milliseconds with a body of 64 KiB.
 */
const HASHED_BYTES_MAXIMUM = 16 * 1024 * 1024;

export interface Explanation {
  readonly matches: boolean;
  /** What is wrong; empty when the signature matches or no mistake leads to it. */
  readonly findings: readonly Finding[];
  /** Whether the signature has the form of a digest at all. */
  readonly readable: boolean;
}

/**
 * Finds the mistake behind a wrong signature: makes the usual ones on purpose, one at a time, until one leads
 * to that signature.
 *
 * Only a whole match is reported. To say that a part of a signature is right would let an attacker find the
 * rest digit by digit.
 */
export function explainMismatch(
  secret: string,
  parts: SignedParts,
  signature: string,
  hints: MismatchHints = {},
): Explanation {
  const read = readSignature(signature);
  if (read === undefined) return { matches: false, findings: [], readable: false };
  const { timestamp, nonce, method, path, body } = parts;
  const right: Attempt = {
    parts: [timestamp, nonce, method, path, body],
    separator: '\n',
    key: secret,
    digest: hmac,
  };
  let hashed = 0;
  const leadsToIt = (attempt: Attempt): boolean => {
    const message = messageOf(attempt);
    hashed += message.length;
    return timingSafeEqual(attempt.digest(read.hash, attempt.key, message), read.bytes);
  };
  if (leadsToIt(right)) {
    return { matches: read.findings.length === 0, findings: read.findings, readable: true };
  }
  for (const { change, ...finding } of usualMistakes(secret, parts, hints)) {
    if (hashed > HASHED_BYTES_MAXIMUM) break;
    if (leadsToIt({ ...right, ...change })) {
      return { matches: false, findings: [finding, ...read.findings], readable: true };
    }
  }
  return { matches: false, findings: [], readable: true };
}

function messageOf({ parts, separator }: Attempt): Buffer {
  const pieces = parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));
  return Buffer.concat(pieces.map(piece => Buffer.from(piece)));
}
