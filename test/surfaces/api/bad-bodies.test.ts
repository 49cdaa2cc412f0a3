import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ListeningApp, startListeningApp } from '../../helpers/listening-app.ts';
import { expectRefusal } from '../../helpers/refusal.ts';

const VALID = '{"amount":5000}';
const LIMIT = 64 * 1024;
const UUID = '01a1fc15-d527-77d5-87e3-427005d58e87';

let host: ListeningApp;
let accepted = 0;

beforeAll(async () => {
  host = await startListeningApp();
});
afterAll(() => host.service.close());

async function expectAccepted(request: Parameters<ListeningApp['ask']>[0]) {
  const answer = await host.ask(request);
  expect(answer).toMatchObject({ statusCode: 201 });
  accepted++;
  return JSON.parse(answer.body).prompt;
}

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map(part => Buffer.from(part as string)));
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('E1000: not readable as JSON in UTF-8', () => {
  test.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['white space', ' \r\n\t'],
    ['text', 'amount=5000'],
    ['an unfinished object', '{"amount":5000'],
    ['a trailing comma', '{"amount":5000,}'],
    ['a comment', '{"amount":5000/* cents */}'],
    ['single quotes', "{'amount':5000}"],
    ['two documents', `${VALID}${VALID}`],
    ['something after the document', `${VALID}\0`],
    ['NaN', '{"amount":NaN}'],
    ['Infinity', '{"amount":Infinity}'],
    ['a number with a plus', '{"amount":+5000}'],
    ['a number with a leading zero', '{"amount":05000}'],
    ['a hexadecimal number', '{"amount":0x1388}'],
    ['a raw NUL in a string', '{"amount":5000,"note":"a\0b"}'],
    ['a raw line feed in a string', '{"amount":5000,"note":"a\nb"}'],
    ['bytes that are not UTF-8', bytes('{"amount":5000,"note":"', [0xff, 0xfe], '"}')],
    ['a raw lone surrogate', bytes('{"amount":5000,"note":"', [0xed, 0xa0, 0x80], '"}')],
    ['an overlong NUL', bytes('{"amount":5000,"note":"', [0xc0, 0x80], '"}')],
    ['a character cut in half', bytes('{"amount":5000,"note":"', [0xe2, 0x82], '"}')],
    ['UTF-16', Buffer.from(VALID, 'utf16le')],
    ['__proto__', '{"amount":5000,"__proto__":{"amount":1}}'],
    ['an escaped __proto__', '{"amount":5000,"\\u005f_proto__":{}}'],
    ['a __proto__ further down', '{"amount":5000,"blockchainIds":[{"__proto__":null}]}'],
    ['constructor.prototype', '{"amount":5000,"constructor":{"prototype":{}}}'],
    ['60,000 open brackets', '['.repeat(60_000)],
  ])('%s', async (_name, body) => {
    expectRefusal(await host.ask({ body }), 'E1000');
  });

  test.each<[string, string | null]>([
    ['no Content-Type', null],
    ['text', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['a multipart form', 'multipart/form-data; boundary=x'],
    ['another kind of JSON', 'application/json-patch+json'],
    ['a longer name', 'application/jsonp'],
    ['two types', 'application/json, text/plain'],
    ['half a type', 'application/'],
    ['no type at all', 'nonsense'],
    ['a type of special characters', '(),/:;<=>?@'],
    ['an empty type', ''],
  ])('a body sent as %s', async (_name, contentType) => {
    expectRefusal(await host.ask({ body: VALID, contentType }), 'E1000');
  });

  test.each(['gzip', 'br', 'identity, gzip', 'x'])('a body encoded as %s', async encoding => {
    const body = gzipSync(VALID);
    expectRefusal(await host.ask({ body, headers: [['Content-Encoding', encoding]] }), 'E1000');
  });

  test('a creation without any body', async () => {
    expectRefusal(
      await host.ask({ method: 'POST', target: '/external/v1/payments/prompt' }),
      'E1000',
    );
  });
});

describe('E1000: above 64 KiB, with an answer instead of a broken connection', () => {
  const megabyte = 2 ** 20;
  test.each<[string, number, number[] | undefined]>([
    ['one byte more', LIMIT + 1, undefined],
    ['one byte more in chunks', LIMIT + 1, [1, 1000]],
    ['1 MB', megabyte, undefined],
    ['1 MB in chunks', megabyte, [10, 100_000, 3]],
    ['9 MB', 9 * megabyte, undefined],
    ['9 MB in chunks', 9 * megabyte, [5_000_000]],
  ])('%s', async (_name, size, chunks) => {
    const body = Buffer.from(VALID.padEnd(size));
    const first = host.sign({ body, ...(chunks === undefined ? {} : { chunks }) });
    // A second request shows that the connection can still be used.
    const { answers } = await host.converse(Buffer.concat([first, host.sign({})]), 2);
    const [refused, next] = answers;
    if (refused === undefined) throw new Error('no answer');
    const { message } = expectRefusal(refused, 'E1000');
    expect(message).toContain('65536');
    expect(next?.statusCode).toBe(200);
  });

  test('1 MB without a signature', async () => {
    const unsigned = Buffer.from(
      host
        .sign({ body: ' '.repeat(megabyte) })
        .toString('latin1')
        .replace('x-mp-nonce', 'x-nonce'),
    );
    const { answers } = await host.converse(unsigned, 1);
    if (answers[0] === undefined) throw new Error('no answer');
    expectRefusal(answers[0], 'E2001');
  });
});

