import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type SignedParts, signRequest } from '#signing/canonical.ts';
import { describeMismatch } from '#signing/describe-mismatch.ts';
import { explainMismatch } from '#signing/explain-mismatch.ts';
import type { Attempt } from '#signing/mistakes/mistake.ts';
import { readSignature } from '#signing/mistakes/signature-form.ts';
import { usualMistakes } from '#signing/mistakes/usual-mistakes.ts';
import { CREATE_VECTOR, LIST_VECTOR } from './vector.ts';

const { secret, timestamp: T, nonce: N, keyId } = CREATE_VECTOR;
const DIGITS = secret.slice('mps_'.length);
const PREVIOUS = `mps_${'ab'.repeat(32)}`;
const HINTS = {
  keyId,
  passphrase: 'the-passphrase',
  host: '127.0.0.1:3000',
  publicUrl: 'https://pay.example.test/gateway',
  otherSecrets: [{ name: "the secret of the key's previous pair", secret: PREVIOUS }],
};
const PROMPT = '/external/v1/payments/prompt';
const LIST = '/external/v1/payments';
const BODY = '{"note":"Grüße </b>","amount":5000,"blockchainIds":["btc","eth"]}';
const SPACED = '{ "note": "Grüße </b>", "amount": 5000, "blockchainIds": ["btc", "eth"] }\n';
const QUERY = '?status=pending&createdAfter=2026-01-01T00%3A00%3A00%2B01%3A00&limit=5';

const hmac = (message: string, key: string | Buffer = secret) =>
  createHmac('sha256', key).update(message).digest('hex');
const upTo = (path: string, method = 'POST') => `${T}\n${N}\n${method}\n${path}\n`;
const POST = upTo(PROMPT);

const explain = (sent: Partial<SignedParts>, signature: string) =>
  explainMismatch(
    secret,
    { timestamp: T, nonce: N, method: 'POST', path: PROMPT, body: Buffer.from(BODY), ...sent },
    signature,
    HINTS,
  );
const explainGet = (path: string, signature: string) =>
  explain({ method: 'GET', path, body: Buffer.alloc(0) }, signature);

type Row = readonly [name: string, component: string, signature: string, made: string];

