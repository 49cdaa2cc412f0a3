import type { Hash } from './attempt.ts';
import type { Finding } from './mistake.ts';

/** A signature as it was sent, read in whichever way it was written. */
export interface ReadSignature {
  readonly bytes: Buffer;
  readonly hash: Hash;
  /** What is wrong about its form and its hash; empty for 64 lowercase hex digits. */
  readonly findings: readonly Finding[];
}

const HASHES: ReadonlyMap<number, Hash> = new Map([
  [16, 'md5'],
  [20, 'sha1'],
  [32, 'sha256'],
  [48, 'sha384'],
  [64, 'sha512'],
]);
const SHA256_BYTES = 32;
/** What some schemes and tools write before it: `sha256=…`, `SHA2-256(stdin)= …`, `HMAC …`, `0x…`. */
const PREFIX = /^(?:[a-z][\w()./-]{0,30}(?:[=:,] ?| )|0x)(?=[\w+/=-]{20})/i;
const HEX = /^(?:[0-9a-f]{2})+$/i;
const SEPARATED_HEX = /^[0-9a-f]{2}(?:[-: ][0-9a-f]{2})+$/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const BASE64URL = /^[\w-]+={0,2}$/;
const REMEDY = 'Send X-MP-SIGNATURE as 64 lowercase hex digits and nothing else.';

/** Reads a signature; undefined for what no digest is written as. */
export function readSignature(text: string): ReadSignature | undefined {
  const findings: Finding[] = [];
  const note = (made: string) => findings.push({ component: 'encoding', made, remedy: REMEDY });

  const bare = text.trim().replace(/^(["'])(.*)\1$/, '$2');
  if (bare !== text) note('quotes or blanks around the signature');
  const digits = bare.replace(PREFIX, '');
  if (digits !== bare) {
    note(`${JSON.stringify(bare.slice(0, -digits.length))} before the signature`);
  }
  const written = decode(digits);
  if (written === undefined) return undefined;
  if (written.form !== null) note(written.form);

  const inner = written.bytes.toString('latin1');
  const twice = HEX.test(inner) && inner.length === 2 * SHA256_BYTES;
  if (twice) note('the hex digits encoded once more instead of the digest itself');
  const bytes = twice ? Buffer.from(inner, 'hex') : written.bytes;
  const hash = HASHES.get(bytes.length);
  if (hash === undefined) return undefined;
  if (hash !== 'sha256') {
    findings.push({
      component: 'algorithm',
      made: `${hash.toUpperCase().replace('SHA', 'SHA-')} in place of SHA-256`,
      remedy: 'Use HMAC-SHA256.',
    });
  }
  return { bytes, hash, findings };
}

/** The bytes, and what to call the way they are written unless it is the right one. */
function decode(text: string): { bytes: Buffer; form: string | null } | undefined {
  if (HEX.test(text)) {
    const form = text === text.toLowerCase() ? null : 'upper-case hex in place of lowercase hex';
    return { bytes: Buffer.from(text, 'hex'), form };
  }
  if (SEPARATED_HEX.test(text)) {
    const bytes = Buffer.from(text.replace(/[-: ]/g, ''), 'hex');
    return { bytes, form: 'hex with separators between the bytes in place of plain lowercase hex' };
  }
  if (BASE64.test(text)) {
    return { bytes: Buffer.from(text, 'base64'), form: 'base64 in place of lowercase hex' };
  }
  if (BASE64URL.test(text)) {
    return { bytes: Buffer.from(text, 'base64url'), form: 'base64url in place of lowercase hex' };
  }
  return undefined;
}
