import { prefixOf } from '../sent-target.ts';
import type { MismatchHints, Named } from './mistake.ts';

/** The longest first, because it begins with a shorter one. */
const PREFIXES = ['/external/v1', '/external/partner', '/external'];
/** Up to this many parameters are tried in every order: four make 24. */
const ORDERED_MAXIMUM = 4;

/**
 * What may have been signed in place of the path that was sent.
 * @param path Without its query.
 */
export function otherPaths(path: string, { host, publicUrl }: MismatchHints): Named<string>[] {
  const bases = new Set<string>();
  if (host !== undefined) bases.add(`http://${host}`).add(`https://${host}`);
  if (publicUrl !== undefined) bases.add(publicUrl).add(new URL(publicUrl).origin);
  const urls = [...bases].flatMap((base): Named<string>[] => [
    ['the whole URL in place of its path', base + path],
    ['host and path in place of the path', base.replace(/^https?:\/\//, '') + path],
  ]);
  return [
    ...PREFIXES.filter(prefix => path.startsWith(`${prefix}/`)).map(
      (prefix): Named<string> => [`the path without "${prefix}"`, path.slice(prefix.length)],
    ),
    ['the path without its last slash', path.replace(/\/$/, '')],
    ['the path with a slash at its end', `${path}/`],
    ['the path without its first slash', path.slice(1)],
    ['the path in lower case', path.toLowerCase()],
    ['the path decoded', decode(path)],
    ['the path with every special character encoded', encodeURI(decode(path))],
    ...urls,
  ];
}

/** The path with the prefix of the proxy, which is sent, but removed on the way. */
export function prefixedPaths(path: string, { publicUrl }: MismatchHints): Named<string>[] {
  const prefix = prefixOf(publicUrl);
  return prefix === '' ? [] : [[`the prefix "${prefix}" before the path`, prefix + path]];
}

/** What may have been signed in place of the query that was sent: with its question mark or empty. */
export function otherQueries(query: string): Named<string>[] {
  if (query === '') return [['a question mark after the path, which was sent without', '?']];
  const raw = query.slice(1);
  const parameters = raw.split('&');
  const orders = parameters.length > ORDERED_MAXIMUM ? [] : permutations(parameters);
  return [
    ['the path without its query', ''],
    ['the query without its question mark', raw],
    ['the query in alphabetical order', join(parameters.toSorted())],
    ...SPELLINGS.map(([made, spell]): Named<string> => [made, join(parameters.map(spell))]),
    ...orders.map(
      (order): Named<string> => ['the query with its parameters in another order', join(order)],
    ),
  ];
}

function join(parameters: readonly string[]): string {
  return `?${parameters.join('&')}`;
}

/** How libraries change a parameter when they parse and write a query. */
const SPELLINGS: readonly Named<(parameter: string) => string>[] = [
  ['the query decoded', respell(text => text)],
  ['the query with its percent signs decoded, and "+" left as it is', decode],
  ['the query with "%20" in place of "+"', text => text.replaceAll('+', '%20')],
  ['the query with "+" in place of "%20"', text => text.replaceAll('%20', '+')],
  ['the query with "%2B" in place of "+"', text => text.replaceAll('+', '%2B')],
  ['the query with "+" in place of "%2B"', text => text.replace(/%2b/gi, '+')],
  [
    'the query encoded anew, blanks as "%20"',
    respell(text => encodeURIComponent(text).replace(/[!'()*]/g, encodeMark)),
  ],
  [
    'the query encoded anew, blanks as "+"',
    respell(text => new URLSearchParams([['', text]]).toString().slice(1)),
  ],
  [
    'the query encoded anew, with ":" and "," left as they are',
    respell(text => encodeURIComponent(text).replaceAll('%3A', ':').replaceAll('%2C', ',')),
  ],
  [
    'the query with percent signs and lower-case digits',
    text => text.replace(/%[0-9a-f]{2}/gi, code => code.toLowerCase()),
  ],
];

/** Decodes the name and the value of a parameter, and encodes each in another way. */
function respell(write: (text: string) => string): (parameter: string) => string {
  return parameter =>
    parameter
      .split('=')
      .map(text => write(decode(text.replaceAll('+', ' '))))
      .join('=');
}

function encodeMark(mark: string): string {
  return `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The text itself if it is not validly encoded. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function permutations(items: readonly string[]): string[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map(rest => [item, ...rest]),
  );
}
