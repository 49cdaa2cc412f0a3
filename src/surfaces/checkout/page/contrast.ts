/** Red, green and blue, each from 0 to 255. */
export type Rgb = readonly [number, number, number];

/** @param color As `#rrggbb`. */
export function parseRgb(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 0xff, value & 0xff];
}

export function toHex(color: Rgb): string {
  return `#${color.map(value => Math.round(value).toString(16).padStart(2, '0')).join('')}`;
}

/** @param share Of the other colour, from 0 to 1. */
export function mix(color: Rgb, other: Rgb, share: number): Rgb {
  const one = (index: 0 | 1 | 2) => Math.round(color[index] * (1 - share) + other[index] * share);
  return [one(0), one(1), one(2)];
}

/** The ratio of two colours' contrast, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: Rgb, other: Rgb): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** WCAG 2.2, "relative luminance". */
function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map(value => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
