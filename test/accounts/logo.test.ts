import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ImageRefused,
  LOGO_BYTES_MAXIMUM,
  LOGO_PIXELS_MAXIMUM,
  parseLogo,
} from '../../src/accounts/logo.ts';

/** A PNG image as far as its header. */
function png(width = 3, height = 2): Buffer {
  const bytes = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000', 'hex');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

/** Written by libwebp: 8 × 8 lossless, 40 × 20 lossy with an alpha channel, and its picture alone. */
const LOSSLESS = Buffer.from('UklGRhwAAABXRUJQVlA4TBAAAAAvB8ABAAdQwChg/wMR0f8A', 'base64');
const ALPHA = Buffer.from(
  'UklGRowAAABXRUJQVlA4WAoAAAAQAAAAJwAAEwAAQUxQSAoAAAABB9DMiAhERP8DVlA4IFwAAAAwBACdASooABQAPxFws1K/paSisBVaq/AiCWgAs66S7wEX/AJUnlpznmAA/uucWWsmCcETuGz//iPdp+f5Fc//76GUDO63+3j62Mzn5/Kgu8Er3MVCKvS1PT34AA==',
  'base64',
);
const LOSSY = Buffer.concat([ALPHA.subarray(0, 12), ALPHA.subarray(48)]);

/** A WebP image that says it is larger. */
function enlarged(image: Buffer, at: number, bytes: string): Buffer {
  const larger = Buffer.from(image);
  larger.write(bytes, at, 'hex');
  return larger;
}

test.each([
  ['PNG', 'image/png', png()],
  ['the largest PNG', 'image/png', png(LOGO_PIXELS_MAXIMUM, LOGO_PIXELS_MAXIMUM)],
  ['lossless WebP', 'image/webp', LOSSLESS],
  ['lossy WebP', 'image/webp', LOSSY],
  ['WebP with an alpha channel', 'image/webp', ALPHA],
])('%s is taken as it is', (_, type, content) => {
  expect(parseLogo(content)).toEqual({ type, content });
});

test.each([
  ['nothing', Buffer.alloc(0), 'neither PNG nor WebP'],
  ['markup', Buffer.from('<svg onload="alert(1)"/>'), 'neither PNG nor WebP'],
  ['a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), 'neither PNG nor WebP'],
  ['a name alone', Buffer.from('.PNG<script>'), 'neither PNG nor WebP'],
  ['a PNG cut short', png().subarray(0, -1), 'neither PNG nor WebP'],
  ['a PNG of no size', png(0), '0 × 2 pixels'],
  ['a PNG that is too wide', png(513), '513 × 2 pixels'],
  ['a PNG that is too high', png(1, 2 ** 32 - 1), '1 × 4294967295 pixels'],
  ['a PNG with too many bytes', Buffer.concat([png(), Buffer.alloc(8192)]), 'at most 8192 are'],
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
        expect(parseLogo(bytes).content.length).toBeLessThanOrEqual(LOGO_BYTES_MAXIMUM);
      } catch (error) {
        expect(error).toBeInstanceOf(ImageRefused);
      }
    }),
    { numRuns: 500 },
  );
});
