import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CREATE, LIST, type ListeningApp, startListeningApp } from '../../helpers/listening-app.ts';
import { render } from '../../helpers/raw-http.ts';
import { expectRefusal } from '../../helpers/refusal.ts';

const UUID = '01a1fc15-d527-77d5-87e3-427005d58e87';
const ACTIVE = '/external/v1/blockchains/active';

let host: ListeningApp;
beforeAll(async () => {
  host = await startListeningApp();
});
afterAll(() => host.service.close());

const get = (target: string) => host.ask({ target });
/** Sends an unsigned request. */
async function open(method: string, target: string, headers: [string, string][] = []) {
  const request = { method, target, headers: [...headers, ['Connection', 'close'] as const] };
  const { answers } = await host.converse(render(request));
  if (answers[0] === undefined) throw new Error('no answer');
  return answers[0];
}

describe('E1001: a query value that its parameter does not accept', () => {
  test.each(
    [
      [
        'limit',
        '',
        '0',
        '101',
        '-1',
        '1e1',
        '5.0',
        '+5',
        '%2B5',
        '05',
        '0x5',
        '%205',
        '5%20',
        '5%00',
      ],
      ['limit', '5&limit=5', '5&limit=6', '%D9%A5', '9'.repeat(30), '1'.repeat(5000), 'ten', '%zz'],
      ['startingAfter', '', 'x', `{${UUID}}`, `${UUID}%00`, `${UUID}&startingAfter=${UUID}`],
      ['endingBefore', '', '0', '%ff', `${UUID}&startingAfter=${UUID}`],
      ['status', '', 'Pending', 'paid', 'pending%00', 'pending&status=expired', 'pending,expired'],
      ['customerReferenceId', '%00', 'a%00b', '%zz', '%ff', '%', '%C3', '%ED%A0%80', '%c0%80'],
      [
        'customerReferenceId',
        'r'.repeat(256),
        'a&customerReferenceId=b',
        'a&customerReferenceId=a',
      ],
      ['createdAfter', '', 'now', '2026-02-30', '2026-13-01', '1779019200', '2026-W01-4'],
      ['createdAfter', '2026-01-01T00:00:00+01:00', '2026-01-01%00', '2026-01-01&createdAfter='],
      ['createdBefore', '', '+2026-01-01', '2026-01-01T24:00:00Z', '-271821-04-20', '%zz'],
    ].flatMap(([name = '', ...values]) => values.map(value => [name, value] as const)),
  )('%s=%s', async (name, value) => {
    expectRefusal(await get(`${LIST}?${name}=${value}`), 'E1001', name);
  });
});

describe('E1002: an unknown query parameter', () => {
  test.each([
    ['unknown', 'unknown=1'],
    ['Limit', 'Limit=5'],
    ['limit ', 'limit+=5'],
    ['limit[]', 'limit[]=5'],
    ['limit[]', 'limit%5B%5D=5'],
    ['', '=5'],
    ['__proto__', '__proto__=1'],
    ['__proto__[limit]', '__proto__[limit]=1'],
    ['constructor', 'constructor=1'],
    ['toString', 'toString=1&toString=2'],
    ['hasOwnProperty', 'hasOwnProperty'],
    ['%zz', '%zz=1'],
    ['\0', '%00=1'],
  ])('%j in ?%s', async (param, query) => {
    expectRefusal(await get(`${LIST}?${query}`), 'E1002', param);
  });

  test.each([
    ['GET', `${LIST}/${UUID}`],
    ['GET', ACTIVE],
    ['POST', CREATE],
  ])('on %s %s', async (method, path) => {
    const body = method === 'POST' ? '{"amount":5000}' : undefined;
    const answer = await host.ask({ method, target: `${path}?limit=1`, body });
    expectRefusal(answer, 'E1002', 'limit');
  });
});

describe('unusual but valid queries', () => {
  test.each([
    '?',
    '?&',
    '?&&limit=5&',
    '?limit=%35',
    '?limit=100',
    '?lim%69t=1',
    '?customerReferenceId=',
    '?customerReferenceId',
    '?customerReferenceId=a+b%2Bc',
    `?customerReferenceId=${'%F0%9F%92%B8'.repeat(255)}`,
    '?createdAfter=2026-01-01T00:00:00%2B01:00&createdBefore=2026-02-28',
  ])('%s', async query => {
    expect(await get(`${LIST}${query}`)).toMatchObject({ statusCode: 200 });
  });
});

describe('paths', () => {
  test.each([
    ['nothing', ''],
    ['no UUID', 'x'],
    ['almost a UUID', UUID.slice(1)],
    ['a UUID in braces', `{${UUID}}`],
    ['5,000 characters', 'a'.repeat(5000)],
    ['10,000 characters', 'a'.repeat(10_000)],
    ['a NUL', '%00'],
    ['a UUID and a NUL', `${UUID}%00`],
    ['an encoded slash', 'a%2Fb'],
    ['an encoded percent sign', '%2500'],
    ['two dots', '..'],
    ['encoded dots', '%2e%2e'],
    ['a wildcard', '*'],
    ['a parameter', ':id'],
    ['a semicolon', `${UUID};v=1`],
  ])('E1001 for an ID of %s', async (_name, id) => {
    expectRefusal(await get(`${LIST}/${id}`), 'E1001', 'id');
  });

  test.each(['%zz', '%ff', '%', '%c0%80', `${UUID}%`])('E1000 for the path %s', async id => {
    expectRefusal(await get(`${LIST}/${id}`), 'E1000');
    expectRefusal(await open('GET', `/${id}`), 'E1000');
  });

  test('an ID in upper case is the same ID', async () => {
    expectRefusal(await get(`${LIST}/${UUID.toUpperCase()}`), 'E3001');
  });

  test.each(['/external/v1/pay%6Dents', '/external/v1/%70ayments?limit=%31'])(
    'the encoded path %s is signed as it is sent',
    async target => {
      expect(await get(target)).toMatchObject({ statusCode: 200 });
      const decoded = decodeURIComponent(target);
      expectRefusal(await host.ask({ target, signed: { target: decoded } }), 'E2007');
    },
  );

  test('a target in absolute form is signed as it is sent', async () => {
    const target = `http://pay.example.test${LIST}`;
    expect(await get(target)).toMatchObject({ statusCode: 200 });
    expectRefusal(await host.ask({ target, signed: { target: LIST } }), 'E2007');
  });

  test('a lone question mark is part of the signed path', async () => {
    expectRefusal(await host.ask({ target: `${LIST}?`, signed: { target: LIST } }), 'E2007');
  });
});

