import { type NodeAccess, percentDecoded } from './node-access.ts';

/** Shorter parts of a path are words such as `v2` and `jsonrpc`, in characters. */
const PATH_SECRET_LENGTH = 8;
/** Shorter values of headers and queries could be part of any word, in characters. */
const SECRET_LENGTH = 4;
/** Longest text of a node that is shown, in characters. */
const TEXT_MAXIMUM = 300;
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Makes a node's text safe to show. */
export type Redact = (text: string) => string;

/**
 * Removes possible secrets of a node's URL and headers from a text of the node, and shortens it to one line of
 * 300 characters.
 */
export function createRedaction({ url, headers }: NodeAccess): Redact {
  const { href, host, pathname, search, searchParams } = new URL(url);
  const path = pathname.split('/').filter(part => part.length >= PATH_SECRET_LENGTH);
  const values = Object.values(headers).flatMap(value => [value, ...value.split(/\s+/)]);
  const secrets = [href, host + pathname + search, pathname + search]
    .concat(path, path.map(percentDecoded), [...searchParams.values()])
    .concat(values, values.flatMap(userAndPassword))
    .filter(text => text.length >= SECRET_LENGTH)
    // The longest first, so that no part of one remains.
    .toSorted((one, other) => other.length - one.length);
  return text => {
    let shown = text;
    for (const secret of secrets) shown = shown.replaceAll(secret, '[redacted]');
    shown = shown.replace(UNPRINTABLE, ' ').trim();
    return shown.length > TEXT_MAXIMUM ? `${shown.slice(0, TEXT_MAXIMUM)}…` : shown;
  };
}

/** What a Basic header encodes; nothing for other texts. */
function userAndPassword(text: string): string[] {
  const plain = Buffer.from(text, 'base64').toString();
  const separator = plain.indexOf(':');
  return separator < 0 ? [] : [plain, plain.slice(separator + 1)];
}
