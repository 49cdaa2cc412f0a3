import { LOOPBACK_HOSTS } from '#accounts/redirect-domains.ts';
import { ApiError } from '#errors/api-error.ts';

/**
 * Scheme and host, with both slashes. The URL parser mends `https:host` and `https:///host`, but a
 * browser that meets them as a link takes the first for a path below the page it is on.
 */
const ABSOLUTE_URL = /^https?:\/\/([^/?#]+)/i;
/** Characters that the URL parser drops, and the backslash, which it takes for a slash: no merchant means them. */
const NEVER_IN_A_URL = /[\s\p{Cc}\\]/u;

/**
 * Checks where a checkout may lead back to.
 * @param allowedDomains The merchant's allowed hostnames in lower case.
 * @param allowLoopbackHttp Whether plain HTTP to an allowed loopback host passes; never in production.
 * @throws ApiError E1010, E1011 or E1012, in this order.
 */
export function checkRedirectUrl(
  text: string,
  allowedDomains: readonly string[],
  allowLoopbackHttp: boolean,
): void {
  const refuse = (code: 'E1010' | 'E1011' | 'E1012', message?: string) =>
    new ApiError(code, message, { param: 'redirectUrl' });
  if (allowedDomains.length === 0) throw refuse('E1010');
  const authority = ABSOLUTE_URL.exec(text)?.[1];
  if (authority === undefined || NEVER_IN_A_URL.test(text) || !URL.canParse(text)) {
    throw refuse('E1011', 'redirectUrl must be an absolute https URL.');
  }
  if (authority.includes('@')) {
    throw refuse('E1011', 'redirectUrl must not carry user information.');
  }
  const url = new URL(text);
  const secure = url.protocol === 'https:';
  const loopback = url.protocol === 'http:' && LOOPBACK_HOSTS.includes(url.hostname);
  if (!secure && !(loopback && allowLoopbackHttp)) {
    throw refuse('E1011', 'redirectUrl must be https.');
  }
  if (!allowedDomains.includes(url.hostname)) {
    throw refuse('E1012', `${url.hostname} is not one of the allowed redirect domains.`);
  }
}
