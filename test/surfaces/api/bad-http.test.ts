import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CREATE, LIST, type ListeningApp, startListeningApp } from '../../helpers/listening-app.ts';
import { readResponses } from '../../helpers/raw-http.ts';
import { type Answer, expectRefusal } from '../../helpers/refusal.ts';
import { SOON } from '../../helpers/soon.ts';
import { expectLegacyRefusal } from '../legacy/older-contract.ts';

const BODY = '{"amount":5000}';

let host: ListeningApp;
let accepted = 0;
beforeAll(async () => {
  host = await startListeningApp();
});
afterAll(() => host.service.close());

/** A signed creation as text, to be corrupted. */
const creation = () => host.sign({ body: BODY }).toString('latin1');
const requestLines = () => host.service.logs.filter(({ msg }) => msg === 'request');

function only(answers: readonly Answer[]): Answer {
  expect(answers).toHaveLength(1);
  const [answer] = answers;
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

describe('unreadable HTTP gets an E1000, and the connection ends without a reset', () => {
  const get = (...lines: string[]) =>
    ['GET /healthz HTTP/1.1', 'Host: a', ...lines, '', ''].join('\r\n');
  const broken: [string, () => string | Buffer][] = [
    ['text', () => 'hello\r\n\r\n'],
    ['a line feed', () => '\0\n'],
    ['a TLS handshake', () => Buffer.from('16030100c8010000c40303', 'hex')],
    ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/3', () => 'GET /healthz HTTP/3.0\r\n\r\n'],
    ['an unknown method', () => 'PAY /healthz HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a lower-case method', () => 'get /healthz HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a space in the target', () => 'GET /health z HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a NUL in the target', () => 'GET /health\0z HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['raw UTF-8 in the target', () => Buffer.from('GET /\u00e9 HTTP/1.1\r\nHost: a\r\n\r\n')],
    ['a NUL in a header', () => get('X: a\0b')],
    ['a header without a colon', () => get('X')],
    ['a space before the colon', () => get('X : a')],
    ['a folded header', () => get('X: a', ' b')],
    ['a header name of its own', () => get('X(): a')],
    ['a carriage return in a header', () => get('X: a\rb')],
    ['a header of 20 KB', () => get(`X: ${'a'.repeat(20_000)}`)],
    ['a header of 5 MB', () => get(`X: ${'a'.repeat(5_000_000)}`)],
    ['too many headers', () => get(...Array.from({ length: 5000 }, (_, n) => `X-${n}: a`))],
    ['a target of 20 KB', () => `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    [
      'two lengths',
      () => creation().replace('Content-Length', 'Content-Length: 3\r\nContent-Length'),
    ],
    ['the same length twice', () => creation().replace(/(Content-Length: .*\r\n)/, '$1$1')],
    ['a length and chunks', () => creation().replace('Host', 'Transfer-Encoding: chunked\r\nHost')],
    ['a negative length', () => creation().replace('Content-Length: ', 'Content-Length: -')],
    [
      'a length that is no number',
      () => creation().replace('Content-Length: ', 'Content-Length: x'),
    ],
    [
      'a length above 2^64',
      () => creation().replace('Content-Length: ', `Content-Length: ${'9'.repeat(20)}`),
    ],
    [
      'a chunk size that is no number',
      () =>
        host
          .sign({ body: '', chunks: [] })
          .toString('latin1')
          .replace(/0\r\n\r\n$/, 'zz\r\n'),
    ],
    [
      'a chunk longer than its size',
      () =>
        host.sign({ body: BODY, chunks: [] }).toString('latin1').replace('\r\nf\r\n', '\r\n1\r\n'),
    ],
  ];
  test.each(broken)('%s', async (_name, bytes) => {
    const { answers, end } = await host.converse(bytes());
    const { requestId } = expectRefusal(only(answers), 'E1000');
    expect(only(answers).headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'strict-transport-security': 'max-age=31536000; includeSubDomains',
      'x-request-id': requestId,
    });
    expect(end).toBe('closed');
    const expected = expect.objectContaining({ errorCode: 'E1000', address: '127.0.0.1' });
    await vi.waitFor(
      () => expect(requestLines().filter(({ reqId }) => reqId === requestId)).toEqual([expected]),
      SOON,
    );
  });

  test('a request without Host', async () => {
    const request = creation().replace('Host: pay.example.test\r\n', '');
    expectRefusal(only((await host.converse(request, 1)).answers), 'E1000');
  });
});

describe('a head that is too large is refused in the form of its path', () => {
  const oversized = (target: string, length = 20_000, language = 'de-CH') =>
    `GET ${target} HTTP/1.1\r\nHost: a\r\nAccept-Language: ${language}\r\nCookie: ${'a'.repeat(length)}\r\n\r\n`;
  const TOO_LARGE = 'The URL and the headers are larger than 16384 bytes together.';

  test.each(['/external/v1/payments', '/external/partner/overview', '/nothing'])(
    '%s',
    async target => {
      for (const length of [17_000, 40_000]) {
        const answer = only((await host.converse(oversized(target, length))).answers);
        expect(expectRefusal(answer, 'E1000').message).toBe(TOO_LARGE);
      }
    },
  );

  test('with a URL that is too long', async () => {
    const get = (length: number) =>
      `GET ${LIST}?status=${'a'.repeat(length)} HTTP/1.1\r\nHost: a\r\n\r\n`;
    for (const length of [17_000, 40_000]) {
      const answer = only((await host.converse(get(length))).answers);
      expect(expectRefusal(answer, 'E1000').message).toBe(TOO_LARGE);
    }
    expectRefusal(only((await host.converse(get(16_000), 1)).answers), 'E2001');
  });

  test.each([
    ['of the older contract', oversized('/external/payment-prompts/x')],
    ['of its target', `GET /external/payment-prompts?${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`],
  ])('%s', async (_name, bytes) => {
    const answer = only((await host.converse(bytes)).answers);
    expectLegacyRefusal(answer, 'requestInvalid', TOO_LARGE);
  });

  test.each([
    [17_000, '/checkout/token', 'de-CH', 'Löschen Sie die Cookies dieser Website'],
    [40_000, '/checkout/token', 'de-CH', 'Löschen Sie die Cookies dieser Website'],
    [17_000, '/checkout/token?lang=fr', 'de-CH', 'Supprimez les cookies de ce site'],
    [40_000, '/checkout/token?lang=fr', 'de-CH', 'Supprimez les cookies de ce site'],
    [40_000, '/checkout/token', 'xx', 'Delete this site’s cookies'],
  ])('of %i bytes on %s, for readers of %s', async (length, target, language, text) => {
    const { answers, end } = await host.converse(oversized(target, length, language));
    const answer = only(answers);
    expect(answer.statusCode).toBe(431);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    expect(answer.body).toContain(text);
    expect(answer.body).toContain(answer.headers['x-request-id']);
    expect(end).toBe('closed');
  });

  test('also in pieces, up to twice the limit', async () => {
    const bytes = oversized('/checkout/token', 30_000);
    const socket = connect(host.port, '127.0.0.1');
    socket.setNoDelay();
    for (let at = 0; at < bytes.length; at += 1_400) {
      socket.write(bytes.slice(at, at + 1_400));
      await new Promise(setImmediate);
    }
    let answer = '';
    for await (const part of socket.setEncoding('utf8')) answer += part;
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('Löschen Sie die Cookies dieser Website');
  });
});

describe('headers that come twice', () => {
  test.each([
    ['x-mp-key-id', 'E2004'],
    ['x-mp-passphrase', 'E2004'],
    ['x-mp-timestamp', 'E2002'],
    ['x-mp-nonce', 'E2001'],
    ['x-mp-signature', 'E2007'],
    ['Idempotency-Key', 'E4001'],
  ] as const)('%s is %s', async (name, errorCode) => {
    const line = new RegExp(`(${name}: .*\r\n)`);
    const request = creation().replace(line, '$1$1');
    expectRefusal(only((await host.converse(request, 1)).answers), errorCode);
  });

  test.each(['Host: b', 'host: pay.example.test'])('%s is E1000', async line => {
    for (const request of [creation(), 'GET /healthz HTTP/1.0\r\nHost: a\r\n\r\n']) {
      const twice = request.replace('\r\n\r\n', `\r\n${line}\r\n\r\n`);
      expectRefusal(only((await host.converse(twice, 1)).answers), 'E1000');
    }
  });

  test.each(['Content-Type: text/plain', 'X-Request-Id: a', 'Connection: keep-alive'])(
    'of %s the first counts',
    async line => {
      const request = host
        .sign({ body: BODY })
        .toString('latin1')
        .replace('\r\n\r\n', `\r\n${line}\r\n\r\n`);
      const { statusCode, headers } = only((await host.converse(request, 1)).answers);
      expect(statusCode).toBe(201);
      accepted++;
      expect(headers['x-request-id']).not.toContain('a,');
    },
  );

  test.each(['', ' ', 'k'.repeat(256)])(
    'an Idempotency-Key of "%s" is E4001',
    async idempotencyKey => {
      expectRefusal(await host.ask({ body: BODY, idempotencyKey }), 'E4001');
    },
  );
});

describe('a body on a GET', () => {
  test.each([undefined, [3]])('is part of what is signed, in chunks of %s', async chunks => {
    const framed = chunks === undefined ? {} : { chunks };
    const request = {
      method: 'GET',
      target: LIST,
      body: '{"limit":5}',
      contentType: null,
      ...framed,
    };
    expect(await host.ask(request)).toMatchObject({ statusCode: 200 });
    expectRefusal(await host.ask({ ...request, signed: { body: '' } }), 'E2007');
  });
});

describe('pipelined requests on one connection', () => {
  const one = () => host.sign({});

  test('are answered in order', async () => {
    const health = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
    const bytes = [one(), creation(), health, host.sign({ target: `${LIST}?limit=0` }), one()];
    const { answers } = await host.converse(Buffer.concat(bytes.map(part => Buffer.from(part))), 5);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 201, 200, 400, 200]);
    accepted++;
  });

  test('keep the responses to those before an unreadable one', async () => {
    const { answers, end } = await host.converse(`${one()}${creation()}garbage\r\n\r\n${one()}`);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 201]);
    expect(end).not.toBe('open');
    accepted++;
  });

  test('get no second response for a body that breaks after its refusal', async () => {
    const unsigned = host
      .sign({ body: BODY, chunks: [] })
      .toString('latin1')
      .replace('x-mp-nonce', 'x-nonce')
      .replace(/0\r\n\r\n$/, '');
    const socket = connect(host.port, '127.0.0.1');
    socket.write(unsigned);
    await once(socket, 'data');
    socket.write('zz\r\n\r\n');
    expect(await readResponses(socket, 1)).toEqual({ answers: [], end: 'closed' });
  });

  test('continue after a refusal that came before the body was read', async () => {
    const unsigned = creation().replace('x-mp-nonce', 'x-nonce');
    const { answers } = await host.converse(`${unsigned}${one()}`, 2);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 200]);
  });
});

describe('what Node would respond to by itself', () => {
  test('an unknown expectation is ignored', async () => {
    const request = creation().replace('Host', 'Expect: a-lot\r\nHost');
    expect(only((await host.converse(request, 1)).answers).statusCode).toBe(201);
    accepted++;
  });

  test('Expect: 100-continue is answered before the body', async () => {
    const [head = '', body = ''] = creation()
      .replace('Host', 'Expect: 100-continue\r\nHost')
      .split(/(?<=\r\n\r\n)/);
    const socket = connect(host.port, '127.0.0.1');
    socket.write(head);
    const [first] = await once(socket, 'data');
    expect(String(first)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(body);
    expect(only((await readResponses(socket, 1)).answers).statusCode).toBe(201);
    accepted++;
  });

  test('an upgrade is ignored, and the request is answered', async () => {
    const request =
      'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n';
    expect(only((await host.converse(request, 1)).answers).statusCode).toBe(200);
  });

  test('CONNECT ends the connection', async () => {
    expect(await host.converse('CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n')).toEqual({
      answers: [],
      end: 'closed',
    });
  });
});

describe('clients that disconnect', () => {
  test.each(['reset', 'close'] as const)('by a %s in the middle of a body', async how => {
    const before = requestLines().length;
    const rounds = 20;
    for (let round = 0; round < rounds; round++) {
      const socket = connect(host.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(host.sign({ body: BODY }).subarray(0, -5));
      // At once, while the key is looked up, and while the rest of the body is awaited.
      for (let turn = 0; turn < round; turn++) await new Promise(setImmediate);
      if (how === 'reset') socket.resetAndDestroy();
      else socket.destroy();
    }
    await vi.waitFor(() => expect(requestLines()).toHaveLength(before + rounds), SOON);
    for (const line of requestLines().slice(before)) {
      expect(line).toMatchObject({ aborted: true, route: CREATE, status: null });
    }
  });

  test.each([0, 5, 10, 20, 40])('before the response, after %i turns', async turns => {
    const idempotencyKey = crypto.randomUUID();
    const before = requestLines().length;
    const socket = connect(host.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(host.sign({ body: BODY, idempotencyKey }));
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    socket.destroy();
    await vi.waitFor(() => expect(requestLines()).toHaveLength(before + 1), SOON);
    // Whether or not the first attempt got as far as a payment, one exists in the end.
    await vi.waitFor(
      async () =>
        expect(await host.ask({ body: BODY, idempotencyKey })).toMatchObject({ statusCode: 201 }),
      SOON,
    );
    accepted++;
  });
});

test('slow clients and the number of clients are limited', () => {
  expect(host.service.app.server).toMatchObject({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 65_000,
    maxConnections: 10_000,
  });
});

test('no refusal left anything behind, and no connection is left open', async () => {
  await host.expectUnharmed(accepted);
  const { server } = host.service.app;
  await vi.waitFor(
    () =>
      new Promise<void>((resolve, reject) =>
        server.getConnections((error, count) =>
          error === null && count === 0 ? resolve() : reject(new Error(`${count} are open`)),
        ),
      ),
    SOON,
  );
});
