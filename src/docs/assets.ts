import { BASE_STYLE, openAssets } from '../routes/pages/assets.ts';

/** Where the documentation is. */
export const DOCS_PREFIX = '/docs';

/** Style sheets and icon of the documentation. */
export const DOCS_ASSETS = openAssets(DOCS_PREFIX, {
  'base.css': BASE_STYLE,
  'style.css': new URL('./style.css', import.meta.url),
  'icon.svg': new URL('../routes/pages/icon.svg', import.meta.url),
});
