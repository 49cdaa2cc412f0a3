import { isIP } from 'node:net';
import type { Keyring } from '#crypto/keyring.ts';
import { isLocalAddress } from '#outbound/address-guard.ts';
import type { NodeRow } from '#storage/database/watching-tables.ts';

/** How a node is reached. Both parts may contain the provider's key. */
export interface NodeAccess {
  /** https, or http at a local address; without user and fragment. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A URL or a header that is refused. The message does not contain it, since it may be secret. */
export class InvalidAccess extends Error {
  override name = 'InvalidAccess';
}

const LENGTH_MAXIMUM = 2048;
const HEADERS_MAXIMUM = 16;
/** A token of RFC 9110, and visible ASCII. */
const HEADER =
  /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t]*:[ \t]*([\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?)$/;
/** Set by the client itself. */
const RESERVED_HEADERS = [
  'connection',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
  'upgrade',
];

/**
 * Parses what an operator gives: a URL, possibly with `user:password@`, which becomes an Authorization
 * header, and headers as `NAME: VALUE`.
 * @throws InvalidAccess with the reason.
 */
export function parseNodeAccess(text: string, headerTexts: readonly string[]): NodeAccess {
  const refuse = (reason: string) =>
    new InvalidAccess(`The URL of the node is refused: ${reason}.`);
  if (!URL.canParse(text)) throw refuse('it is not a URL, as https://node.example.com/v1 is');
  if (text.length > LENGTH_MAXIMUM) throw refuse(`it is longer than ${LENGTH_MAXIMUM} characters`);
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw refuse('it has to begin with https://, or http:// for a node at a private address');
  }
  const host = hostOf(url);
  if (url.protocol === 'http:' && isIP(host) > 0 && !isLocalAddress(host)) throw refuse(PLAIN_HTTP);
  if (url.hash !== '') throw refuse('a fragment (#) is never sent');
  const headers = parseHeaders(headerTexts);
  if (url.username !== '' || url.password !== '') {
    if (headers.authorization !== undefined) {
      throw refuse('it holds a user, and there is an Authorization header as well');
    }
    const { username, password } = url;
    headers.authorization = basic(percentDecoded(username), percentDecoded(password));
    url.username = '';
    url.password = '';
  }
  return { url: url.href, headers };
}

/** Why plain HTTP is refused. */
export const PLAIN_HTTP = 'plain http is for loopback and private addresses alone';

/** The host of a node's URL, which is its label unless the operator gives one. */
export function hostNameOf({ url }: NodeAccess): string {
  return hostOf(new URL(url));
}

export function sealAccess(keyring: Keyring, id: string, access: NodeAccess): Buffer {
  return keyring.seal(JSON.stringify(access), id);
}

/** @throws Error if the keyring lacks the master key. */
export function openAccess(
  keyring: Keyring,
  { id, access, master_key_version }: Pick<NodeRow, 'id' | 'access' | 'master_key_version'>,
): NodeAccess {
  return JSON.parse(keyring.open(access, id, master_key_version));
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function parseHeaders(texts: readonly string[]): Record<string, string> {
  const refuse = (reason: string) =>
    new InvalidAccess(`A header of the node is refused: ${reason}.`);
  if (texts.length > HEADERS_MAXIMUM) throw refuse(`there are more than ${HEADERS_MAXIMUM}`);
  const headers: Record<string, string> = {};
  for (const text of texts) {
    const [, name, value] = HEADER.exec(text) ?? [];
    if (name === undefined || value === undefined || text.length > LENGTH_MAXIMUM) {
      throw refuse('it is not "NAME: VALUE" of plain characters on one line');
    }
    const key = name.toLowerCase();
    if (RESERVED_HEADERS.includes(key)) throw refuse(`${key} is set by the client`);
    if (Object.hasOwn(headers, key)) throw refuse(`${key} is given twice`);
    headers[key] = value;
  }
  return headers;
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

/** Decodes a part of a URL; returns one that is not properly encoded as it is. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
