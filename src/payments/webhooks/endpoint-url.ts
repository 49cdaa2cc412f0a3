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
  if (!URL.canParse(text)) throw new OperationRefused('url-unreadable');
  const url = new URL(text);
  const { protocol } = url;
  if (protocol !== 'https:' && !(allowPrivateAddresses && protocol === 'http:')) {
    throw new OperationRefused('url-not-https');
  }
  if (url.username !== '' || url.password !== '') throw new OperationRefused('url-with-user');
  if (url.hash !== '') throw new OperationRefused('url-with-fragment');
  if (url.href.length > LENGTH_MAXIMUM) {
    throw new OperationRefused('url-too-long', { maximum: LENGTH_MAXIMUM });
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) > 0 && !isAddressAllowed(host, allowPrivateAddresses)) {
    throw new OperationRefused('url-not-public', { host });
  }
  return url.href;
}
