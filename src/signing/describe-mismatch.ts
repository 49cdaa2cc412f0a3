import { createHash } from 'node:crypto';
import { canonicalHead, type SignedParts } from './canonical.ts';
import type { Explanation } from './explain-mismatch.ts';

/** Says in sentences whether a signature matches, else why not and what to do; without any secret. */
export function describeMismatch({ matches, findings, readable }: Explanation): string {
  if (matches) return 'The signature matches.';
  if (!readable) {
    return 'The signature does not match: it is no digest. Send X-MP-SIGNATURE as 64 lowercase hex digits and nothing else.';
  }
  if (findings.length === 0) {
    return 'The signature does not match, and none of the usual mistakes explains it. Compare what you sign with what was received, byte for byte, and the secret with the one that came with the passphrase.';
  }
  const made = findings.map(finding => `with ${finding.made}`).join(' and ');
  const remedies = [...new Set(findings.map(({ remedy }) => remedy))].join(' ');
  return `The signature does not match: it was made ${made}. ${remedies}`;
}

/** Says which parts a right signature covers; without any secret, and without the signature. */
export function describeExpected(parts: SignedParts): string {
  return (
    `Expected is the lowercase hex HMAC-SHA256 over a canonical request whose SHA-256 is ${canonicalDigest(parts)}: ` +
    `timestamp ${JSON.stringify(parts.timestamp)}, nonce ${JSON.stringify(parts.nonce)}, method ${JSON.stringify(parts.method)}, ` +
    `path ${JSON.stringify(parts.path)} and a body of ${parts.body.length} bytes, joined by line feeds.`
  );
}

/** SHA-256 of the canonical request in hex, to compare with one's own. */
export function canonicalDigest(parts: SignedParts): string {
  return createHash('sha256').update(canonicalHead(parts)).update(parts.body).digest('hex');
}
