import { Type } from '@sinclair/typebox';
import type { FastifyContextConfig } from 'fastify';
import type { TypedApp } from '#http/typed-app.ts';
import { CHECKOUT_PREFIX } from '#payments/checkout-path.ts';
import { contrast, mix, parseRgb, type Rgb, toHex } from './contrast.ts';

/** Least contrast between text and background under WCAG 2.2, level AA (1.4.3). */
const READABLE = 4.5;
/** The backgrounds in base.css on which text in the accent colour has the least contrast: page and card. */
const LIGHT_GROUND = parseRgb('#f4f6f6');
const DARK_GROUND = parseRgb('#222a2d');
const BLACK = parseRgb('#000000');
const WHITE = parseRgb('#ffffff');
/** Steps from a colour to black or white. */
const STEPS = 50;

/** @param color As `#rrggbb`. */
export function accentPath(basePath: string, color: string): string {
  return `${basePath}${CHECKOUT_PREFIX}/accents/${color.slice(1)}.css`;
}

/**
 * GET /checkout/accents/:name, the style sheet of the accent colour in its name.
 * @param config Restricts who may load it; everybody by default.
 */
export function registerAccents(app: TypedApp, config: FastifyContextConfig = {}): void {
  const params = Type.Object({ name: Type.String({ pattern: '^[0-9a-f]{6}\\.css$' }) });
  app.get('/accents/:name', { config, schema: { params } }, (request, reply) =>
    reply
      .type('text/css; charset=utf-8')
      .header('cache-control', 'public, max-age=86400')
      .send(renderAccent(`#${request.params.name.slice(0, 6)}`)),
  );
}

/**
 * The shades of a merchant's colour that are readable on light and on dark pages, and the text colours that are
 * readable on them. The colour itself is used if its contrast suffices.
 * @param color As `#rrggbb`.
 */
export function renderAccent(color: string): string {
  const rgb = parseRgb(color);
  const light = untilReadable(rgb, LIGHT_GROUND, BLACK);
  const dark = untilReadable(rgb, DARK_GROUND, WHITE);
  return `:root {
  --accent: light-dark(${toHex(light)}, ${toHex(dark)});
  --on-accent: light-dark(${toHex(clearerOn(light))}, ${toHex(clearerOn(dark))});
  --tint: color-mix(in srgb, var(--accent) 10%, var(--card));
}
`;
}

/** The colour, mixed with just enough of `toward` to be readable on the background. */
function untilReadable(color: Rgb, ground: Rgb, toward: Rgb): Rgb {
  for (let step = 0; step < STEPS; step += 1) {
    const shade = mix(color, toward, step / STEPS);
    if (contrast(shade, ground) >= READABLE) return shade;
  }
  return toward;
}

function clearerOn(ground: Rgb): Rgb {
  return contrast(WHITE, ground) >= contrast(BLACK, ground) ? WHITE : BLACK;
}
