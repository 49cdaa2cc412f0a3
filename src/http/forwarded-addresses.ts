import { isIP } from 'node:net';
import type { Config } from '#config/config.ts';

/** Header in which a proxy names the client whose request it forwards. */
export type ForwardedHeader = Config['trustProxyHeader'];

/** Longest entry that is read, in characters: an IPv6 address and a port take 53. */
const ENTRY_MAXIMUM = 64;
/** An IPv4 address or a bracketed IPv6 address with or without a port, which may be obfuscated (RFC 7239, 6). */
const NODE = /^(?:([\d.]+)|\[([\da-f:.]+)\])(?::(?:\d{1,5}|_[\w.-]+))?$/i;
/** The value of `for`, perhaps quoted, in an element of Forwarded. */
const FOR = /(?:^|;)\s*for\s*=\s*(?:"([^"\\]*)"|([^\s";]+))\s*(?=;|$)/i;

/**
 * The entries that proxies added to a header, nearest proxy first. Forwarded is split at every comma, even in quotes:
 * a quote that a client left open must not swallow what a proxy added.
 */
export function forwardedEntries(value: string): string[] {
  return value
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '')
    .toReversed();
}

/** The IP address in an entry; undefined for one that has none, such as `unknown`. */
export function addressIn(header: ForwardedHeader, entry: string): string | undefined {
  if (header === 'forwarded') {
    const [, quoted, token] = FOR.exec(entry) ?? [];
    return readNode(quoted ?? token ?? '');
  }
  return readNode(entry);
}

function readNode(text: string): string | undefined {
  if (text.length > ENTRY_MAXIMUM) return undefined;
  const [, ipv4, ipv6] = NODE.exec(text) ?? [];
  const address = ipv4 ?? ipv6 ?? text;
  // Node accepts an IPv6 address with a zone, which may be any text.
  return isIP(address) > 0 && !address.includes('%') ? address : undefined;
}
