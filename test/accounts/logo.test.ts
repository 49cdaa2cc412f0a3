import { crc32, deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ImageRefused } from '../../src/accounts/logo/image.ts';
import { LOGO_BYTES_MAXIMUM, parseLogo } from '../../src/accounts/logo/logo.ts';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

function pngChunk(name: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const around = Buffer.alloc(8);
  around.writeUInt32BE(data.length, 0);
  around.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([around.subarray(0, 4), named, around.subarray(4)]);
}

interface Header {
  width?: number;
  height?: number;
  depth?: number;
  color?: number;
  interlace?: number;
}

function header({ width = 3, height = 2, depth = 8, color = 6, interlace = 0 }: Header = {}) {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([depth, color, 0, 0, interlace], 8);
  return pngChunk('IHDR', data);
}

/** Pixels of 3 × 2 with four samples each, and the filter's byte before each row. */
const PIXELS = pngChunk('IDAT', deflateSync(Buffer.alloc(2 * (1 + 3 * 4))));
const END = pngChunk('IEND');
const png = (...chunks: Buffer[]) => Buffer.concat([SIGNATURE, ...chunks]);
const PNG = png(header(), PIXELS, END);

function webpChunk(name: string, data: Buffer): Buffer {
  const head = Buffer.from(`${name}0000`, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

function webp(...chunks: Buffer[]): Buffer {
  const body = Buffer.concat([Buffer.from('WEBP', 'latin1'), ...chunks]);
  const head = Buffer.from('RIFF0000', 'latin1');
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}

/** Written by libwebp: 8 × 8 lossless, and 40 × 20 lossy with an alpha channel. */
const LOSSLESS = Buffer.from('UklGRhwAAABXRUJQVlA4TBAAAAAvB8ABAAdQwChg/wMR0f8A', 'base64');
const ALPHA = Buffer.from(
  'UklGRowAAABXRUJQVlA4WAoAAAAQAAAAJwAAEwAAQUxQSAoAAAABB9DMiAhERP8DVlA4IFwAAAAwBACdASooABQAPxFws1K/paSisBVaq/AiCWgAs66S7wEX/AJUnlpznmAA/uucWWsmCcETuGz//iPdp+f5Fc//76GUDO63+3j62Mzn5/Kgu8Er3MVCKvS1PT34AA==',
  'base64',
);

describe('an image is kept without what is beside its pixels', () => {
  test('PNG', () => {
    expect(parseLogo(PNG)).toEqual({ type: 'image/png', content: PNG });
    const told = png(
      header(),
      pngChunk('tEXt', Buffer.from('Author\0Somebody')),
      pngChunk('eXIf', Buffer.from('where it was taken')),
      PIXELS,
      END,
    );
    expect(parseLogo(told).content.equals(PNG)).toBe(true);
  });

  test('WebP', () => {
    expect(parseLogo(LOSSLESS)).toEqual({ type: 'image/webp', content: LOSSLESS });
    expect(parseLogo(ALPHA).content.equals(ALPHA)).toBe(true);
    const exif = webpChunk('EXIF', Buffer.from('where it was taken'));
    const told = webp(LOSSLESS.subarray(12), exif);
    expect(parseLogo(told).content.equals(LOSSLESS)).toBe(true);
    expect(parseLogo(webp(ALPHA.subarray(12), exif)).content.equals(ALPHA)).toBe(true);
  });
});

describe('anything else is refused', () => {
  const damaged = Buffer.from(PNG);
  damaged[PNG.length - 20] = (damaged[PNG.length - 20] ?? 0) ^ 1;
  const noise = pngChunk('IDAT', Buffer.from(crypto.getRandomValues(new Uint8Array(64))));
  const flat = (width: number, height: number) =>
    pngChunk('IDAT', deflateSync(Buffer.alloc(height * (1 + width * 4))));
  const heavy = Buffer.alloc(300 * (1 + 300 * 4));
  for (let at = 0; at < heavy.length; at += 65_536) {
    crypto.getRandomValues(heavy.subarray(at, at + 65_536));
  }

  test.each([
    ['nothing', Buffer.alloc(0), 'neither PNG nor WebP'],
    ['markup', Buffer.from('<svg onload="alert(1)"/>'), 'neither PNG nor WebP'],
    ['a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), 'neither PNG nor WebP'],
    ['a name alone', Buffer.from('.PNG<script>'), 'is no PNG'],
    ['a PNG cut short', PNG.subarray(0, -5), 'cut short'],
    ['a PNG without an end', png(header(), PIXELS), 'cut short'],
    ['a PNG with something behind it', Buffer.concat([PNG, Buffer.from('PK')]), 'cut short'],
    ['a PNG with another chunk behind its end', png(header(), PIXELS, END, PIXELS), 'cut short'],
    ['a PNG with a wrong checksum', damaged, 'checksum'],
    [
      'a PNG with an unknown chunk that matters',
      png(header(), pngChunk('EVIL'), PIXELS, END),
      'no plain PNG',
    ],
    ['an animated PNG', png(header(), pngChunk('acTL', Buffer.alloc(8)), PIXELS, END), 'animated'],
    ['an interlaced PNG', png(header({ interlace: 1 }), PIXELS, END), 'interlaced'],
    ['a PNG of noise', png(header(), noise, END), 'other pixels'],
    ['a PNG with too few pixels', png(header({ height: 3 }), PIXELS, END), 'other pixels'],
    ['a PNG with too many', png(header({ height: 1 }), PIXELS, END), 'other pixels'],
    ['a PNG of no size', png(header({ width: 0 }), PIXELS, END), '0 × 2 pixels'],
    ['a PNG that is too wide', png(header({ width: 513 }), flat(513, 2), END), '513 × 2 pixels'],
    ['a PNG of colours there are not', png(header({ color: 5 }), PIXELS, END), 'no plain PNG'],
    [
      'a PNG with too many bytes',
      png(header({ width: 300, height: 300 }), pngChunk('IDAT', deflateSync(heavy)), END),
      `at most ${LOGO_BYTES_MAXIMUM}`,
    ],
    ['a WebP cut short', LOSSLESS.subarray(0, -2), 'cut short'],
    ['a WebP with something behind it', Buffer.concat([LOSSLESS, Buffer.from('PK')]), 'cut short'],
    ['a WebP without a picture', webp(webpChunk('EXIF', Buffer.alloc(4))), 'cut short'],
    ['a WebP with two', webp(LOSSLESS.subarray(12), LOSSLESS.subarray(12)), 'cut short'],
    [
      'an animated WebP',
      webp(webpChunk('ANIM', Buffer.alloc(6)), LOSSLESS.subarray(12)),
      'animated',
    ],
    ['a WebP that is no key frame', webp(webpChunk('VP8 ', Buffer.alloc(20, 1))), 'cut short'],
    [
      'a WebP that is too wide',
      webp(webpChunk('VP8L', Buffer.from('2fffff3f00', 'hex'))),
      '16384 × ',
    ],
  ])('%s', (_what, bytes, why) => {
    expect(() => parseLogo(bytes)).toThrow(ImageRefused);
    expect(() => parseLogo(bytes)).toThrow(why);
  });

  test('whatever it is, nothing but a refusal comes of it', () => {
    const spoilt = fc
      .tuple(
        fc.constantFrom(PNG, LOSSLESS, ALPHA),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        fc.nat({ max: 20 }),
      )
      .map(([image, place, flip, cut]) => {
        const bytes = Buffer.from(image.subarray(0, image.length - cut));
        const at = place % bytes.length;
        bytes[at] = (bytes[at] ?? 0) ^ flip;
        return bytes;
      });
    fc.assert(
      fc.property(fc.oneof(spoilt, fc.uint8Array({ maxLength: 64 }).map(Buffer.from)), bytes => {
        try {
          // A flipped pixel is still a picture; what is kept is read the same again.
          const { content } = parseLogo(bytes);
          expect(parseLogo(content).content.equals(content)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(ImageRefused);
        }
      }),
      { numRuns: 500 },
    );
  });
});
