import type { Attempt } from './attempt.ts';
import { type Mistake, quote } from './mistake.ts';

/** The longest first, because one begins with another. */
const PREFIXES = ['/external/v1', '/external/partner', '/external'];
/** Parameters whose orders are all tried: four make 24. */
const ORDERED_MAXIMUM = 4;

/**
 * Another path or query than the one that was sent.
 * @param host The Host header, for those who sign the whole URL.
 */
export function* pathMistakes(
  { path, query }: Pick<Attempt, 'path' | 'query'>,
  host: string | undefined,
): Generator<Mistake> {
  const remedy = `Sign path and query exactly as they are sent: ${quote(path + query)}.`;
  for (const [made, signed, alone = false] of pathsInsteadOf(path, host)) {
    yield { component: 'path', made, remedy, change: { path: signed }, alone };
  }
  for (const [made, signed, alone = false] of queriesInsteadOf(query)) {
    yield { component: 'query', made, remedy, change: { query: signed }, alone };
  }
}

type Named = readonly [made: string, signed: string, alone?: boolean];

function* pathsInsteadOf(path: string, host: string | undefined): Generator<Named> {
  for (const prefix of PREFIXES.filter(start => path.startsWith(`${start}/`))) {
    yield [`the path without ${quote(prefix)}`, path.slice(prefix.length)];
  }
  if (path.endsWith('/')) yield ['the path without its last slash', path.slice(0, -1)];
  else yield ['the path with a slash at its end', `${path}/`];
  yield ['the path without its first slash', path.slice(1), true];
  yield ['the path in lower case', path.toLowerCase(), true];
  yield ['the path decoded', decodeText(path), true];
  yield ['the path with every special character encoded', encodeURI(decodeText(path)), true];
  if (host === undefined) return;
  yield ['the whole URL in place of its path', `http://${host}${path}`];
  yield ['the whole URL in place of its path', `https://${host}${path}`];
  yield ['host and path in place of the path', `${host}${path}`, true];
}

function* queriesInsteadOf(query: string): Generator<Named> {
  if (query === '') {
    yield ['a question mark after the path, which was sent without', '?', true];
    return;
  }
  yield ['the path without its query', ''];
  if (query === '?') return;
  const raw = query.slice(1);
  yield ['the query without its question mark', raw, true];
  const parameters = raw.split('&');
  const sorted = parameters.toSorted();
  yield ['the query in alphabetical order', `?${sorted.join('&')}`];
  const respelt = [...spellings()];
  for (const [made, spell] of respelt) yield [made, `?${parameters.map(spell).join('&')}`];
  for (const [made, spell] of respelt) {
    const text = parameters.map(spell).toSorted().join('&');
    yield [`${made} and in alphabetical order`, `?${text}`, true];
  }
  if (parameters.length > ORDERED_MAXIMUM) return;
  for (const order of permutations(parameters)) {
    yield ['the query with its parameters in another order', `?${order.join('&')}`, true];
  }
}

type Spell = (parameter: string) => string;

/** What libraries make of a parameter when they write a query anew. */
function* spellings(): Generator<readonly [made: string, spell: Spell]> {
  const both = (write: (text: string) => string): Spell => {
    return parameter =>
      parameter
        .split('=')
        .map(text => write(decodeForm(text)))
        .join('=');
  };
  yield ['the query decoded', both(text => text)];
  yield ['the query with "%20" in place of "+"', text => text.replaceAll('+', '%20')];
  yield ['the query with "+" in place of "%20"', text => text.replaceAll('%20', '+')];
  yield ['the query with "%2B" in place of "+"', text => text.replaceAll('+', '%2B')];
  yield ['the query with "+" in place of "%2B"', text => text.replace(/%2b/gi, '+')];
  yield ['the query encoded anew, blanks as "%20"', both(encodeStrictly)];
  yield ['the query encoded anew, blanks as "+"', both(encodeForm)];
  yield ['the query encoded anew, with ":" and "," left as they are', both(encodeLoosely)];
  yield [
    'the query with percent signs and lower-case digits',
    text => text.replace(/%[0-9a-f]{2}/gi, code => code.toLowerCase()),
  ];
}

function encodeStrictly(text: string): string {
  return encodeText(text).replace(
    /[!'()*]/g,
    mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function encodeLoosely(text: string): string {
  return encodeText(text).replaceAll('%3A', ':').replaceAll('%2C', ',');
}

/** As URLSearchParams writes it. */
function encodeForm(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

function decodeForm(text: string): string {
  return decodeText(text.replaceAll('+', ' '));
}

/** The text itself where it is no valid encoding. */
function decodeText(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function* permutations(items: readonly string[]): Generator<string[]> {
  if (items.length <= 1) yield [...items];
  else {
    for (const [index, item] of items.entries()) {
      for (const rest of permutations(items.toSpliced(index, 1))) yield [item, ...rest];
    }
  }
}