describe('a create', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const right = hmac(POST + BODY);
  const inBase64 = Buffer.from(right, 'hex').toString('base64');
  test.each<Row>([
    ['lower-case method', 'method', hmac(upTo(PROMPT, 'post') + BODY), 'the method "post"'],
    ['GET', 'method', hmac(upTo(PROMPT, 'GET') + BODY), 'the method "GET"'],
    [
      'no version',
      'path',
      hmac(upTo('/payments/prompt') + BODY),
      'the path without "/external/v1"',
    ],
    ['no root', 'path', hmac(upTo('/v1/payments/prompt') + BODY), 'the path without "/external"'],
    ['last slash', 'path', hmac(upTo(`${PROMPT}/`) + BODY), 'the path with a slash at its end'],
    ['URL', 'path', hmac(upTo(`http://127.0.0.1:3000${PROMPT}`) + BODY), 'the whole URL'],
    ['https', 'path', hmac(upTo(`https://127.0.0.1:3000${PROMPT}`) + BODY), 'the whole URL'],
    ['host', 'path', hmac(upTo(`127.0.0.1:3000${PROMPT}`) + BODY), 'host and path'],
    ['prefix', 'path', hmac(upTo(`/gateway${PROMPT}`) + BODY), 'the prefix "/gateway" before'],
    [
      'public URL',
      'path',
      hmac(upTo(`https://pay.example.test/gateway${PROMPT}`) + BODY),
      'the whole URL',
    ],
    [
      'public URL without its prefix',
      'path',
      hmac(upTo(`https://pay.example.test${PROMPT}`) + BODY),
      'the whole URL',
    ],
    ['lone question mark', 'query', hmac(`${upTo(`${PROMPT}?`)}${BODY}`), 'a question mark'],
    ['empty body', 'body', hmac(POST), 'an empty body'],
    ['no body at all', 'body', hmac(POST.slice(0, -1)), 'neither the body nor a line feed'],
    ['line feed after', 'body', hmac(`${POST}${BODY}\n`), 'the body with a line feed after it'],
    ['CR LF after', 'body', hmac(`${POST}${BODY}\r\n`), 'the body with a line feed after it'],
    ['hash of the body', 'body', hmac(POST + sha256(BODY)), "the body's SHA-256 in hex"],
    ['indent of 2', 'body', hmac(POST + JSON.stringify(JSON.parse(BODY), null, 2)), 'indent of 2'],
    ['indent of 4', 'body', hmac(POST + JSON.stringify(JSON.parse(BODY), null, 4)), 'indent of 4'],
    [
      'Python',
      'body',
      hmac(
        `${POST}{"note": "Gr\\u00fc\\u00dfe </b>", "amount": 5000, "blockchainIds": ["btc", "eth"]}`,
      ),
      'as by json.dumps of Python',
    ],
    [
      'Python in UTF-8',
      'body',
      hmac(`${POST}{"note": "Grüße </b>", "amount": 5000, "blockchainIds": ["btc", "eth"]}`),
      'with ", " and ": "',
    ],
    [
      'sorted keys',
      'body',
      hmac(`${POST}{"amount":5000,"blockchainIds":["btc","eth"],"note":"Grüße </b>"}`),
      'its keys in alphabetical order',
    ],
    [
      'PHP',
      'body',
      hmac(
        `${POST}{"note":"Gr\\u00fc\\u00dfe <\\/b>","amount":5000,"blockchainIds":["btc","eth"]}`,
      ),
      'json_encode of PHP',
    ],
    [
      'Go',
      'body',
      hmac(`${POST}{"amount":5000,"blockchainIds":["btc","eth"],"note":"Grüße \\u003c/b\\u003e"}`),
      'by Go',
    ],
    ['twice', 'body', hmac(POST + JSON.stringify(BODY)), 'serialized twice'],
    ['milliseconds', 'timestamp', hmac(POST.replace(T, `${T}000`) + BODY), 'in milliseconds'],
    ['any millisecond', 'timestamp', hmac(POST.replace(T, `${T}789`) + BODY), 'in milliseconds'],
    ['no timestamp', 'timestamp', hmac(POST.replace(`${T}\n`, '') + BODY), 'no timestamp'],
    ['a second later', 'timestamp', hmac(POST.replace(T, '1779019201') + BODY), '"1779019201"'],
    ['a date', 'timestamp', hmac(POST.replace(T, '2026-05-17T12:00:00Z') + BODY), 'as a date'],
    ['no nonce', 'nonce', hmac(POST.replace(`${N}\n`, '') + BODY), 'no nonce'],
    ['upper-case nonce', 'nonce', hmac(POST.replace(N, N.toUpperCase()) + BODY), 'upper case'],
    ['neither', 'nonce', hmac(POST.replace(`${T}\n${N}\n`, '') + BODY), 'neither timestamp nor'],
    ['no line feeds', 'layout', hmac(POST.replaceAll('\n', '') + BODY), 'without line feeds'],
    ['CR LF', 'layout', hmac(POST.replaceAll('\n', '\r\n') + BODY), 'joined by "\\r\\n"'],
    ['backslash n', 'layout', hmac(POST.replaceAll('\n', '\\n') + BODY), 'a backslash'],
    ['dots', 'layout', hmac(POST.replaceAll('\n', '.') + BODY), 'joined by "."'],
    ['key ID first', 'layout', hmac(`${keyId}\n${POST}${BODY}`), 'the key ID among the parts'],
    ['key ID last', 'layout', hmac(`${POST}${BODY}\n${keyId}`), 'the key ID among the parts'],
    [
      'host before the path',
      'layout',
      hmac(POST.replace(PROMPT, `${HINTS.host}\n${PROMPT}`) + BODY),
      'the host among the parts',
    ],
    ['order', 'layout', hmac(`${N}\n${T}\nPOST\n${PROMPT}\n${BODY}`), 'the wrong way round'],
    ['no prefix', 'secret', hmac(POST + BODY, DIGITS), 'the secret without its "mps_"'],
    ['bytes', 'secret', hmac(POST + BODY, Buffer.from(DIGITS, 'hex')), 'from hex to bytes'],
    ['line end', 'secret', hmac(POST + BODY, `${secret}\n`), 'a line end after it'],
    ['quotes', 'secret', hmac(POST + BODY, `"${secret}"`), 'the secret in quotes'],
    ['passphrase', 'secret', hmac(POST + BODY, HINTS.passphrase), 'the passphrase'],
    ['key ID', 'secret', hmac(POST + BODY, keyId), 'the key ID'],
    ['other pair', 'secret', hmac(POST + BODY, PREVIOUS), "the key's previous pair"],
    ['plain hash', 'algorithm', sha256(POST + BODY), 'a plain hash without the secret'],
    ['secret first', 'algorithm', sha256(secret + POST + BODY), 'over secret and canonical'],
    ['secret last', 'algorithm', sha256(POST + BODY + secret), 'over canonical request and secret'],
    ['swapped', 'algorithm', hmac(secret, POST + BODY), 'the wrong way round'],
    ['hash signed', 'algorithm', hmac(sha256(POST + BODY)), 'an HMAC over the hash'],
    [
      'SHA-512',
      'algorithm',
      createHmac('sha512', secret)
        .update(POST + BODY)
        .digest('hex'),
      'SHA-512 in place of SHA-256',
    ],
    ['upper case', 'encoding', right.toUpperCase(), 'upper-case hex'],
    ['base64', 'encoding', inBase64, 'base64 in place'],
    ['base64url', 'encoding', Buffer.from(right, 'hex').toString('base64url'), 'base64'],
    ['base64 of the digits', 'encoding', Buffer.from(right).toString('base64'), 'base64'],
    ['algorithm before it', 'encoding', `sha256=${right}`, '"sha256=" before the signature'],
    ['openssl', 'encoding', `SHA2-256(stdin)= ${right}`, '"SHA2-256(stdin)= " before'],
    ['BitConverter', 'encoding', right.match(/../g)?.join('-').toUpperCase() ?? '', 'separators'],
    ['in quotes', 'encoding', `"${right}"`, 'quotes'],
  ])('is explained by: %s', (_name, component, signature, made) => {
    const explanation = explain({}, signature);
    expect(explanation.findings[0]).toMatchObject({ component });
    expect(new Set(explanation.findings.map(finding => finding.component))).toEqual(
      new Set([component]),
    );
    const text = describeMismatch(explanation);
    expect(text).toContain(made);
    expectNoSecret(text);
  });

  test('is explained by a body that was serialized again before it was sent', () => {
    const sent = { body: Buffer.from(SPACED) };
    const compact = explain(sent, hmac(POST + BODY));
    expect(compact.findings).toMatchObject([{ component: 'body' }]);
    expect(describeMismatch(compact)).toContain('as by JSON.stringify');
    expect(describeMismatch(explain(sent, hmac(POST + SPACED.trim())))).toContain(
      'the body without the blanks around it',
    );
  });

  test('is explained by a body in Latin-1, whatever becomes of what it lacks', () => {
    const body = '{"note":"Grüße, 東京 😀"}';
    const written = ['{"note":"Grüße, ?? ?"}', '{"note":"Grüße, ?? ??"}', body];
    const bytes = written.map(text => Buffer.from(text, 'latin1'));
    for (const each of [...bytes, Buffer.from(Buffer.from(body).toString('latin1'))]) {
      const signature = createHmac('sha256', secret).update(POST).update(each).digest('hex');
      const { findings } = explain({ body: Buffer.from(body) }, signature);
      expect(findings).toMatchObject([{ made: 'the body in Latin-1 in place of UTF-8' }]);
    }
  });

  test('is explained by the prefix of a proxy, which the remedy leaves out', () => {
    const findings = explain({}, hmac(upTo(`/gateway${PROMPT}`) + BODY)).findings;
    expect(findings[0]?.remedy).toBe(
      `Sign it without the prefix, which the proxy removes: "${PROMPT}".`,
    );
  });

  test("is explained by the signature's format and the mistake behind it, with both remedies", () => {
    const digest = hmac(upTo('/payments/prompt') + BODY);
    const twice = explain({}, Buffer.from(digest, 'hex').toString('base64'));
    expect(twice.findings.map(({ component }) => component)).toEqual(['path', 'encoding']);
    expect(describeMismatch(twice)).toBe(
      'The signature does not match: it was made with the path without "/external/v1" and with base64 in place of lowercase hex. ' +
        `Sign path and query exactly as they are sent: "${PROMPT}". ` +
        'Send X-MP-SIGNATURE as 64 lowercase hex digits and nothing else.',
    );
  });

  test('is not explained if two mistakes were made at once', () => {
    const twice = explain({}, hmac(upTo('/payments/prompt') + BODY, DIGITS));
    expect(twice.findings).toEqual([]);
  });
});

