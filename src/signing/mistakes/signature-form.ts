import type { Finding } from './mistake.ts';

/** A signature that was sent, decoded from the form that it was written in. */
interface ReadSignature {
  readonly bytes: Buffer;
  /** The hash whose digests have this length. */
  readonly hash: string;
  /** What is wrong about its form and its hash; empty for 64 lowercase hex digits. */
  readonly findings: readonly Finding[];
}

const HASHES = new Map([
  [16, 'md5'],
  [20, 'sha1'],
  [32, 'sha256'],
  [48, 'sha384'],
  [64, 'sha512'],
]);
/**
 * What some schemes and tools write before a signature: `sha256=…`, `SHA2-256(stdin)= …`, `HMAC …`, `0x…`.
 * The last only before hex: one digest in 4,096 begins with `0x` in base64.
 */
const PREFIX =
  /^(?:[a-z][\w()./-]{0,30}(?:[=:,] ?| )(?=[\w+/=-]{20})|0x(?=[0-9a-f]{2}[0-9a-f: -]{18}))/i;
const RIGHT_FORM = /^(?:[0-9a-f]{2})+$/;
const SEPARATOR = /[-: ]/g;
/** Node decodes base64url as base64, too. */
const OTHER_FORMS: readonly (readonly [form: RegExp, encoding: 'hex' | 'base64', made: string])[] =
  [
    [/^(?:[0-9a-f]{2})+$/i, 'hex', 'upper-case hex in place of lowercase hex'],
    [
      /^[0-9a-f]{2}(?:[-: ][0-9a-f]{2})+$/i,
      'hex',
      'hex with separators between the bytes in place of plain lowercase hex',
    ],
    [/^[A-Za-z0-9+/]+={0,2}$/, 'base64', 'base64 in place of lowercase hex'],
    [/^[\w-]+={0,2}$/, 'base64', 'base64url in place of lowercase hex'],
  ];
const TWICE_ENCODED = /^[0-9a-f]{64}$/i;
const REMEDY = 'Send X-MP-SIGNATURE as 64 lowercase hex digits and nothing else.';

/** Reads a signature; undefined for a text that is no digest in any known form. */
export function readSignature(text: string): ReadSignature | undefined {
  const findings: Finding[] = [];
  const note = (made: string) => findings.push({ component: 'encoding', made, remedy: REMEDY });

  const bare = text.trim().replace(/^(["'])(.*)\1$/, '$2');
  if (bare !== text) note('quotes or blanks around the signature');
  const digits = bare.replace(PREFIX, '');
  if (digits !== bare) {
    note(`${JSON.stringify(bare.slice(0, -digits.length))} before the signature`);
  }
  let bytes = Buffer.from(digits, 'hex');
  if (!RIGHT_FORM.test(digits)) {
    const other = OTHER_FORMS.find(([form]) => form.test(digits));
    if (other === undefined) return undefined;
    const [, encoding, made] = other;
    bytes = Buffer.from(encoding === 'hex' ? digits.replace(SEPARATOR, '') : digits, encoding);
    note(made);
  }
  const inner = bytes.toString('latin1');
  if (TWICE_ENCODED.test(inner)) {
    note('the hex digits encoded once more instead of the digest itself');
    bytes = Buffer.from(inner, 'hex');
  }
  const hash = HASHES.get(bytes.length);
  if (hash === undefined) return undefined;
  if (hash !== 'sha256') {
    const made = `${hash.toUpperCase().replace('SHA', 'SHA-')} in place of SHA-256`;
    findings.push({ component: 'algorithm', made, remedy: 'Use HMAC-SHA256.' });
  }
  return { bytes, hash, findings };
}
