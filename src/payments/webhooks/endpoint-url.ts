import { isIP } from 'node:net';
import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { isAddressAllowed } from '#outbound/address-guard.ts';

const LENGTH_MAXIMUM = 2048;

/**
 * Validates the URL of an endpoint.
 * @param allowPrivateAddresses Whether plain HTTP and local addresses pass; never in production.
 * @returns The normalised URL.
 * @throws OperationRefused with the reason.
 */
export function parseEndpointUrl(text: string, allowPrivateAddresses: boolean): string {
  const refuse = (reason: string) => new OperationRefused(`The URL is refused: ${reason}.`);
  if (!URL.canParse(text)) throw refuse('it is not a URL, as https://shop.example.com/webhooks is');
  const url = new URL(text);
  const { protocol } = url;
  if (protocol !== 'https:' && !(allowPrivateAddresses && protocol === 'http:')) {
    throw refuse('it has to begin with https://');
  }
  if (url.username !== '' || url.password !== '') throw refuse('it must not hold a user');
  if (url.hash !== '') throw refuse('a fragment (#) is never sent');
  if (url.href.length > LENGTH_MAXIMUM) {
    throw refuse(`it is longer than ${LENGTH_MAXIMUM} characters`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) > 0 && !isAddressAllowed(host, allowPrivateAddresses)) {
    throw refuse(`${host} is not a public address`);
  }
  return url.href;
}
