import { Refused } from '#errors/refusals/refused.ts';
import { cutPng } from './png.ts';
import { cutWebp } from './webp.ts';

/** Maximum bytes of a logo. Browsers load it once, since its URL names its hash. */
export const LOGO_BYTES_MAXIMUM = 100 * 1024;
/** Maximum pixels per side: four for each CSS pixel of the page. */
export const LOGO_PIXELS_MAXIMUM = 512;

type LogoType = 'image/png' | 'image/webp';

/** An image as it is served. */
export interface Logo {
  readonly type: LogoType;
  readonly content: Buffer;
}

/** An image is refused. The message completes a sentence that begins with the file's name. */
export class ImageRefused extends Refused {
  override readonly name = 'ImageRefused';
}

/**
 * Checks a PNG or WebP image: its signature, its size in bytes, and the pixels that its header declares. Cuts
 * it to the chunks needed to show it, so that neither metadata nor hidden files are served. It is served with
 * its type and `nosniff`, so that browsers treat it as nothing but an image.
 * @throws ImageRefused
 */
export function parseLogo(content: Buffer): Logo {
  if (content.length > LOGO_BYTES_MAXIMUM) {
    throw new ImageRefused('image-too-many-bytes', {
      bytes: content.length,
      maximum: LOGO_BYTES_MAXIMUM,
    });
  }
  const png = cutPng(content);
  const image = png ?? cutWebp(content);
  if (image === undefined) throw new ImageRefused('image-type-unknown');
  const { width, height, content: cut } = image;
  const longest = Math.max(width, height);
  if (width === 0 || height === 0 || longest > LOGO_PIXELS_MAXIMUM) {
    throw new ImageRefused('image-too-many-pixels', {
      width,
      height,
      maximum: LOGO_PIXELS_MAXIMUM,
    });
  }
  if (cut === undefined) throw new ImageRefused('image-damaged');
  return { type: png === undefined ? 'image/webp' : 'image/png', content: cut };
}
