import { type Image, ImageRefused, requireSize } from './image.ts';

/** RIFF, the length of the rest, WEBP. */
const HEAD_BYTES = 12;
/** Name and length of a chunk. */
const CHUNK_HEAD_BYTES = 8;
/** Bit of VP8X for an image that is not opaque (RFC 9649 §2.7.1). */
const ALPHA = 0x10;

interface Chunk {
  readonly name: string;
  readonly data: Buffer;
}

/**
 * Reads a WebP image (RFC 9649): the lengths of its chunks, and the one still picture in it. Animated images
 * are refused.
 * @throws ImageRefused
 */
export function readWebp(bytes: Buffer): Image {
  const damaged = new ImageRefused('is cut short or damaged');
  if (bytes.length < HEAD_BYTES || bytes.toString('latin1', 0, 4) !== 'RIFF') throw damaged;
  if (bytes.readUInt32LE(4) !== bytes.length - 8) throw damaged;
  const chunks = listChunks(bytes.subarray(HEAD_BYTES));
  if (chunks === undefined) throw damaged;
  if (chunks.some(({ name }) => name === 'ANIM' || name === 'ANMF')) {
    throw new ImageRefused('is animated');
  }
  const pictures = chunks.filter(({ name }) => name === 'VP8 ' || name === 'VP8L');
  const [picture] = pictures;
  const size = picture && sizeOf(picture);
  if (picture === undefined || pictures.length > 1 || size === undefined) throw damaged;
  requireSize(size.width, size.height);
  // The alpha channel of a lossy picture is a chunk of its own, in front of it.
  const alpha = chunks.find(({ name }) => name === 'ALPH');
  const kept =
    alpha === undefined || picture.name === 'VP8L'
      ? [picture]
      : [extendedHeader(size), alpha, picture];
  return { ...size, content: write(kept) };
}

/** undefined when a length does not fit. */
function listChunks(bytes: Buffer): Chunk[] | undefined {
  const chunks: Chunk[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + CHUNK_HEAD_BYTES > bytes.length) return undefined;
    const start = at + CHUNK_HEAD_BYTES;
    const length = bytes.readUInt32LE(at + 4);
    const data = bytes.subarray(start, start + length);
    if (data.length !== length) return undefined;
    chunks.push({ name: bytes.toString('latin1', at, at + 4), data });
    at = start + length + (length % 2);
  }
  return chunks;
}

/** The size that a picture itself names (RFC 6386 §9.1, RFC 9649 §3.4); undefined for none. */
function sizeOf({ name, data }: Chunk): Pick<Image, 'width' | 'height'> | undefined {
  if (name === 'VP8 ') {
    const isKeyFrame = data.length >= 10 && ((data[0] ?? 1) & 1) === 0;
    if (!isKeyFrame || data.toString('hex', 3, 6) !== '9d012a') return undefined;
    return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff };
  }
  if (data.length < 5 || data[0] !== 0x2f) return undefined;
  const bits = data.readUInt32LE(1);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}

function extendedHeader({ width, height }: Pick<Image, 'width' | 'height'>): Chunk {
  const data = Buffer.alloc(10);
  data[0] = ALPHA;
  data.writeUIntLE(width - 1, 4, 3);
  data.writeUIntLE(height - 1, 7, 3);
  return { name: 'VP8X', data };
}

function write(chunks: readonly Chunk[]): Buffer {
  const body = Buffer.concat(
    chunks.flatMap(({ name, data }) => {
      const head = Buffer.alloc(CHUNK_HEAD_BYTES);
      head.write(name, 'latin1');
      head.writeUInt32LE(data.length, 4);
      return [head, data, Buffer.alloc(data.length % 2)];
    }),
  );
  const head = Buffer.alloc(HEAD_BYTES);
  head.write('RIFF', 'latin1');
  head.writeUInt32LE(body.length + 4, 4);
  head.write('WEBP', 8, 'latin1');
  return Buffer.concat([head, body]);
}
