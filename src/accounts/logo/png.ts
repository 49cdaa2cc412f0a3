import { crc32, inflateSync } from 'node:zlib';
import { type Image, ImageRefused, requireSize } from './image.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Length, name and checksum of a chunk. */
const AROUND_BYTES = 12;
/** Chunks that say how pixels look. All others are left out. */
const KEPT: readonly string[] = ['IHDR', 'PLTE', 'tRNS', 'gAMA', 'sRGB', 'IDAT', 'IEND'];
/** Samples of a pixel by colour type. */
const SAMPLES: ReadonlyMap<number, number> = new Map([
  [0, 1],
  [2, 3],
  [3, 1],
  [4, 2],
  [6, 4],
]);

interface Chunk {
  readonly name: string;
  readonly data: Buffer;
  /** With its length, name and checksum. */
  readonly whole: Buffer;
}

/**
 * Reads a PNG image (W3C PNG, third edition): every checksum, the order of its ends, and that the pixels are
 * as many as the header says. Interlaced and animated images are refused.
 * @throws ImageRefused
 */
export function readPng(bytes: Buffer): Image {
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw new ImageRefused('is no PNG');
  const chunks = listChunks(bytes);
  const header = chunks[0];
  const end = chunks.at(-1);
  if (header?.name !== 'IHDR' || header.data.length !== 13 || end?.name !== 'IEND') {
    throw new ImageRefused('is cut short or damaged');
  }
  for (const { name } of chunks) {
    // An upper-case letter in front marks a chunk that no reader may skip.
    if (/^[A-Z]/.test(name) && !KEPT.includes(name)) throw new ImageRefused('is no plain PNG');
    if (name === 'acTL') throw new ImageRefused('is animated');
  }
  const { width, height, rowBytes } = readHeader(header.data);
  const data = Buffer.concat(chunks.filter(({ name }) => name === 'IDAT').map(each => each.data));
  if (inflate(data, height * (1 + rowBytes)) !== height * (1 + rowBytes)) {
    throw new ImageRefused('has other pixels than its header says');
  }
  const kept = chunks.filter(({ name }) => KEPT.includes(name)).map(({ whole }) => whole);
  return { width, height, content: Buffer.concat([SIGNATURE, ...kept]) };
}

function listChunks(bytes: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  let at = SIGNATURE.length;
  while (at < bytes.length) {
    const length = at + AROUND_BYTES > bytes.length ? 0 : bytes.readUInt32BE(at);
    const whole = bytes.subarray(at, at + AROUND_BYTES + length);
    if (whole.length < AROUND_BYTES + length) throw new ImageRefused('is cut short or damaged');
    const data = whole.subarray(8, -4);
    if (crc32(whole.subarray(4, -4)) !== whole.readUInt32BE(whole.length - 4)) {
      throw new ImageRefused('is damaged: a checksum does not fit');
    }
    chunks.push({ name: whole.toString('latin1', 4, 8), data, whole });
    at += whole.length;
  }
  return chunks;
}

function readHeader(header: Buffer): { width: number; height: number; rowBytes: number } {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth = 0, color = 0, compression, filter, interlace] = header.subarray(8);
  const samples = SAMPLES.get(color);
  if (samples === undefined || ![1, 2, 4, 8, 16].includes(depth) || compression || filter) {
    throw new ImageRefused('is no plain PNG');
  }
  if (interlace !== 0) throw new ImageRefused('is interlaced: save it without');
  // Bounded before the pixels are unpacked.
  requireSize(width, height);
  return { width, height, rowBytes: Math.ceil((width * samples * depth) / 8) };
}

/** Length of what was compressed; 0 if it is damaged or longer than `maximum`. */
function inflate(data: Buffer, maximum: number): number {
  try {
    return inflateSync(data, { maxOutputLength: maximum }).length;
  } catch {
    return 0;
  }
}
