import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Named } from './mistake.ts';

/** What may have been signed in place of the body that was sent. */
export function otherBodies(body: Uint8Array): Named<Uint8Array | string>[] {
  const sha256 = createHash('sha256').update(body).digest();
  const digests: Named<string>[] = [
    ["the body's SHA-256 in hex in place of the body", sha256.toString('hex')],
    ["the body's SHA-256 in base64 in place of the body", sha256.toString('base64')],
  ];
  if (body.length === 0) {
    const texts = ['{}', 'null', 'undefined'];
    return [
      ...texts.map((text): Named<string> => [`the body "${text}", where none was sent`, text]),
      ...digests,
    ];
  }
  return [
    ['an empty body', ''],
    ...digests,
    ['the body in base64', Buffer.from(body).toString('base64')],
    ...(isUtf8(body) ? otherTexts(Buffer.from(body).toString()) : []),
  ];
}

/** What becomes of a character beyond Latin-1 differs: its low byte, or question marks, of which Java writes one. */
const LATIN_1: readonly ((text: string) => Buffer)[] = [
  text => Buffer.from(text, 'latin1'),
  text => Buffer.from(text.replace(/[^\0-\xff]/gu, '?'), 'latin1'),
  text => Buffer.from(text.replace(/[^\0-\xff]/g, '?'), 'latin1'),
  // Read in Latin-1, and written in UTF-8.
  text => Buffer.from(Buffer.from(text).toString('latin1')),
];

function otherTexts(text: string): Named<Uint8Array | string>[] {
  return [
    ['the body without the blanks around it', text.trim()],
    ['the body with a line feed after it', `${text}\n`],
    ['the body with a line feed after it', `${text}\r\n`],
    ['the body with other line ends', text.replaceAll('\r\n', '\n')],
    ['the body with other line ends', text.replace(/\r?\n/g, '\r\n')],
    ...LATIN_1.map(
      (write): Named<Uint8Array> => ['the body in Latin-1 in place of UTF-8', write(text)],
    ),
    ['the body with a byte order mark', `\ufeff${text}`],
    ['the body without its byte order mark', text.replace(/^\ufeff/, '')],
    ['the body as a JSON string, serialized twice', JSON.stringify(text)],
    ...reserialized(text),
  ];
}

/** The same JSON as other code writes it. */
function reserialized(text: string): Named<string>[] {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    const compact = JSON.stringify(value);
    const sorted = JSON.stringify(value, sortKeys);
    const php = asAscii(compact).replaceAll('/', '\\/');
    const spaced = asSpaced(value);
    return [
      ['the body serialized anew without blanks, as by JSON.stringify', compact],
      ['the body serialized anew with ", " and ": ", as by json.dumps of Python', asAscii(spaced)],
      ['the body serialized anew with ", " and ": "', spaced],
      ['the body with its keys in alphabetical order', sorted],
      ['the body serialized anew with an indent of 2', JSON.stringify(value, null, 2)],
      ['the body serialized anew with an indent of 4', JSON.stringify(value, null, 4)],
      ['the body serialized anew with an indent of 1', JSON.stringify(value, null, '\t')],
      ['the body serialized anew in ASCII', asAscii(compact)],
      ['the body serialized anew with "\\/", as by json_encode of PHP', php],
      ['the body serialized anew as by Go', asGo(sorted)],
    ];
  } catch {
    // Not JSON, or nested so deeply that serializing it overflows the stack.
    return [];
  }
}

/** On one line with blanks. JSON has line feeds only between its tokens. */
function asSpaced(value: unknown): string {
  return JSON.stringify(value, null, 1).replace(/,\n */g, ', ').replace(/\n */g, '');
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function asAscii(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, toEscape);
}

/** encoding/json of Go escapes what could end a script element. */
function asGo(json: string): string {
  return json.replace(/[<>&\u2028\u2029]/g, toEscape);
}

function toEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
