import { CHECKOUT_PREFIX } from '#payments/checkout-path.ts';
import { BASE_STYLE, openAssets } from '../../pages/assets.ts';

/** Style sheets, script and icon of the checkout. */
export const CHECKOUT_ASSETS = openAssets(CHECKOUT_PREFIX, {
  'base.css': BASE_STYLE,
  'style.css': new URL('./style.css', import.meta.url),
  'script.js': new URL('./script.js', import.meta.url),
  'icon.svg': new URL('../../pages/icon.svg', import.meta.url),
});
