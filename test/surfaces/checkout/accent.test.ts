import fc from 'fast-check';
import { expect, test } from 'vitest';
import { renderAccent } from '#surfaces/checkout/page/accent.ts';
import { contrast, parseRgb } from '#surfaces/checkout/page/contrast.ts';

/** Pairs from WCAG's own examples and limits. */
test.each([
  ['#000000', '#ffffff', 21],
  ['#ffffff', '#ffffff', 1],
  ['#777777', '#ffffff', 4.48],
  ['#0000ff', '#ffffff', 8.59],
])('the contrast of %s and %s is %d', (one, other, ratio) => {
  expect(contrast(parseRgb(one), parseRgb(other))).toBeCloseTo(ratio, 2);
  expect(contrast(parseRgb(other), parseRgb(one))).toBeCloseTo(ratio, 2);
});

/** The values of a property for light and for dark pages. */
function shades(style: string, property: string) {
  const found = new RegExp(`--${property}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`);
  const [, light = '', dark = ''] = found.exec(style) ?? [];
  return { light, dark };
}

const on = (one: string, other: string) => contrast(parseRgb(one), parseRgb(other));

test('any colour gets shades that are legible on every background of the page', () => {
  const colors = fc
    .integer({ min: 0, max: 0xffffff })
    .map(value => `#${value.toString(16).padStart(6, '0')}`);
  fc.assert(
    fc.property(colors, color => {
      const style = renderAccent(color);
      const accent = shades(style, 'accent');
      const text = shades(style, 'on-accent');
      for (const ground of ['#ffffff', '#f4f6f6']) {
        expect(on(accent.light, ground)).toBeGreaterThanOrEqual(4.5);
      }
      for (const ground of ['#0f1315', '#191f22', '#222a2d']) {
        expect(on(accent.dark, ground)).toBeGreaterThanOrEqual(4.5);
      }
      expect(on(text.light, accent.light)).toBeGreaterThanOrEqual(4.5);
      expect(on(text.dark, accent.dark)).toBeGreaterThanOrEqual(4.5);
    }),
  );
});

test('a legible colour is kept', () => {
  expect(shades(renderAccent('#0f766e'), 'accent').light).toBe('#0f766e');
  expect(shades(renderAccent('#5eead4'), 'accent').dark).toBe('#5eead4');
});
