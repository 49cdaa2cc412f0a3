import { isIP } from 'node:net';

const MASTER_KEY_BYTES = 32;
/** Proxies in a row; more than a handful is a mistake. */
const HOPS = /^[1-9]$/;

/** Quotes a value on one line. Redacts the password of a URL that was set in the wrong variable. */
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

/** The values, or undefined if any of them is undefined. */
export function allDefined<T>(values: readonly (T | undefined)[]): T[] | undefined {
  const defined = values.filter(value => value !== undefined);
  return defined.length === values.length ? defined : undefined;
}

/** The text unchanged if it is a URL with one of the protocols. */
export function parseUrl(text: string, protocols: readonly string[]): string | undefined {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol) ? text : undefined;
}

/** The problem that `hasBarePassword` finds. It completes a sentence that begins with the variable's name. */
export const BARE_PASSWORD =
  'has a password that is not percent-encoded; write % as %25, @ as %40, / as %2F, ? as %3F and # as %23';

/**
 * Whether the user or password of a connection URL is not percent-encoded: a character ends it early, so that the rest
 * would be taken for the host, or a % begins no encoded character.
 */
export function hasBarePassword(text: string): boolean {
  const { login = '', end = '' } =
    /^\w+:\/\/(?:(?<login>[^/?#]*)@)?[^/?#]*(?<end>.*)$/s.exec(text)?.groups ?? {};
  try {
    decodeURIComponent(login);
  } catch {
    return true;
  }
  return end.includes('@');
}

/** An http or https URL without query, fragment or user. Trailing slashes are removed. */
export function parseBaseUrl(text: string): string | undefined {
  if (parseUrl(text, ['http:', 'https:']) === undefined) return undefined;
  const url = new URL(text);
  // URL hides an empty query or fragment, so look at the text.
  if (/[?#]/.test(text) || url.username || url.password) return undefined;
  return url.href.replace(/\/+$/, '');
}

/** Hosts in a URL that are this machine. */
export const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** A base URL whose traffic nobody on the network can read: https, or http on loopback. */
export function parsePrivateUrl(text: string): string | undefined {
  const base = parseBaseUrl(text);
  if (base === undefined || base.startsWith('https:')) return base;
  return LOOPBACK.includes(new URL(base).hostname) ? base : undefined;
}

/**
 * `false`, a number of hops, or a comma-separated list of addresses, networks and Fastify's names of
 * networks. Never `true`: then every client could write its own address into X-Forwarded-For.
 */
export function parseTrustProxy(text: string): false | number | string[] | undefined {
  if (text === 'false') return false;
  if (HOPS.test(text)) return Number(text);
  const addresses = text.split(',').map(part => part.trim());
  const named = ['loopback', 'linklocal', 'uniquelocal'];
  const valid = addresses.every(part => named.includes(part) || isNetwork(part));
  return valid ? addresses : undefined;
}

/**
 * Shortest prefix of a network of proxies: that of the largest private networks (RFC 1918, RFC 4193). In a
 * wider network, a client could choose an address that is trusted.
 */
const PROXY_BITS_MINIMUM = { 4: 8, 6: 7 } as const;

/** An IP address, or a network in CIDR notation that is not too wide. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const version = isIP(address);
  if ((version !== 4 && version !== 6) || rest.length > 0 || address.includes('%')) return false;
  if (bits === undefined) return true;
  const isNumber = /^\d{1,3}$/.test(bits);
  const maximum = version === 4 ? 32 : 128;
  return isNumber && Number(bits) >= PROXY_BITS_MINIMUM[version] && Number(bits) <= maximum;
}
