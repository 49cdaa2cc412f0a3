import { register } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Wait } from '#chains/nodes/allowance.ts';
import { type Node, NodeFailure, RpcError } from '#chains/nodes/node.ts';
import { parseNodeAccess } from '#chains/nodes/node-access.ts';
import { type OpenNode, openNode } from '#chains/nodes/open-node.ts';
import type { NodeAbilities } from '#storage/database/watching-tables.ts';
import { ANVIL_MISSING, hasAnvil } from '../../helpers/anvil.ts';
import { type EvmChain, startEvm } from '../../helpers/evm.ts';
import { type NodeProxy, RpcRefusal } from '../../helpers/node-proxy.ts';
import { SOON } from '../../helpers/soon.ts';

const ABILITIES: NodeAbilities = {
  trace: null,
  logRange: null,
  batch: 20,
  archive: false,
  pruneHeight: null,
};

describe.skipIf(!hasAnvil)(hasAnvil ? 'a node' : `a node: ${ANVIL_MISSING}`, () => {
  let chain: EvmChain;
  let proxy: NodeProxy;
  beforeAll(async () => {
    chain = await startEvm();
    ({ proxy } = chain);
  });
  afterAll(() => chain.stop());

  let now = 0;
  /** How long calls have waited, in milliseconds. */
  let waits: number[] = [];
  const wait: Wait = async (milliseconds, signal) => {
    signal.throwIfAborted();
    waits.push(Math.round(milliseconds));
    now += Math.ceil(milliseconds);
  };
  const opened: OpenNode[] = [];
  function open(url = proxy.url, perSecond = 1000): { node: Node; open: OpenNode } {
    const settings = {
      id: 'n1',
      chain: 'eth-test',
      label: 'one',
      role: 'primary',
      abilities: ABILITIES,
      requestsPerSecond: perSecond,
      access: parseNodeAccess(url, ['x-api-key: secret-of-the-header']),
    } as const;
    const own = openNode(settings, { clock: () => now, wait });
    opened.push(own);
    return { node: own.within(new AbortController().signal), open: own };
  }
  beforeEach(() => {
    now = 1_000_000;
    waits = [];
  });
  afterEach(async () => {
    proxy.misbehave(null);
    proxy.alter(null);
    proxy.calls.length = 0;
    proxy.requests.length = 0;
    for (const node of opened.splice(0)) await node.close();
  });

  const fail = async (call: Promise<unknown>): Promise<Error> =>
    call.then(
      () => expect.unreachable(),
      (error: Error) => error,
    );

  test('returns the results of calls, and of batches in order', async () => {
    const { node } = open();
    expect(await node.call('eth_chainId', [])).toBe('0xaa36a7');
    const answers = await node.batch([
      { method: 'eth_blockNumber', params: [] },
      { method: 'eth_nothing', params: [] },
      { method: 'eth_chainId', params: [] },
    ]);
    expect(answers).toEqual(['0x0', expect.any(RpcError), '0xaa36a7']);
    expect(proxy.requests.map(({ size }) => size)).toEqual([1, 3]);
    const refusal = await fail(node.call('eth_getBlockByNumber', ['no number', false]));
    expect(refusal).toBeInstanceOf(RpcError);
    expect((refusal as RpcError).code).toBe(-32602);
  });

  test('splits a batch by its rate limit, and by what the node accepts', async () => {
    const { node } = open(proxy.url, 5);
    const calls = Array.from({ length: 11 }, () => ({ method: 'eth_chainId', params: [] }));
    expect(await node.batch(calls)).toEqual(Array(11).fill('0xaa36a7'));
    expect(proxy.requests.map(({ size }) => size)).toEqual([5, 5, 1]);
    // The first five are free; then each call costs 200 ms.
    expect(waits[0]).toBeGreaterThan(500);
    expect(waits[0]).toBeLessThanOrEqual(1000);
    expect(waits).toHaveLength(2);

    proxy.requests.length = 0;
    proxy.misbehave({ kind: 'batch-refused', size: 1 });
    const { node: second, open: own } = open();
    expect(await second.batch(calls.slice(0, 5))).toHaveLength(5);
    expect(proxy.requests.map(({ size }) => size)).toEqual([5, 2, 1, 1, 1, 1, 1]);
    expect(own.batchLimit()).toBe(1);
    expect(await second.batch(calls.slice(0, 2))).toHaveLength(2);
  });

  test.each([
    [{ kind: 'html' }, 'an answer that is no JSON'],
    [{ kind: 'truncated' }, 'an answer that is no JSON'],
    [{ kind: 'wrong-id' }, 'an answer to a call that was not made'],
    [{ kind: 'error-object' }, '"class java.lang.RuntimeException : busy"'],
    [{ kind: 'body', body: '[]' }, 'an answer that is no JSON-RPC'],
    [{ kind: 'body', body: 'null' }, 'an answer that is no JSON-RPC'],
    [{ kind: 'body', body: '', status: 204 }, 'status 204'],
    [{ kind: 'body', body: '{"message":"no route"}', status: 404 }, 'status 404'],
    [{ kind: 'body', body: '{"id":1,"result":"0x1"}', status: 500 }, 'status 500'],
    [{ kind: 'redirect' }, 'status 307'],
    [{ kind: 'status', status: 401 }, 'status 401'],
    [{ kind: 'status', status: 500 }, 'status 500'],
    [{ kind: 'status', status: 503 }, 'status 503'],
    [{ kind: 'reset' }, 'no answer (UND_ERR_SOCKET)'],
    [{ kind: 'hanging' }, 'no answer within 0.2 s'],
  ] as const)('%o is a failure of the node', async (how, reason) => {
    const { node, open: own } = open();
    proxy.misbehave(how, 1);
    const timeoutMs = how.kind === 'hanging' ? 200 : 10_000;
    const failure = await fail(node.call('eth_chainId', [], { timeoutMs }));
    expect(failure).toBeInstanceOf(NodeFailure);
    expect(failure.message).toBe(`one: ${reason}`);
    expect(failure.cause).toBeUndefined();
    expect(own.lastFailure()).toBe(`one: ${reason}`);
    expect(own.pausedFor()).toBeGreaterThan(0);
    // A short pause is waited for.
    expect(await node.call('eth_chainId', [])).toBe('0xaa36a7');
    expect(own.lastFailure()).toBeNull();
    expect(own.pausedFor()).toBe(0);
  });

  test.each([
    ['an ID twice', '[{"id":ID,"result":1},{"id":ID,"result":1}]'],
    ['one of two', '[{"id":ID,"result":1}]'],
    ['another ID', '[{"id":ID,"result":1},{"id":98765,"result":2}]'],
    ['no object', '[{"id":ID,"result":1},7]'],
    ['no list', '{"id":ID,"result":1}'],
    ['neither result nor error', '[{"id":ID},{"id":NEXT}]'],
  ])('a batch with %s as response is a failure', async (_, body) => {
    const { node } = open();
    // IDs count up from 1.
    proxy.misbehave({ kind: 'body', body: body.replaceAll('ID', '1').replace('NEXT', '2') });
    const call = { method: 'eth_chainId', params: [] };
    expect(await fail(node.batch([call, call]))).toBeInstanceOf(NodeFailure);
  });

  test('distinguishes errors of bitcoind and of geth from failures', async () => {
    const { node, open: own } = open();
    const body = '{"result":null,"error":{"code":-8,"message":"Block height out of range"},"id":1}';
    proxy.misbehave({ kind: 'body', body, status: 500 }, 1);
    expect(await fail(node.call('getblockhash', [99]))).toEqual(
      new RpcError(-8, 'Block height out of range'),
    );
    expect(own.pausedFor()).toBe(0);
    const loading = '{"result":null,"error":{"code":-28,"message":"Loading block index…"},"id":2}';
    proxy.misbehave({ kind: 'body', body: loading, status: 500 }, 1);
    expect((await fail(node.call('getblockcount', []))).message).toBe(
      'one: "Loading block index…"',
    );
    const tooLarge =
      '[{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"batch too large"}}]';
    proxy.misbehave({ kind: 'body', body: tooLarge }, 1);
    const call = { method: 'eth_chainId', params: [] };
    expect(await node.batch([call, call])).toEqual(['0xaa36a7', '0xaa36a7']);
    const result = '{"result":null,"error":null,"id":7}';
    proxy.misbehave({ kind: 'body', body: result }, 1);
    expect(await node.call('gettxout', [])).toBeNull();
  });

  test('waits when it is asked to, for a short time', async () => {
    const { node, open: own } = open();
    proxy.misbehave({ kind: 'status', status: 429, retryAfter: 3 }, 1);
    expect(await node.call('eth_chainId', [])).toBe('0xaa36a7');
    expect(waits).toEqual([3000]);
    proxy.misbehave({ kind: 'status', status: 429 }, 2);
    expect(await node.call('eth_chainId', [])).toBe('0xaa36a7');
    // One and two seconds, less at most a quarter.
    expect(waits[1]).toBeGreaterThanOrEqual(750);
    expect(waits[1]).toBeLessThanOrEqual(1000);
    expect(waits[2]).toBeGreaterThanOrEqual(1500);
    expect(waits[2]).toBeLessThanOrEqual(2000);

    proxy.misbehave({ kind: 'status', status: 429, retryAfter: 120 }, 1);
    expect((await fail(node.call('eth_chainId', []))).message).toBe('one: limits calls');
    const asked = proxy.calls.length;
    expect((await fail(node.call('eth_chainId', []))).message).toBe(
      'one: left alone for 120 s after failures',
    );
    expect(proxy.calls).toHaveLength(asked);
    now += 119_000;
    expect(own.pausedFor()).toBe(1000);
    now += 1000;
    expect(await node.call('eth_chainId', [])).toBe('0xaa36a7');
    proxy.misbehave({ kind: 'status', status: 503, retryAfter: 60 }, 1);
    expect((await fail(node.call('eth_chainId', []))).message).toBe('one: status 503');
    expect(own.pausedFor()).toBe(60_000);
  });

  test.each([
    [-32005, 'daily request count exceeded, request rate limited', true],
    [-32097, 'exceeded', true],
    [429, 'Your app has exceeded its compute units per second capacity', true],
    [-32000, 'Too many requests', true],
    [-32005, 'query returned more than 10000 results', false],
    [-32000, 'block range is too large', false],
    [-32000, 'header not found', false],
  ])('%i "%s" limits calls: %s', async (code, message, limits) => {
    const { node } = open();
    proxy.alter(() => {
      proxy.alter(null);
      throw new RpcRefusal(code, message);
    });
    const call = node.call('eth_blockNumber', []);
    if (limits) expect(await call).toBe('0x0');
    else expect(await fail(call)).toEqual(new RpcError(code, message));
    const retried = node.batch([
      { method: 'eth_blockNumber', params: [] },
      { method: 'eth_chainId', params: [] },
    ]);
    proxy.alter(method => {
      if (method === 'eth_blockNumber') return '0x0';
      proxy.alter(null);
      throw new RpcRefusal(code, message);
    });
    expect(await retried).toEqual(['0x0', limits ? '0xaa36a7' : new RpcError(code, message)]);
  });

  test('is suspended after five failures in a row, then called once', async () => {
    const { node, open: own } = open();
    proxy.misbehave({ kind: 'status', status: 502 });
    for (let failures = 1; failures <= 5; failures += 1) {
      now += own.pausedFor();
      await fail(node.call('eth_chainId', []));
      expect(proxy.calls).toHaveLength(failures);
    }
    expect(own.pausedFor()).toBe(30_000);
    now += 30_000;
    const both = await Promise.all([
      fail(node.call('eth_chainId', [])),
      fail(node.call('eth_chainId', [])),
    ]);
    expect(proxy.calls).toHaveLength(6);
    expect(both.map(({ message }) => message)).toContain('one: status 502');
    expect(own.pausedFor()).toBeGreaterThanOrEqual(30_000);
    // The pause doubles, up to a minute.
    now += own.pausedFor();
    await fail(node.call('eth_chainId', []));
    expect(own.pausedFor()).toBeGreaterThanOrEqual(45_000);
    expect(own.pausedFor()).toBeLessThanOrEqual(60_000);
    now += 60_000;
    proxy.misbehave(null);
    expect(await node.call('eth_chainId', [])).toBe('0xaa36a7');
    expect(own.pausedFor()).toBe(0);
  });

  test('concurrent failing calls count as one failure', async () => {
    const { node, open: own } = open();
    proxy.misbehave({ kind: 'status', status: 502 });
    await Promise.all(Array.from({ length: 8 }, () => fail(node.call('eth_chainId', []))));
    expect(own.pausedFor()).toBeLessThanOrEqual(1000);
  });

  test('aborts its calls with their signal, which is no failure', async () => {
    const { open: own } = open();
    proxy.misbehave({ kind: 'hanging' });
    const controller = new AbortController();
    const before = proxy.calls.length;
    const call = fail(own.within(controller.signal).call('eth_chainId', []));
    const reason = new Error('the worker ends');
    // No longer in flight, or it would be among those of the next test.
    await vi.waitUntil(() => proxy.calls.length > before, SOON);
    controller.abort(reason);
    expect(await call).toBe(reason);
    expect(own.pausedFor()).toBe(0);
    const asked = proxy.calls.length;
    expect(await fail(own.within(controller.signal).batch([{ method: 'a', params: [] }]))).toBe(
      reason,
    );
    expect(proxy.calls).toHaveLength(asked);
  });

  test('sends user and headers, and reveals no secret', async () => {
    const url = proxy.url.replace('//', '//watcher:pass%20word@');
    const { node } = open(`${url}?key=secret-of-the-query`);
    proxy.misbehave({ kind: 'body', body: '{"id":1,"result":true}' }, 1);
    expect(await node.call('eth_chainId', [])).toBe(true);
    const { headers, path } = proxy.requests[0] ?? expect.unreachable();
    expect(path).toBe('/v1/secret-of-the-path?key=secret-of-the-query');
    expect(headers['x-api-key']).toBe('secret-of-the-header');
    expect(headers.authorization).toBe(
      `Basic ${Buffer.from('watcher:pass word').toString('base64')}`,
    );

    const repeated = `no such key ${headers.authorization} pass word ${proxy.url} ${path} secret-of-the-header\nline`;
    const error = { code: -32001, message: repeated };
    proxy.misbehave({ kind: 'body', body: JSON.stringify({ id: 2, error }) }, 1);
    const refusal = await fail(node.call('eth_chainId', []));
    expect(refusal.message).toMatch(/^no such key \[redacted\].* line$/);
    proxy.misbehave({ kind: 'body', body: JSON.stringify({ Error: repeated }) }, 1);
    const failure = await fail(node.call('eth_chainId', []));
    proxy.misbehave({ kind: 'body', body: repeated }, 1);
    const unreadable = await fail(node.call('eth_chainId', []));
    const gone = open('https://secret-of-the-host.invalid/secret-of-the-path').node;
    const unresolved = await fail(gone.call('eth_chainId', []));
    const told = [refusal, failure, unreadable, unresolved]
      .map(one => `${one.stack} ${JSON.stringify(one)} ${one.cause}`)
      .concat(await register.metrics());
    expect(told.join('\n')).not.toMatch(/secret-of|pass word|cGFzcyB3b3Jk/);
    expect(unresolved.message).toMatch(/^one: no answer \((ENOTFOUND|EAI_AGAIN)\)$/);
  });

  test('posts to a path below its URL', async () => {
    const { node } = open();
    proxy.misbehave({ kind: 'body', body: '{"block":[]}' }, 1);
    expect(await node.post('/wallet/getblock', { detail: true })).toEqual({ block: [] });
    expect(proxy.requests[0]?.path).toBe('/v1/secret-of-the-path/wallet/getblock');
    proxy.misbehave({ kind: 'error-object' }, 1);
    expect((await fail(node.post('/wallet/getblock', {}))).message).toBe(
      'one: "class java.lang.RuntimeException : busy"',
    );
    proxy.misbehave({ kind: 'body', body: '{"Error":"this api rate limit is exceeded"}' }, 1);
    await node.post('/wallet/getblock', {});
    expect(proxy.requests).toHaveLength(4);
  });

  test('uses plain HTTP only for local addresses', async () => {
    for (const url of [
      'http://8.8.8.8/',
      'http://[2001:4860:4860::8888]/',
      'http://169.254.1.1/',
    ]) {
      expect(() => parseNodeAccess(url, [])).toThrow(/plain http is for loopback and private/);
    }
    const { port } = new URL(chain.anvil.url);
    expect(await open(`http://localhost:${port}`).node.call('eth_chainId', [])).toBe('0xaa36a7');
  });
});

test.each([
  ['', [], /not a URL/],
  ['ftp://node.example', [], /begin with https/],
  ['https://node.example/#part', [], /fragment/],
  ['https://user@node.example', ['Authorization: Bearer abc'], /Authorization header as well/],
  ['https://node.example', ['secret'], /not "NAME: VALUE"/],
  ['https://node.example', ['x-key: a\nb'], /not "NAME: VALUE"/],
  ['https://node.example', ['Host: other.example'], /host is set by the client/],
  ['https://node.example', ['x-key: a', 'X-Key: b'], /given twice/],
] as const)('%j with %j is refused', (url, headers, reason) => {
  expect(() => parseNodeAccess(url, headers)).toThrow(reason);
});
