import { BASE_STYLE, openAssets, SHELL_STYLE } from '../routes/pages/assets.ts';

/** The path of the documentation. */
export const DOCS_PREFIX = '/docs';

/** The documentation's style sheets and icon. */
export const DOCS_ASSETS = openAssets(DOCS_PREFIX, {
  'base.css': BASE_STYLE,
  'shell.css': SHELL_STYLE,
  'style.css': new URL('./style.css', import.meta.url),
  'icon.svg': new URL('../routes/pages/icon.svg', import.meta.url),
});
