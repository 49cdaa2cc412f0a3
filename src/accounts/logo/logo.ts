import { ImageRefused } from './image.ts';
import { readPng } from './png.ts';
import { readWebp } from './webp.ts';

/** Most bytes of a logo: with it, a checkout page stays below 50 KB, whatever it shows. */
export const LOGO_BYTES_MAXIMUM = 8 * 1024;

export type LogoType = 'image/png' | 'image/webp';

/** An image as it is served: nothing in it but its pixels. */
export interface Logo {
  readonly type: LogoType;
  readonly content: Buffer;
}

/**
 * Checks an image down to its structure, and takes metadata out of it. What is not exactly one still PNG or
 * WebP image is refused, so that nothing else is ever served as one.
 * @throws ImageRefused
 */
export function parseLogo(bytes: Buffer): Logo {
  const type = typeOf(bytes);
  if (type === undefined) throw new ImageRefused('is neither PNG nor WebP');
  const { content } = type === 'image/png' ? readPng(bytes) : readWebp(bytes);
  if (content.length > LOGO_BYTES_MAXIMUM) {
    throw new ImageRefused(
      `has ${content.length} bytes without metadata: at most ${LOGO_BYTES_MAXIMUM} are taken`,
    );
  }
  return { type, content };
}

function typeOf(bytes: Buffer): LogoType | undefined {
  if (bytes.toString('latin1', 1, 4) === 'PNG') return 'image/png';
  if (bytes.toString('latin1', 8, 12) === 'WEBP') return 'image/webp';
  return undefined;
}