describe('a list', () => {
  const get = (target: string) => hmac(upTo(target, 'GET'));
  const params = new URLSearchParams(QUERY);
  const decoded = '?status=pending&createdAfter=2026-01-01T00:00:00+01:00&limit=5';
  test.each<readonly [name: string, sent: string, signature: string, made: string]>([
    ['no query', QUERY, get(LIST), 'the path without its query'],
    ['sorted', QUERY, get(`${LIST}?${sorted(params)}`), 'the query in alphabetical order'],
    [
      'another order',
      '?a=1&b=2&c=3',
      get(`${LIST}?c=3&a=1&b=2`),
      'its parameters in another order',
    ],
    ['decoded', QUERY, get(LIST + decoded), 'the query decoded'],
    ['plus kept', '?r=a+b%2F', get(`${LIST}?r=a+b/`), 'with its percent signs decoded'],
    ['encoded', decoded.replace('+', '%2B'), get(LIST + QUERY), 'the query encoded anew'],
    [
      'lower digits',
      QUERY,
      get(LIST + QUERY.replaceAll('%3A', '%3a').replace('2B', '2b')),
      'lower',
    ],
    ['plus', '?r=a%20b', get(`${LIST}?r=a+b`), '"+" in place of "%20"'],
    ['%20', '?r=a+b', get(`${LIST}?r=a%20b`), '"%20" in place of "+"'],
    ['%2B', '?r=a+b', get(`${LIST}?r=a%2Bb`), '"%2B" in place of "+"'],
  ])('is explained by: %s', (_name, query, signature, made) => {
    const explanation = explainGet(LIST + query, signature);
    expect(explanation.findings).toMatchObject([{ component: 'query' }]);
    expect(describeMismatch(explanation)).toContain(made);
    expect(describeMismatch(explanation)).toContain(`${JSON.stringify(LIST + query)}.`);
  });

  test('is explained by a missing body, and by the line feed before it', () => {
    const target = upTo(LIST, 'GET');
    expect(explainGet(LIST, hmac(`${target}{}`)).findings).toMatchObject([{ component: 'body' }]);
    const short = explainGet(LIST, hmac(target.slice(0, -1)));
    expect(describeMismatch(short)).toContain('no line feed after the path');
    expect(describeMismatch(explainGet(LIST, hmac(`${target}\n`)))).toContain('a line feed after');
  });

  test('of a partner is explained by the prefix', () => {
    const path = '/external/partner/payments';
    const findings = explainGet(path, get('/payments')).findings;
    expect(findings).toMatchObject([{ made: 'the path without "/external/partner"' }]);
  });
});

