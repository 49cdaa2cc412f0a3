import { isIP } from 'node:net';

const MASTER_KEY_BYTES = 32;

/** Quotes on one line, without the password of a URL that was set in the wrong variable. */
export function quote(text: string): string {
  return JSON.stringify(text.replace(/\/\/[^/]*@/g, '//[redacted]@'));
}

/** @returns undefined for anything but 32 bytes in base64. */
export function decodeMasterKey(text: string): Buffer | undefined {
  // Buffer.from skips characters that are not base64, so the bytes must encode to the same text.
  const bytes = Buffer.from(text, 'base64');
  const exact = bytes.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  return exact && bytes.length === MASTER_KEY_BYTES ? bytes : undefined;
}

/** The values, or undefined when one of them is. */
export function allDefined<T>(values: readonly (T | undefined)[]): T[] | undefined {
  const defined = values.filter(value => value !== undefined);
  return defined.length === values.length ? defined : undefined;
}

/** The text unchanged if it is a URL with one of the protocols. */
export function parseUrl(text: string, protocols: readonly string[]): string | undefined {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol) ? text : undefined;
}

/** An http or https URL without query, fragment or user. Trailing slashes are removed. */
export function parseBaseUrl(text: string): string | undefined {
  if (parseUrl(text, ['http:', 'https:']) === undefined) return undefined;
  const url = new URL(text);
  // URL hides an empty query or fragment, so look at the text.
  if (/[?#]/.test(text) || url.username || url.password) return undefined;
  return url.href.replace(/\/+$/, '');
}

/** `true`, `false`, or a comma-separated list of addresses, networks and Fastify's names of networks. */
export function parseTrustProxy(text: string): boolean | string[] | undefined {
  if (text === 'true') return true;
  if (text === 'false') return false;
  const addresses = text.split(',').map(part => part.trim());
  const named = ['loopback', 'linklocal', 'uniquelocal'];
  const valid = addresses.every(part => named.includes(part) || isNetwork(part));
  return valid ? addresses : undefined;
}

/** An IP address, or a network in CIDR notation. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  );
}
