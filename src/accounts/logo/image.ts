/** Most pixels of a side: four for each that the page shows. */
export const LOGO_PIXELS_MAXIMUM = 512;

/** What a reader of an image format finds. */
export interface Image {
  readonly width: number;
  readonly height: number;
  /** The image without what is beside its pixels: metadata, colour profiles, text. */
  readonly content: Buffer;
}

/** An image is refused. The message completes a sentence after the file's name. */
export class ImageRefused extends Error {
  override readonly name = 'ImageRefused';
}

/** @throws ImageRefused for an image without pixels, or with too many. */
export function requireSize(width: number, height: number): void {
  const longest = Math.max(width, height);
  if (width > 0 && height > 0 && longest <= LOGO_PIXELS_MAXIMUM) return;
  throw new ImageRefused(
    `has ${width} × ${height} pixels: at most ${LOGO_PIXELS_MAXIMUM} × ${LOGO_PIXELS_MAXIMUM} are taken`,
  );
}
