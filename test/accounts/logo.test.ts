import { crc32, deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ImageRefused,
  LOGO_BYTES_MAXIMUM,
  LOGO_PIXELS_MAXIMUM,
  parseLogo,
} from '#accounts/logo.ts';

function pngChunk(name: string, data: Buffer | string = ''): Buffer {
  const named = Buffer.concat([Buffer.from(name), Buffer.from(data)]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(named.length - 4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** A PNG image of one colour. */
function png(width = 3, height = 2, more: Buffer[] = [], after = ''): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 1;
  return Buffer.concat([
    ...[Buffer.from('89504e470d0a1a0a', 'hex'), pngChunk('IHDR', header), ...more],
    ...[
      pngChunk('gAMA', 'gama'),
      pngChunk('IDAT', deflateSync(Buffer.alloc(2 * Math.min(height, 512)))),
    ],
    ...[pngChunk('IEND'), Buffer.from(after)],
  ]);
}

/** Written by libwebp: 8 × 8 lossless, 40 × 20 lossy with an alpha channel, and only its picture. */
const LOSSLESS = Buffer.from('UklGRhwAAABXRUJQVlA4TBAAAAAvB8ABAAdQwChg/wMR0f8A', 'base64');
const ALPHA = Buffer.from(
  'UklGRowAAABXRUJQVlA4WAoAAAAQAAAAJwAAEwAAQUxQSAoAAAABB9DMiAhERP8DVlA4IFwAAAAwBACdASooABQAPxFws1K/paSisBVaq/AiCWgAs66S7wEX/AJUnlpznmAA/uucWWsmCcETuGz//iPdp+f5Fc//76GUDO63+3j62Mzn5/Kgu8Er3MVCKvS1PT34AA==',
  'base64',
);
const LOSSY = riff(ALPHA.subarray(48));

function riff(...chunks: Buffer[]): Buffer {
  const bytes = Buffer.concat([Buffer.from('RIFF....WEBP'), ...chunks]);
  bytes.writeUInt32LE(bytes.length - 8, 4);
  return bytes;
}

function webpChunk(name: string, data: Buffer | string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(data.length);
  const padding = Buffer.alloc(data.length % 2);
  return Buffer.concat([Buffer.from(name), length, Buffer.from(data), padding]);
}

/** The chunks of ALPHA after a VP8X chunk with these flags. */
const extended = (flags: number, ...more: Buffer[]) => {
  const header = Buffer.from(ALPHA.subarray(12, 30));
  header[8] = flags;
  return riff(header, ...more, ALPHA.subarray(30));
};

/** A WebP image that claims to be larger. */
function enlarged(image: Buffer, at: number, bytes: string): Buffer {
  const larger = Buffer.from(image);
  larger.write(bytes, at, 'hex');
  return larger;
}

test.each([
  ['PNG', 'image/png', png()],
  ['the largest PNG', 'image/png', png(LOGO_PIXELS_MAXIMUM, LOGO_PIXELS_MAXIMUM)],
  ['an animation', 'image/png', png(3, 2, [pngChunk('acTL', 'a'.repeat(8))])],
  ['lossless WebP', 'image/webp', LOSSLESS],
  ['lossy WebP', 'image/webp', LOSSY],
  ['WebP with an alpha channel', 'image/webp', ALPHA],
])('%s is accepted unchanged', (_, type, content) => {
  expect(parseLogo(content)).toEqual({ type, content });
});

const SECRET = '<?php secret();';
const FRAME = Buffer.alloc(16, 1);
const PICTURE = ALPHA.subarray(48);

test.each([
  ['texts', png(3, 2, [pngChunk('tEXt', SECRET), pngChunk('eXIf', SECRET)]), png()],
  ['a profile', png(3, 2, [pngChunk('iCCP', SECRET)]), png()],
  ['a long chunk of colours', png(3, 2, [pngChunk('gAMA', SECRET)]), png()],
  ['bytes after the end', png(3, 2, [], SECRET), png()],
  ['bytes after the end of a WebP', Buffer.concat([LOSSY, Buffer.from(SECRET)]), LOSSY],
  ['an unknown chunk', riff(PICTURE, webpChunk('abcd', SECRET)), LOSSY],
  [
    'EXIF, XMP and a profile',
    extended(0x3c, ...['ICCP', 'EXIF', 'XMP '].map(name => webpChunk(name, SECRET))),
    extended(0x10),
  ],
  [
    'a chunk in a frame',
    extended(2, webpChunk('ANMF', Buffer.concat([FRAME, PICTURE, webpChunk('abcd', SECRET)]))),
    extended(2, webpChunk('ANMF', Buffer.concat([FRAME, PICTURE]))),
  ],
])('%s are not served', (_, given, content) => {
  expect(given.includes(SECRET)).toBe(true);
  expect(parseLogo(given).content.equals(content)).toBe(true);
});

test.each([
  ['nothing', Buffer.alloc(0), 'neither PNG nor WebP'],
  ['markup', Buffer.from('<svg onload="alert(1)"/>'), 'neither PNG nor WebP'],
  ['a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), 'neither PNG nor WebP'],
  ['a name alone', Buffer.from('.PNG<script>'), 'neither PNG nor WebP'],
  ['a PNG header cut short', png().subarray(0, 23), 'neither PNG nor WebP'],
  ['a PNG cut short', png().subarray(0, -1), 'damaged or cut short'],
  ['a PNG with a wrong checksum', enlarged(png(), 24, '08'), 'damaged or cut short'],
  ['a PNG of no chunks', png().subarray(0, 33), 'damaged or cut short'],
  ['a WebP chunk cut short', LOSSY.subarray(0, -1), 'damaged or cut short'],
  ['a WebP without a picture', riff(ALPHA.subarray(12, 30)), 'damaged or cut short'],
  ['a PNG of no size', png(0), '0 × 2 pixels'],
  ['a PNG that is too wide', png(513), '513 × 2 pixels'],
  ['a PNG that is too high', png(1, 2 ** 32 - 1), '1 × 4294967295 pixels'],
  [
    'a PNG with too many bytes',
    Buffer.concat([png(), Buffer.alloc(LOGO_BYTES_MAXIMUM)]),
    `at most ${LOGO_BYTES_MAXIMUM} are`,
  ],
  ['a WebP cut short', LOSSY.subarray(0, 29), 'neither PNG nor WebP'],
  ['a sound', Buffer.from('RIFF....WAVEfmt ..............'), 'neither PNG nor WebP'],
  ['a lossless WebP that is too wide', enlarged(LOSSLESS, 21, 'ffff3f00'), '16384 × 256 pixels'],
  ['a lossy WebP that is too wide', enlarged(LOSSY, 26, 'ff3f'), '16383 × 20 pixels'],
  ['a WebP whose canvas is too wide', enlarged(ALPHA, 24, '000200'), '513 × 20 pixels'],
])('%s is refused', (_what, bytes, why) => {
  expect(() => parseLogo(bytes)).toThrow(ImageRefused);
  expect(() => parseLogo(bytes)).toThrow(why);
});

test('any file is refused, or is a small image', () => {
  const spoilt = fc
    .tuple(fc.constantFrom(png(), LOSSLESS, LOSSY, ALPHA), fc.nat(), fc.nat(255), fc.nat(30))
    .map(([image, place, put, cut]) => {
      const bytes = Buffer.from(image.subarray(0, image.length - cut));
      if (bytes.length > 0) bytes[place % bytes.length] = put;
      return bytes;
    });
  fc.assert(
    fc.property(fc.oneof(spoilt, fc.uint8Array({ maxLength: 64 }).map(Buffer.from)), bytes => {
      try {
        const { content } = parseLogo(bytes);
        expect(content.length).toBeLessThanOrEqual(LOGO_BYTES_MAXIMUM);
        expect(parseLogo(content).content.equals(content)).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(ImageRefused);
      }
    }),
    { numRuns: 500 },
  );
});