function sorted(params: URLSearchParams): string {
  const copy = new URLSearchParams(params);
  copy.sort();
  return copy.toString();
}

function expectNoSecret(text: string): void {
  for (const hidden of [DIGITS, PREVIOUS.slice(4), HINTS.passphrase, hmac(POST + BODY)]) {
    expect(text).not.toContain(hidden);
  }
}

test.each([CREATE_VECTOR, LIST_VECTOR])('the worked example of $method matches', vector => {
  const { method, path, body, signature } = vector;
  const explanation = explain({ method, path, body: Buffer.from(body) }, signature);
  expect(explanation).toMatchObject({ matches: true, findings: [] });
});

test.each(['', 'abc', `${'0'.repeat(63)}`, `${'0'.repeat(66)}`, 'g'.repeat(62), '☃'])(
  'what is not a digest is reported as such: %j',
  signature => {
    const explanation = explain({}, signature);
    expect(explanation).toMatchObject({ matches: false, readable: false });
    expect(describeMismatch(explanation)).toContain('64 lowercase hex digits');
  },
);

/** Each first two characters that a digest can have in base64, before the same 30 bytes. */
const digests = Array.from({ length: 4096 }, (_, start) => {
  const digest = createHash('sha256').digest();
  digest.writeUInt16BE((start << 4) | (digest.readUInt16BE() & 0xf));
  return digest;
});
test.each<[form: string, write: (digest: Buffer) => string, made: string[]]>([
  ['plain', digest => digest.toString('hex'), []],
  ['upper case', digest => digest.toString('hex').toUpperCase(), ['upper-case hex']],
  ['separators', digest => digest.toString('hex').replace(/..(?=.)/g, '$&-'), ['hex with']],
  ['after 0x', digest => `0x${digest.toString('hex')}`, ['"0x" before the signature']],
  [
    'after 0x, with separators',
    digest => `0x${digest.toString('hex').replace(/..(?=.)/g, '$&:')}`,
    ['"0x" before the signature', 'hex with'],
  ],
  ['base64', digest => digest.toString('base64'), ['base64']],
  ['base64url', digest => digest.toString('base64url'), ['base64']],
  ['after v1=', digest => `v1=${digest.toString('base64')}`, ['"v1=" before', 'base64']],
])('a digest is read the same whatever it begins with: %s', (_form, write, made) => {
  const wrong = digests.filter(digest => {
    const read = readSignature(write(digest));
    return !(
      read?.bytes.equals(digest) &&
      read.findings.length === made.length &&
      made.every((start, index) => read.findings[index]?.made.startsWith(start))
    );
  });
  expect(wrong.map(write)).toEqual([]);
});

