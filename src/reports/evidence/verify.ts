import { createHash, verify } from 'node:crypto';
import { canonicalJson } from './canonical.ts';
import { type PublicJwk, toPublicKey } from './keys.ts';
import type { Signed } from './sign.ts';

const NUMBER = /-?\d[-+.\deE]*/g;
const SIGNED: readonly string[] = ['evidence', 'signature', 'keyId'];

/**
 * How a document begins that is the last line of a file. It cannot occur within a line of JSON, which has no
 * line breaks.
 */
const LAST_LINE = '\n{"evidence":';

/** The member of a document that signs the lines before it in its file. */
export interface SignedLines {
  readonly lines: { readonly bytes: number; readonly sha256: string };
}

/** A document is not valid evidence. The message is a whole sentence on one line. */
export class EvidenceRefused extends Error {
  override readonly name = 'EvidenceRefused';
}

/**
 * Reads a document in which every byte is either signed or meaningless. White space, the order of members and
 * escapes in strings are free. Refuses whatever readers could interpret differently: duplicate members,
 * members beside the signed ones, numbers spelled otherwise than they were signed, and text that is not
 * UTF-8. A document that signs lines comes after them in one file, of which every byte counts.
 * @param content The file.
 * @throws EvidenceRefused also when the signature does not fit.
 */
export function verifyEvidence(content: Uint8Array, keys: readonly unknown[]): Signed<unknown> {
  const file = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const start = file.lastIndexOf(LAST_LINE) + 1;
  const document = verifyDocument(file.subarray(start), keys);
  const lines = isObject(document.evidence) ? document.evidence.lines : undefined;
  if (!isObject(lines)) return start === 0 ? document : verifyDocument(file, keys);
  const before = file.subarray(0, start);
  const hash = createHash('sha256').update(before).digest('hex');
  if (lines.bytes === before.length && lines.sha256 === hash) return document;
  throw new EvidenceRefused('The lines before the signature are not the signed ones.');
}

function verifyDocument(content: Uint8Array, keys: readonly unknown[]): Signed<unknown> {
  try {
    return verifySignature(readDocument(content), keys);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new EvidenceRefused('It is nested too deeply.');
  }
}

function verifySignature(document: Signed<unknown>, keys: readonly unknown[]): Signed<unknown> {
  const { evidence, signature, keyId } = document;
  const key = keys.filter(isObject).find(({ kid }) => kid === keyId);
  if (key === undefined) {
    throw new EvidenceRefused(`The key ${JSON.stringify(keyId)} is not among the public keys.`);
  }
  if (!isEd25519(key)) throw new EvidenceRefused(`The public key ${keyId} is no Ed25519 key.`);
  const bytes = Buffer.from(signature, 'base64');
  // Node skips characters that are not base64, and everything after the padding.
  const isPlain = bytes.toString('base64') === signature;
  if (isPlain && verify(null, Buffer.from(canonicalJson(evidence)), toPublicKey(key), bytes)) {
    return document;
  }
  throw new EvidenceRefused('The signature does not fit: the document was changed.');
}

function readDocument(content: Uint8Array): Signed<unknown> {
  const text = readText(content);
  const document = parse(text);
  if (!isObject(document) || !isSigned(document)) {
    throw new EvidenceRefused('It is no evidence: it needs evidence, signature and keyId.');
  }
  const unsigned = Object.keys(document).find(name => !SIGNED.includes(name));
  if (unsigned !== undefined) {
    throw new EvidenceRefused(`The member ${JSON.stringify(unsigned)} is not signed.`);
  }
  const pieces = outsideStrings(text);
  // Of a duplicate member, only the last one has been parsed.
  if (countMembers(pieces) !== countMembers(outsideStrings(JSON.stringify(document)))) {
    throw new EvidenceRefused(
      'A member is there twice, so that readers may differ in what it says.',
    );
  }
  // The signature covers numbers as they are parsed: 5000.0000000000000001 has become 5000.
  const numbers = pieces.flatMap(piece => piece.match(NUMBER) ?? []);
  const respelled = numbers.find(each => String(Number(each)) !== each);
  if (respelled !== undefined) {
    throw new EvidenceRefused(
      `The number ${respelled} is spelled otherwise than it was signed, so that readers may differ in what it says.`,
    );
  }
  return document;
}

function readText(content: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw new EvidenceRefused('It is not UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new EvidenceRefused('It is no JSON.');
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isSigned(
  document: Readonly<Record<string, unknown>>,
): document is Readonly<Record<string, unknown>> & Signed<unknown> {
  const { evidence, signature, keyId } = document;
  return isObject(evidence) && typeof signature === 'string' && typeof keyId === 'string';
}

function isEd25519(
  key: Readonly<Record<string, unknown>>,
): key is Record<string, unknown> & PublicJwk {
  const { kty, crv, x } = key;
  return kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string' && /^[\w-]{43}$/.test(x);
}

/**
 * The parts of JSON text before, between and after its strings. Reads each character once: a regular expression for
 * strings would start anew at each quote of a hostile text, and overflow the stack in a string of some megabytes.
 */
function outsideStrings(json: string): string[] {
  const pieces: string[] = [];
  let after = 0;
  for (let quote = json.indexOf('"'); quote >= 0; quote = json.indexOf('"', after)) {
    pieces.push(json.slice(after, quote));
    after = quote + 1;
    while (after < json.length && json[after] !== '"') after += json[after] === '\\' ? 2 : 1;
    after += 1;
  }
  pieces.push(json.slice(after));
  return pieces;
}

/** The number of members in JSON text: strings that are followed by a colon. */
function countMembers(pieces: readonly string[]): number {
  return pieces.filter(piece => piece.trimStart().startsWith(':')).length;
}
