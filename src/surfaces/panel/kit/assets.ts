import { BASE_STYLE, openAssets, SHELL_STYLE } from '../../pages/assets.ts';

/** Path of the panel. */
export const PANEL_PREFIX = '/panel';

/** Style sheets, script and icon of the panel. */
export const PANEL_ASSETS = openAssets(PANEL_PREFIX, {
  'base.css': BASE_STYLE,
  'shell.css': SHELL_STYLE,
  'style.css': new URL('./style.css', import.meta.url),
  'script.js': new URL('./script.js', import.meta.url),
  'icon.svg': new URL('../../pages/icon.svg', import.meta.url),
});
