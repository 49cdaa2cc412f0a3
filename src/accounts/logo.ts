/** Most bytes of a logo: with it, every checkout page stays below 50 KB. */
export const LOGO_BYTES_MAXIMUM = 8 * 1024;
/** Most pixels of a side: four for each that the page shows. */
export const LOGO_PIXELS_MAXIMUM = 512;

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The length and the name of the first chunk, which begins with width and height. */
const PNG_HEADER = Buffer.from('\0\0\0\x0dIHDR', 'latin1');

export type LogoType = 'image/png' | 'image/webp';

/** An image, as it was given and is served. */
export interface Logo {
  readonly type: LogoType;
  readonly content: Buffer;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** An image is refused. The message completes a sentence after the file's name. */
export class ImageRefused extends Error {
  override readonly name = 'ImageRefused';
}

/**
 * Checks a PNG or WebP image: its signature, its size in bytes, and the pixels that its header declares. It is
 * served with its type and `nosniff`, so that browsers treat it as nothing but an image.
 * @throws ImageRefused
 */
export function parseLogo(content: Buffer): Logo {
  if (content.length > LOGO_BYTES_MAXIMUM) {
    throw new ImageRefused(`has ${content.length} bytes: at most ${LOGO_BYTES_MAXIMUM} are taken`);
  }
  const png = sizeOfPng(content);
  const size = png ?? sizeOfWebp(content);
  if (size === undefined) throw new ImageRefused('is neither PNG nor WebP');
  const { width, height } = size;
  const longest = Math.max(width, height);
  if (width === 0 || height === 0 || longest > LOGO_PIXELS_MAXIMUM) {
    throw new ImageRefused(
      `has ${width} × ${height} pixels: at most ${LOGO_PIXELS_MAXIMUM} × ${LOGO_PIXELS_MAXIMUM} are taken`,
    );
  }
  return { type: png === undefined ? 'image/webp' : 'image/png', content };
}

/** The size in the header of a PNG image (W3C PNG, third edition); undefined for anything else. */
function sizeOfPng(bytes: Buffer): Size | undefined {
  const beginning = Buffer.concat([PNG_SIGNATURE, PNG_HEADER]);
  const at = beginning.length;
  if (!bytes.subarray(0, at).equals(beginning) || bytes.length < at + 8) return undefined;
  return { width: bytes.readUInt32BE(at), height: bytes.readUInt32BE(at + 4) };
}

/** The size in the first chunk of a WebP image (RFC 9649 §2, RFC 6386 §9.1); undefined for anything else. */
function sizeOfWebp(bytes: Buffer): Size | undefined {
  // RIFF, a length, WEBP, then the name and the length of the chunk.
  const text = (start: number, end: number) => bytes.toString('latin1', start, end);
  if (text(0, 4) !== 'RIFF' || text(8, 12) !== 'WEBP' || bytes.length < 30) return undefined;
  const data = bytes.subarray(20);
  switch (text(12, 16)) {
    case 'VP8X':
      return { width: 1 + data.readUIntLE(4, 3), height: 1 + data.readUIntLE(7, 3) };
    case 'VP8 ':
      if (data.toString('hex', 3, 6) !== '9d012a') return undefined;
      return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff };
    case 'VP8L': {
      if (data[0] !== 0x2f) return undefined;
      const bits = data.readUInt32LE(1);
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
    }
    default:
      return undefined;
  }
}
