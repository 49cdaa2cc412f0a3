/** Scheme and authority of a request target in absolute form (RFC 9112, 3.2.2). */
const ABSOLUTE = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i;

/** Letters, digits, `-`, `.`, `_` and `~`: encoded or not, they mean the same (RFC 3986, 6.2.2.2). */
const UNRESERVED = /%(?:2[DE]|3\d|4[1-9A-F]|5[\dAF]|6[1-9A-F]|7[\dAE])/gi;

/**
 * The path of a request target, spelt like the routes: without scheme, authority and query, and without
 * needless percent-encoding.
 */
export function pathOf(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(ABSOLUTE, '');
  const [path = ''] = local.split(/[?#]/, 1);
  return path.includes('%') ? path.replaceAll(UNRESERVED, decodeURIComponent) : path;
}

/** Whether a request target names a path or one below it. */
export function isBelow(prefix: string, target: string): boolean {
  const path = pathOf(target);
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** Scheme and authority of a target in absolute form; undefined for any other target. */
export function originOf(target: string): { scheme: string; authority: string } | undefined {
  const [, scheme, authority] = ABSOLUTE.exec(target) ?? [];
  return scheme === undefined || authority === undefined ? undefined : { scheme, authority };
}

/**
 * An authority in canonical form, for comparison: in lower case, without a final dot of the name and without
 * the scheme's default port.
 * @param scheme `http` or `https`.
 * @returns An empty string for text that is no authority.
 */
export function canonicalAuthority(scheme: string, authority: string): string {
  const url = `${scheme}://${authority}`;
  if (/[/?#\\@]/.test(authority) || !URL.canParse(url)) return '';
  const { hostname, port } = new URL(url);
  const name = hostname.replace(/\.$/, '');
  return port === '' ? name : `${name}:${port}`;
}
