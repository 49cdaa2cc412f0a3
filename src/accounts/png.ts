import { crc32 } from 'node:zlib';

/** An image cut to the chunks that show it. */
export interface CutImage {
  readonly width: number;
  readonly height: number;
  /** undefined for an image that is damaged or cut short. */
  readonly content: Buffer | undefined;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Length and name of the first chunk, whose data begins with width and height. */
const HEADER = Buffer.from('\0\0\0\x0dIHDR', 'latin1');
/** Chunks that affect what is shown, animations included, with the maximum bytes of the short ones. */
const SHOWN: ReadonlyMap<string, number> = new Map([
  ...([
    ['IHDR', 13],
    ['PLTE', 768],
    ['tRNS', 256],
  ] as const),
  ...([
    ['sRGB', 1],
    ['gAMA', 4],
    ['cHRM', 32],
    ['cICP', 4],
  ] as const),
  ...([
    ['acTL', 8],
    ['fcTL', 26],
  ] as const),
  ...(['IDAT', 'fdAT', 'IEND'] as const).map(name => [name, Number.POSITIVE_INFINITY] as const),
]);

/**
 * A PNG image (W3C PNG, third edition) without texts, profiles and other metadata, and without what follows its end;
 * undefined for anything else.
 */
export function cutPng(bytes: Buffer): CutImage | undefined {
  const beginning = Buffer.concat([SIGNATURE, HEADER]);
  const at = beginning.length;
  if (!bytes.subarray(0, at).equals(beginning) || bytes.length < at + 8) return undefined;
  const chunks = shownChunks(bytes);
  return {
    width: bytes.readUInt32BE(at),
    height: bytes.readUInt32BE(at + 4),
    content: chunks && Buffer.concat([SIGNATURE, ...chunks]),
  };
}

/** The shown chunks, from the first to IEND; undefined if IEND is missing or a checksum is wrong. */
function shownChunks(bytes: Buffer): Buffer[] | undefined {
  const chunks: Buffer[] = [];
  let hasData = false;
  // Each chunk: length, name, data, and a checksum of name and data.
  for (let at = SIGNATURE.length; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const end = at + 12 + length;
    if (end > bytes.length) return undefined;
    if (crc32(bytes.subarray(at + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) return undefined;
    const name = bytes.toString('latin1', at + 4, at + 8);
    if (length <= (SHOWN.get(name) ?? -1)) chunks.push(bytes.subarray(at, end));
    hasData ||= name === 'IDAT';
    if (name === 'IEND') return hasData ? chunks : undefined;
    at = end;
  }
  return undefined;
}
