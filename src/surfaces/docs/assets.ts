import { BASE_STYLE, openAssets, SHELL_STYLE } from '../pages/assets.ts';

/** The path of the documentation. */
export const DOCS_PREFIX = '/docs';

/** The documentation's style sheets, scripts and icon. */
export const DOCS_ASSETS = openAssets(DOCS_PREFIX, {
  'base.css': BASE_STYLE,
  'shell.css': SHELL_STYLE,
  'style.css': new URL('./style.css', import.meta.url),
  'scripts.css': new URL('./scripts/style.css', import.meta.url),
  'copy-code.js': new URL('./scripts/copy-code.js', import.meta.url),
  'language-tabs.js': new URL('./scripts/language-tabs.js', import.meta.url),
  'search.js': new URL('./scripts/search.js', import.meta.url),
  'icon.svg': new URL('../pages/icon.svg', import.meta.url),
});