test('a partially right signature gets no explanation', () => {
  const right = hmac(POST + BODY);
  const changed = right.slice(0, -1) + (right.endsWith('0') ? '1' : '0');
  expect(explain({}, changed).findings).toEqual([]);
  expect(describeMismatch(explain({}, changed))).toBe(describeMismatch(explain({}, hmac(''))));
});

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map(code => String.fromCharCode(code)),
  minLength: 1,
  maxLength: 40,
});
const sentParts: fc.Arbitrary<SignedParts> = fc.record({
  timestamp: fc.integer({ min: 1_500_000_000, max: 2_500_000_000 }).map(String),
  nonce: fc.oneof(fc.uuid(), visible),
  method: fc.constantFrom('GET', 'POST'),
  path: fc
    .tuple(fc.constantFrom(LIST, PROMPT, '/external/partner/team', '/'), fc.webQueryParameters())
    .map(([path, query]) => (query === '' ? path : `${path}?${query}`)),
  body: fc.oneof(
    fc.constant(Buffer.alloc(0)),
    fc.json().map(text => Buffer.from(text)),
    fc.uint8Array({ maxLength: 100 }),
  ),
});

test('a right signature is never explained', () => {
  fc.assert(
    fc.property(sentParts, parts => {
      const signature = signRequest(secret, parts).toString('hex');
      expect(explainMismatch(secret, parts, signature, HINTS)).toEqual({
        matches: true,
        readable: true,
        findings: [],
      });
    }),
    { numRuns: 30 },
  );
});

test('signing other parts than were sent is explained correctly or not at all', () => {
  fc.assert(
    fc.property(sentParts, sentParts, (parts, others) => {
      const signature = signRequest(secret, others).toString('hex');
      const { matches, findings } = explainMismatch(secret, parts, signature, HINTS);
      const same = Buffer.compare(canonical(parts), canonical(others)) === 0;
      expect(matches).toBe(same);
      for (const { component } of findings) expect(component).not.toBe('secret');
    }),
    { numRuns: 30 },
  );
});

function canonical({ timestamp, nonce, method, path, body }: SignedParts): Buffer {
  return Buffer.concat([Buffer.from(`${timestamp}\n${nonce}\n${method}\n${path}\n`), body]);
}

test('every listed mistake is named when it is made, for any request', () => {
  fc.assert(
    fc.property(sentParts, fc.nat(), (parts, place) => {
      const mistakes = usualMistakes(secret, parts, HINTS);
      const change: Partial<Attempt> = mistakes[place % mistakes.length]?.change ?? {};
      const { timestamp, nonce, method, path, body } = parts;
      const { parts: signed = [timestamp, nonce, method, path, body], separator = '\n' } = change;
      const pieces = signed.flatMap((piece, index) => (index === 0 ? [piece] : [separator, piece]));
      const message = Buffer.concat(pieces.map(piece => Buffer.from(piece)));
      const { key = secret, digest } = change;
      const made =
        digest?.('sha256', key, message) ?? createHmac('sha256', key).update(message).digest();
      const { matches, findings } = explainMismatch(secret, parts, made.toString('hex'), HINTS);
      // Another way to the same bytes may be named first, but never more than one mistake.
      if (matches) expect(Buffer.compare(message, canonical(parts))).toBe(0);
      else expect(findings).toHaveLength(1);
    }),
    { numRuns: 100 },
  );
});

describe('its cost', () => {
  const body = Buffer.from(JSON.stringify({ note: 'é'.repeat(32_000) }));
  const signed = (key: string, timestamp: string) =>
    createHmac('sha256', key).update(POST.replace(T, timestamp)).update(body).digest('hex');

  test('suffices for every mistake but the many milliseconds, with the largest body', () => {
    expect(explain({ body }, signed(keyId, T)).findings).toMatchObject([{ component: 'secret' }]);
    expect(explain({ body }, signed(secret, `${T}999`)).findings).toEqual([]);
  });

  test('does not grow with the depth of a body', () => {
    const deep = Buffer.from('['.repeat(32_000) + ']'.repeat(32_000));
    const unknown = '0'.repeat(64);
    expect(explain({ body: deep }, unknown)).toMatchObject({ matches: false, findings: [] });
  });
});
