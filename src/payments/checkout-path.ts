/** Path of the checkout pages; a token follows. */
export const CHECKOUT_PREFIX = '/checkout';