describe('E3001: unknown routes', () => {
  test.each([
    '*',
    '/nothing',
    '/favicon.ico',
    '/EXTERNAL/v1/payments',
    '/external/v1',
    '/external/v1/',
    '/external/v1/payment',
    `/external/v1/payments/${UUID}/`,
    '/external/v1//payments',
    '//external/v1/payments',
    '/external/v1/%2e%2e/v1/payments',
    '/external/v1/payments%2F',
    '/external/v1/payments/prompt/x',
    '/external/partner',
    '/external/partner/nothing',
    'http://pay.example.test/nothing',
  ])('%s', async target => {
    expectRefusal(await open(target === '*' ? 'OPTIONS' : 'GET', target), 'E3001');
    expectRefusal(await host.ask({ method: 'POST', target, body: '{"amount":5000}' }), 'E3001');
  });

  test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY', 'PURGE', 'LINK'])(
    '%s on a known path',
    async method => {
      for (const [target, methods] of [
        [LIST, 'GET and HEAD'],
        [CREATE, 'GET, HEAD and POST'],
        [ACTIVE, 'GET and HEAD'],
        ['/external/partner/overview', 'GET and HEAD'],
      ] as const) {
        const { message } = expectRefusal(await open(method, target), 'E3001');
        expect(message).toBe(`There is no ${method} on this path, only ${methods}.`);
      }
      for (const target of ['/healthz', '/docs/errors', '/', '/openapi.json', '/docs/nothing']) {
        const answer = await open(method, target);
        expect(answer.statusCode, target).toBe(405);
        expect(answer.headers.allow).toBe('GET, HEAD');
      }
      expectRefusal(await host.ask({ method, target: LIST }), 'E3001');
    },
  );

  test.each<[string, [string, string][]]>([
    ['broken JSON', [['Content-Type', 'application/json']]],
    ['no media type', [['Content-Type', 'nonsense']]],
    ['a media type of its own', [['Content-Type', 'text/xml']]],
    ['a version', [['Accept-Version', '1.x']]],
  ])('with %s', async (_name, headers) => {
    for (const method of ['POST', 'PUT', 'QUERY']) {
      for (const size of [0, 1, 2 ** 20]) {
        const request = render({ method, target: '/nothing', headers, body: '{'.repeat(size) });
        const { answers } = await host.converse(request, 1);
        expect(answers).toHaveLength(1);
        for (const answer of answers) expectRefusal(answer, 'E3001');
      }
    }
  });

  test('a creation is no GET, and a list no POST', async () => {
    // The path matches GET of a payment, whose ID has another form.
    expectRefusal(await get(CREATE), 'E1001', 'id');
    expectRefusal(await host.ask({ target: LIST, body: '{"amount":5000}' }), 'E3001');
  });

  test.each([
    [`${ACTIVE}/`, ACTIVE],
    ['/external/v1/payment', LIST],
    ['/external/v1/%70aymnets', LIST],
    [`/external/v1/payment/${UUID}`, `${LIST}/${UUID}`],
    ['/extrnal/v1/blockchains/actve', ACTIVE],
    ['/external/partner/merchant', '/external/partner/merchants'],
    [`http://pay.example.test${ACTIVE}/?limit=5`, ACTIVE],
  ])('the error for %s suggests %s', async (target, meant) => {
    const { message } = expectRefusal(await open('GET', target), 'E3001');
    expect(message).toBe(`There is no GET on this path. Did you mean ${meant}?`);
  });

  test.each(['/nothing', '/panel2/x', '/external/v1/refunds', `/external/v1/payments/${UUID}/x`])(
    'no correction is guessed for %s',
    async target => {
      const { message } = expectRefusal(await open('GET', target), 'E3001');
      expect(message).toBe('There is no GET on this path.');
    },
  );
});

describe('a host that is named twice', () => {
  const ask = async (target: string, name: string) => {
    const bytes = `GET ${target} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`;
    const { answers } = await host.converse(bytes);
    if (answers[0] === undefined) throw new Error('no answer');
    return answers[0];
  };

  test.each(['pay.example.test', 'PAY.example.test', 'pay.example.test:80', 'pay.example.test.'])(
    'is accepted when %s says the same',
    async name => {
      const answer = await ask('http://pay.example.test/healthz', name);
      expect(answer.statusCode).toBe(200);
    },
  );

  test.each(['panel.example.test', 'pay.example.test:8080', 'x'])(
    'is refused with %s',
    async name => {
      expectRefusal(await ask('http://pay.example.test/healthz', name), 'E1000');
    },
  );
});

test('no refusal left anything behind', async () => {
  await host.expectUnharmed(0);
});
