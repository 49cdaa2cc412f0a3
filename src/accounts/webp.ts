import type { CutImage } from './png.ts';

/** Chunks that affect what is shown, animations included (RFC 9649 §2.7). */
const SHOWN: ReadonlySet<string> = new Set(['VP8X', 'VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ANMF']);
/** Chunks that hold a picture. */
const PICTURES: ReadonlySet<string> = new Set(['VP8 ', 'VP8L', 'ANMF']);
/** Bytes of a frame of an animation before its own chunks. */
const FRAME_HEADER = 16;
/** Flags of VP8X for alpha and animation; the others announce a profile and metadata. */
const SHOWN_FLAGS = 0x12;

/**
 * A WebP image (RFC 9649) without profile, EXIF, XMP and unknown chunks, and without what follows its end; undefined
 * for anything else.
 */
export function cutWebp(bytes: Buffer): CutImage | undefined {
  const size = sizeOf(bytes);
  if (size === undefined) return undefined;
  // Skips RIFF, a length and WEBP. The length covers WEBP and the chunks.
  const chunks = shownChunks(bytes.subarray(12, 8 + bytes.readUInt32LE(4)));
  if (chunks === undefined) return { ...size, content: undefined };
  const content = Buffer.concat([bytes.subarray(0, 12), ...chunks]);
  content.writeUInt32LE(content.length - 8, 4);
  return { ...size, content };
}

/** undefined if a chunk is cut short, or there is no picture. */
function shownChunks(bytes: Buffer): Buffer[] | undefined {
  const chunks: Buffer[] = [];
  let hasPicture = false;
  // Each chunk: name, length, data, and a padding byte if the length is odd.
  for (let at = 0; at < bytes.length; ) {
    if (at + 8 > bytes.length) return undefined;
    const name = bytes.toString('latin1', at, at + 4);
    const data = bytes.subarray(at + 8, at + 8 + bytes.readUInt32LE(at + 4));
    if (data.length < bytes.readUInt32LE(at + 4)) return undefined;
    if (SHOWN.has(name)) {
      const shown = shownData(name, data);
      if (shown === undefined) return undefined;
      chunks.push(chunkOf(bytes.subarray(at, at + 4), shown));
    }
    hasPicture ||= PICTURES.has(name);
    at += 8 + data.length + (data.length % 2);
  }
  return hasPicture ? chunks : undefined;
}

function shownData(name: string, data: Buffer): Buffer | undefined {
  if (name === 'VP8X') {
    const flags = Buffer.from(data.subarray(0, 10));
    flags[0] = (flags[0] ?? 0) & SHOWN_FLAGS;
    return flags;
  }
  if (name !== 'ANMF') return data;
  const chunks = shownChunks(data.subarray(FRAME_HEADER));
  return chunks && Buffer.concat([data.subarray(0, FRAME_HEADER), ...chunks]);
}

function chunkOf(name: Buffer, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(data.length);
  return Buffer.concat([name, length, data, Buffer.alloc(data.length % 2)]);
}

/** The size in the first chunk (RFC 9649 §2, RFC 6386 §9.1). */
function sizeOf(bytes: Buffer): Pick<CutImage, 'width' | 'height'> | undefined {
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
