import fc from 'fast-check';
import decodeQR from 'qr/decode.js';
import { expect, test } from 'vitest';
import { renderQrCode } from '#surfaces/pages/qr-code.ts';

/** Pixels per module. */
const SCALE = 4;

/** Renders the rectangles of an SVG: white except for the shapes of its last path. */
function draw(svg: string) {
  const size = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
  const width = size * SCALE;
  const data = new Uint8Array(width * width * 4).fill(255);
  const [, path = ''] = /<path d="([^"]*)"/.exec(svg) ?? [];
  const shapes = [...path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)];
  expect(shapes.map(([shape]) => shape).join('')).toBe(path);
  for (const [, x = 0, y = 0, length = 0] of shapes.map(shape => shape.map(Number))) {
    for (let row = y * SCALE; row < (y + 1) * SCALE; row += 1) {
      const start = (row * width + x * SCALE) * 4;
      for (let at = start; at < start + length * SCALE * 4; at += 1) if (at % 4 < 3) data[at] = 0;
    }
  }
  return { width, height: width, data };
}

const scan = (text: string) => decodeQR(draw(renderQrCode(text, 'A code').markup));

test.each([
  'bitcoin:bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq?amount=0.00042317',
  'ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=0x52908400098527886E0F7030069857D2E4169EE7&uint256=49500001',
  'solana:7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV?amount=49.5&spl-token=EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v&reference=82ZJ7nbGpixjeDCmEhUcmwXYfvurzAgGdtSMuHnUgyny',
  'otpauth://totp/External%20Payments:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=External%20Payments',
  'TLyqzVGLV1srkB7dToTAEqgDSfPtXRJZYH',
])('a scanner reads %s', text => {
  expect(scan(text)).toBe(text);
});

test('a scanner reads what was written', () => {
  const text = fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme' });
  fc.assert(
    fc.property(text, written => {
      expect(scan(written)).toBe(written);
    }),
    { numRuns: 30 },
  );
});