describe('E1001: JSON that is no object', () => {
  test.each(['null', 'true', '5000', '"amount"', '[]', `[${VALID}]`, nested(30_000)])(
    '%s',
    async body => {
      expectRefusal(await host.ask({ body }), 'E1001');
    },
  );
});

describe('E1001: a value that its field does not accept', () => {
  const cases: Record<string, unknown[]> = {
    amount: ['"50"', '"5000"', 'null', 'true', '[]', '[5000]', '{}', '50.5', '49.99', '49'].concat(
      ['100000001', '1e400', '-1e400', '-0', '0', '-5000', '1e-1', '9007199254740993'],
      [`1${'0'.repeat(500)}`],
    ),
    blockchainIds: [
      '[]',
      '["doge"]',
      '["BTC"]',
      '"btc"',
      'null',
      '[null]',
      '[["btc"]]',
      '{"0":"btc"}',
    ].concat(['["btc\\u0000"]', '["\\ud800"]', JSON.stringify(Array(25).fill('btc'))]),
    note: [
      '"a\\u0000b"',
      '"\\ud800"',
      '"\\udc00\\ud800"',
      '5',
      'null',
      '["a"]',
      JSON.stringify('n'.repeat(501)),
    ],
    redirectUrl: [
      '"https://shop.example/\\u0000"',
      '"https://shop.example/\\udfff"',
      'null',
      '7',
    ].concat(JSON.stringify(`https://shop.example/${'u'.repeat(2048)}`)),
    customerReferenceId: [
      '"\\u0000"',
      '"order \\ud83d"',
      'null',
      '1',
      JSON.stringify('r'.repeat(256)),
    ],
    merchantId: ['"x"', 'null', `"${UUID}\\u0000"`, `"{${UUID}}"`, `"${UUID}"`],
  };
  const rows = Object.entries(cases).flatMap(([field, values]) =>
    values.map(value => [field, String(value)] as const),
  );
  test.each(rows)('%s: %s', async (field, value) => {
    const rest = field === 'amount' ? '' : ',"amount":5000';
    expectRefusal(await host.ask({ body: `{"${field}":${value}${rest}}` }), 'E1001', field);
  });

  test('a missing amount', async () => {
    expectRefusal(await host.ask({ body: '{}' }), 'E1001', 'amount');
  });
});

describe('E1002: an unknown field', () => {
  test.each([
    'Amount',
    'amount ',
    '',
    'constructor',
    'toString',
    '__proto',
    'a/b~0',
    '\0',
    '\ud800',
  ])('%j', async field => {
    const body = `{"amount":5000,${JSON.stringify(field)}:1}`;
    expectRefusal(await host.ask({ body }), 'E1002', field);
  });

  test('with a value 30,000 levels deep', async () => {
    expectRefusal(await host.ask({ body: `{"amount":5000,"x":${nested(30_000)}}` }), 'E1002', 'x');
  });
});

describe('unusual but valid bodies', () => {
  test.each<[string, string, number]>([
    ['the smallest amount', '{"amount":50}', 50],
    ['the largest amount', '{"amount":100000000}', 100_000_000],
    ['a whole number with a fraction', '{"amount":50.0}', 50],
    ['a whole number with an exponent', '{"amount":1e3}', 1000],
    ['a byte order mark', `\ufeff${VALID}`, 5000],
    ['white space up to the limit', VALID.padEnd(LIMIT), 5000],
    ['a network twice', '{"amount":5000,"blockchainIds":["btc","btc"]}', 5000],
  ])('%s', async (_name, body, amount) => {
    expect(await expectAccepted({ body })).toMatchObject({ amount });
  });

  test.each([
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset=iso-8859-1',
    'application/json;',
    'APPLICATION/JSON',
  ])('Content-Type: %s', async contentType => {
    const body = '{"amount":5000,"customerReferenceId":"\u00e9"}';
    expect(await expectAccepted({ body, contentType })).toMatchObject({
      customerReferenceId: '\u00e9',
    });
  });

  test('Content-Encoding: identity', async () => {
    await expectAccepted({ body: VALID, headers: [['Content-Encoding', 'identity']] });
  });

  test('a body in chunks', async () => {
    await expectAccepted({ body: VALID, chunks: [1, 1, 5] });
    await expectAccepted({ body: VALID, chunks: [] });
  });

  test.each([
    ['255 characters outside the basic plane', '\u{1f4b8}'.repeat(255)],
    ['text that looks like a prototype', '"__proto__":'],
    ['white space alone', ' \t\u00a0'],
    ['nothing', ''],
  ])('a reference of %s', async (_name, customerReferenceId) => {
    const body = JSON.stringify({ amount: 5000, customerReferenceId });
    expect(await expectAccepted({ body })).toMatchObject({ customerReferenceId });
  });
});

test('no refusal left anything behind', async () => {
  await host.expectUnharmed(accepted);
});
