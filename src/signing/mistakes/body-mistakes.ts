import { createHash } from 'node:crypto';
import { RIGHT_ORDER } from './attempt.ts';
import type { Mistake } from './mistake.ts';

type Signed = Uint8Array | string;
type Named = readonly [made: string, body: Signed, alone?: boolean];

/** Another body than the bytes that were sent. */
export function* bodyMistakes(body: Uint8Array): Generator<Mistake> {
  const remedy =
    body.length === 0
      ? 'Sign nothing after the line feed that follows the path: no body was received.'
      : `Sign the ${body.length} bytes that are sent, and send the text that was signed.`;
  for (const [made, signed, alone = false] of bodiesInsteadOf(body)) {
    yield { component: 'body', made, remedy, change: { body: Buffer.from(signed) }, alone };
  }
  yield {
    component: 'body',
    made:
      body.length === 0
        ? 'no line feed after the path'
        : 'neither the body nor a line feed before it',
    remedy:
      body.length === 0
        ? 'End the canonical request with the line feed that follows the path, also without a body.'
        : remedy,
    change: { order: RIGHT_ORDER.filter(part => part !== 'body') },
  };
}

function* bodiesInsteadOf(body: Uint8Array): Generator<Named> {
  if (body.length === 0) {
    yield ['the body "{}", where none was sent', '{}'];
    yield ['the body "null", where none was sent', 'null', true];
    yield ['the body "undefined", where none was sent', 'undefined', true];
  } else yield ['an empty body', ''];
  yield* digestsOf(body);

  const text = readText(body);
  if (text === undefined || text === '') return;
  yield ['the body without the blanks around it', text.trim()];
  yield ['the body with a line feed after it', `${text}\n`];
  yield ['the body with a line feed after it', `${text}\r\n`, true];
  yield ['the body with other line ends', text.replaceAll('\r\n', '\n'), true];
  yield ['the body with other line ends', text.replace(/\r?\n/g, '\r\n'), true];
  yield ['the body in Latin-1 in place of UTF-8', Buffer.from(text, 'latin1'), true];
  yield ['the body with a byte order mark', `\ufeff${text}`, true];
  yield ['the body without its byte order mark', text.replace(/^\ufeff/, ''), true];
  yield ['the body as a JSON string, serialized twice', JSON.stringify(text), true];
  yield* documentsInsteadOf(text);
}

/** What other schemes sign in place of a body. */
function* digestsOf(body: Uint8Array): Generator<Named> {
  const digest = createHash('sha256').update(body).digest();
  yield ["the body's SHA-256 in hex in place of the body", digest.toString('hex')];
  yield ["the body's SHA-256 in base64 in place of the body", digest.toString('base64'), true];
  yield ['the body in base64', Buffer.from(body).toString('base64'), true];
}

/** The same JSON as other code writes it. */
function* documentsInsteadOf(text: string): Generator<Named> {
  let written: Named[];
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    const plain = { comma: ',', colon: ':', sorted: false };
    const python = { comma: ', ', colon: ': ', sorted: false };
    const spaced = write(value, python);
    const compact = write(value, plain);
    const sorted = write(value, { ...plain, sorted: true });
    written = [
      ['the body serialized anew without blanks, as by JSON.stringify', JSON.stringify(value)],
      ['the body serialized anew with ", " and ": ", as by json.dumps of Python', asAscii(spaced)],
      ['the body serialized anew with ", " and ": "', spaced],
      ['the body with its keys in alphabetical order', sorted],
      [
        'the body with its keys in alphabetical order, with ", " and ": "',
        asAscii(write(value, { ...python, sorted: true })),
      ],
      ['the body serialized anew with an indent of 2', JSON.stringify(value, null, 2)],
      ['the body serialized anew with an indent of 4', JSON.stringify(value, null, 4)],
      ['the body serialized anew with an indent of 1', JSON.stringify(value, null, '\t'), true],
      ['the body serialized anew in ASCII', asAscii(compact), true],
      [
        'the body serialized anew with "\\/", as by json_encode of PHP',
        asAscii(compact).replaceAll('/', '\\/'),
        true,
      ],
      ['the body serialized anew as by Go', asGo(sorted), true],
    ];
  } catch {
    // No JSON, or nested so deeply that writing it anew takes more stack than there is.
    return;
  }
  yield* written;
}

interface Style {
  readonly comma: string;
  readonly colon: string;
  readonly sorted: boolean;
}

function write(value: unknown, style: Style): string {
  if (Array.isArray(value)) {
    return `[${value.map(item => write(item, style)).join(style.comma)}]`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value);
  if (style.sorted) entries.sort(([one], [other]) => (one < other ? -1 : 1));
  const fields = entries.map(
    ([key, item]) => JSON.stringify(key) + style.colon + write(item, style),
  );
  return `{${fields.join(style.comma)}}`;
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

function readText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
