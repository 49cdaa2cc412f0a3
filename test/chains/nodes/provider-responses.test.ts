import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChainAdapter } from '#chains/adapter.ts';
import { type ChainId, chainOf } from '#chains/chain-list.ts';
import { createEvmAdapter } from '#chains/evm/adapter.ts';
import {
  LaggingNode,
  type Node,
  NodeFailure,
  ResponseTooLarge,
  RpcError,
} from '#chains/nodes/node.ts';
import { type OpenNode, openNode } from '#chains/nodes/open-node.ts';
import { createSolanaAdapter } from '#chains/solana/adapter.ts';

// Responses from the documentation of providers, or from their nodes' sources. The guide on chains names the pages.

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

const errorOf = (id: unknown, code: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

/** No response. */
const HANGING: Reply = { body: 'hanging' };

let server: Server;
let url: string;
/** Responds to a request; the calls of a batch are a list. */
let answer: (asked: Call | Call[], path: string) => Reply;
const requests: (Call | Call[])[] = [];
const paths: string[] = [];
let now = 0;
let waited = 0;
let opened: OpenNode;
let node: Node;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const asked = JSON.parse(text);
    requests.push(asked);
    paths.push(request.url ?? '');
    const { status = 200, headers = {}, body } = answer(asked, request.url ?? '');
    if (body !== HANGING.body) response.writeHead(status, headers).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

function open(chain: ChainId): void {
  opened = openNode(
    {
      id: 'n1',
      chain,
      label: 'one',
      role: 'primary',
      requestsPerSecond: 1_000,
      abilities: { trace: null, logRange: null, batch: 50, archive: false, pruneHeight: null },
      access: { url, headers: {} },
    },
    {
      clock: () => now,
      async wait(milliseconds) {
        now += Math.ceil(milliseconds);
        waited += milliseconds;
      },
    },
  );
  node = opened.within(new AbortController().signal);
}
beforeEach(() => {
  now = 1_000_000;
  waited = 0;
  requests.length = 0;
  paths.length = 0;
  open('bnb');
});
afterEach(() => opened.close());

const fail = async (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.unreachable(),
    (error: Error) => error,
  );

/** One such response, and then good ones. */
function answerOnce(reply: (asked: Call | Call[]) => Reply): void {
  let isFirst = true;
  answer = asked => {
    if (!isFirst) return good(asked);
    isFirst = false;
    return reply(asked);
  };
}

function good(asked: Call | Call[]): Reply {
  const results = [asked].flat().map(({ id }) => ({ jsonrpc: '2.0', id, result: '0x1' }));
  return { body: JSON.stringify(Array.isArray(asked) ? results : results[0]) };
}

describe('a node that limits calls is paused, which is no failure', () => {
  const idOf = (asked: Call | Call[]) => [asked].flat()[0]?.id;

  test.each([
    [
      'QuickNode',
      429,
      429,
      'The requests per second (RPS) of your requests are higher than your plan allows.',
    ],
    [
      'QuickNode',
      429,
      -32007,
      '100/second request limit reached - reduce calls per second or upgrade your account at quicknode.com',
    ],
    ['QuickNode', 200, -32009, 'trace requests limited to 20 RPS'],
    [
      'Alchemy',
      429,
      429,
      'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.',
    ],
    ['Infura', 429, -32005, 'project ID request rate exceeded'],
    ['Infura', 402, -32005, 'daily request count exceeded, request rate limited'],
    ['Chainstack', 200, -32005, "You've exceeded the RPS limit available on the current plan."],
    ['Blast', 429, -32097, 'Rate limit reached'],
    ['Goldsky', 200, -32005, 'Too many requests'],
    ['Helius', 429, -32429, 'max usage reached'],
  ])('%s: status %i, %i "%s"', async (_, status, code, message) => {
    answerOnce(asked => ({ status, body: JSON.stringify(errorOf(idOf(asked), code, message)) }));
    expect(await node.call('eth_blockNumber', [])).toBe('0x1');
    expect(waited).toBeGreaterThan(700);
    answerOnce(asked => ({ status, body: JSON.stringify(errorOf(idOf(asked), code, message)) }));
    const calls = ['a', 'b'].map(method => ({ method, params: [] }));
    expect(await node.batch(calls)).toEqual(['0x1', '0x1']);
    expect(requests.map(each => [each].flat().length)).toEqual([1, 1, 2, 2]);
    expect(opened.failures()).toBe(0);
    expect(opened.batchLimit()).toBeNull();
  });

  const SUSPENDED =
    'The key exceeds the frequency limit(15), and the query server is suspended for 30s';

  test.each([
    [403, { Success: false, Error: SUSPENDED, StatusCode: 403 }],
    [503, { Error: SUSPENDED }],
    [429, { Success: false, Error: SUSPENDED, StatusCode: 429 }],
    [429, { Error: SUSPENDED.replace('30s', '30 s') }],
    [200, { Error: SUSPENDED }],
    [
      429,
      {
        Error:
          'request rate exceeded the allowed_rps(3), and the query server is suspended for 30 s',
      },
    ],
  ])('TronGrid: status %i, %o', async (status, body) => {
    open('tron');
    answerOnce(() => ({ status, body: JSON.stringify(body) }));
    expect((await fail(node.post('/wallet/getblockbylimitnext', {}))).message).toBe(
      'one: limits calls',
    );
    expect(opened.pausedFor()).toBe(30_000);
    now += 30_000;
    answerOnce(() => ({ status, body: JSON.stringify(body) }));
    const calls = ['a', 'b'].map(method => ({ method, params: [] }));
    expect((await fail(node.batch(calls, { path: '/jsonrpc' }))).message).toBe('one: limits calls');
    expect(opened.pausedFor()).toBe(30_000);
    now += 30_000;
    expect(await node.call('eth_chainId', [], { path: '/jsonrpc' })).toBe('0x1');
    expect(paths).toEqual(['/wallet/getblockbylimitnext', '/jsonrpc', '/jsonrpc']);
    expect(opened.failures()).toBe(0);
    expect(opened.batchLimit()).toBeNull();
  });

  test('503 without details is reported at once, so that another node is used', async () => {
    answerOnce(() => ({ status: 503, body: '<h1>Service Temporarily Unavailable</h1>' }));
    expect((await fail(node.call('eth_blockNumber', []))).message).toBe('one: status 503');
    expect(opened.pausedFor()).toBeGreaterThan(0);
    expect(opened.failures()).toBe(0);
    expect(requests).toHaveLength(1);
  });

  test('403 without a reason is a failure: a key may be disabled', async () => {
    answer = () => ({ status: 403, body: 'Forbidden' });
    const calls = ['a', 'b', 'c'].map(method => ({ method, params: [] }));
    expect((await fail(node.batch(calls))).message).toBe('one: status 403');
    expect(opened.failures()).toBe(1);
    // It was not the batch that was refused.
    expect(opened.batchLimit()).toBeNull();
    now += 1_000;
    answer = good;
    requests.length = 0;
    expect(await node.batch(calls)).toEqual(['0x1', '0x1', '0x1']);
    expect(requests).toHaveLength(1);
  });

  test('401 has the provider’s reason', async () => {
    answer = asked => ({
      status: 401,
      body: JSON.stringify(errorOf(idOf(asked), -32600, 'Must be authenticated!')),
    });
    const reason = 'one: status 401: "Must be authenticated!"';
    expect((await fail(node.call('eth_blockNumber', []))).message).toBe(reason);
    now += 10_000;
    const calls = ['a', 'b'].map(method => ({ method, params: [] }));
    expect((await fail(node.batch(calls))).message).toBe(reason);
  });
});

describe('a batch that is refused is split', () => {
  test.each<[string, number, (calls: readonly Call[]) => unknown]>([
    ['a firewall', 403, () => 'Forbidden'],
    ['PublicNode', 403, () => errorOf(null, -32600, 'batch requests are not allowed')],
    ['Chainstack', 413, () => 'Request Entity Too Large'],
    [
      'dRPC',
      500,
      calls =>
        calls.map(({ id }) =>
          errorOf(id, 31, 'Batch of more than 3 requests are not allowed on free tier'),
        ),
    ],
    [
      'dRPC, with status 200',
      200,
      calls =>
        calls.map(({ id }) =>
          errorOf(id, 31, 'Batch of more than 3 requests are not allowed on free tier'),
        ),
    ],
    // go-ethereum responds to the calls that fit, and with this to each of the others.
    [
      'go-ethereum',
      200,
      calls =>
        calls.map(({ id }, index) =>
          index < 4
            ? { jsonrpc: '2.0', id, result: '0x1' }
            : errorOf(id, -32003, 'response too large'),
        ),
    ],
  ])('%s: status %i', async (_, status, refusal) => {
    answer = asked => {
      if (!Array.isArray(asked) || asked.length <= 3) return good(asked);
      const body = refusal(asked);
      return { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
    };
    const calls = Array.from({ length: 10 }, () => ({ method: 'eth_blockNumber', params: [] }));
    expect(await node.batch(calls)).toEqual(Array(10).fill('0x1'));
    expect(requests.map(each => [each].flat().length)).toEqual([10, 5, 2, 2, 2, 2, 2]);
    expect(opened.failures()).toBe(0);
    expect(opened.pausedFor()).toBe(0);
  });
});

const HASH = (height: number) => `0x${height.toString(16).padStart(64, '0')}`;

function header(height: number) {
  return {
    number: `0x${height.toString(16)}`,
    hash: HASH(height),
    parentHash: HASH(height - 1),
    timestamp: '0x1',
  };
}

describe('a range of logs is halved', () => {
  const USDT = '0x55d398326f99059ff775485246999027b3197955';
  const watch = [
    {
      network: { id: 'bnb-usdt', contract: USDT },
      address: '0x00000000000000000000000000000000000000aa',
    },
  ];

  test.each([
    ['QuickNode', 413, -32614, 'eth_getLogs is limited to a 10,000 range'],
    [
      'QuickNode',
      413,
      -32602,
      'eth_getLogs and eth_newFilter are limited to a 10,000 blocks range',
    ],
    ['QuickNode', 200, -32614, 'eth_getLogs is limited to a 5 range'],
    [
      'Alchemy',
      400,
      -32602,
      'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x0, 0xd043b8]',
    ],
    [
      'Alchemy',
      400,
      -32600,
      'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x0, 0x9]. Upgrade to PAYG for expanded block range.',
    ],
    [
      'Infura',
      200,
      -32005,
      'query returned more than 10000 results. Try with this block range [0xBDE5F8, 0x102DBCC].',
    ],
    ['Infura', 200, -32005, 'query timeout exceeded'],
    ['Ankr', 200, -32600, 'block range is too wide'],
    [
      'Ankr',
      200,
      -32602,
      'query exceeds max results 20000, retry with the range 23879634-23879696',
    ],
    [
      'Chainstack',
      200,
      -32602,
      'Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits.',
    ],
    ['dRPC', 400, 35, 'ranges over 10000 blocks are not supported on freetier'],
    ['dRPC', 408, 30, 'Request timeout on the free tier, please upgrade your tier to the paid one'],
    ['dRPC', 200, -32602, 'query returns too many logs, narrow your filter: 20000'],
    [
      'Blast',
      200,
      -32600,
      'Requested range of 1000 blocks exceeds the range allowed for your plan (1000 > 500).',
    ],
    ['PublicNode', 200, -32701, 'exceed maximum block range: 50000'],
    [
      'BlockPI',
      200,
      -32602,
      'eth_getLogs is limited to 1024 block range. Please check the parameter requirements at https://docs.blockpi.io/documentations/api-reference',
    ],
    ['thirdweb', 200, -32005, 'Maximum allowed number of requested blocks is 1000'],
    ['Avalanche', 200, -32000, 'requested too many blocks from 1 to 1000, maximum is set to 500'],
    ['go-ethereum', 200, -32002, 'request timed out'],
    ['Goldsky', 200, -32012, 'Range too large'],
  ])('%s: status %i, %i "%s"', async (_, status, code, message) => {
    const refuse = ({ id, method, params }: Call) => {
      if (method !== 'eth_getLogs') {
        return { jsonrpc: '2.0', id, result: header(Number(params[0])) };
      }
      const { fromBlock, toBlock } = params[0] as { fromBlock: string; toBlock: string };
      return Number(toBlock) - Number(fromBlock) < 100
        ? { jsonrpc: '2.0', id, result: [] }
        : errorOf(id, code, message);
    };
    answer = asked => {
      const answers = [asked].flat().map(refuse);
      const isRefused = answers.some(each => 'error' in each);
      const body = JSON.stringify(Array.isArray(asked) ? answers : answers[0]);
      return { status: isRefused ? status : 200, body };
    };
    const request = { from: 1, to: 1_000, watch, undoableFrom: Number.MAX_SAFE_INTEGER };
    const { through } = await createEvmAdapter(chainOf('bnb')).scan(node, request);
    expect(through.height).toBe(62);
    expect(opened.failures()).toBe(0);
    expect(opened.pausedFor()).toBe(0);
  });

  test.each([413, 504])('if the whole request is refused without JSON: status %i', async status => {
    answer = asked => {
      const list = [asked].flat();
      const range = list.find(({ method }) => method === 'eth_getLogs')?.params[0];
      const { fromBlock, toBlock } = (range ?? {}) as { fromBlock: string; toBlock: string };
      if (Number(toBlock) - Number(fromBlock) >= 100) return { status, body: '<h1>nginx</h1>' };
      const answers = list.map(({ id, method, params }) => ({
        jsonrpc: '2.0',
        id,
        result: method === 'eth_getLogs' ? [] : header(Number(params[0])),
      }));
      return { body: JSON.stringify(Array.isArray(asked) ? answers : answers[0]) };
    };
    const request = { from: 1, to: 1_000, watch, undoableFrom: Number.MAX_SAFE_INTEGER };
    const { through } = await createEvmAdapter(chainOf('bnb')).scan(node, request);
    expect(through.height).toBe(62);
    expect(opened.batchLimit()).toBeNull();
    expect(opened.failures()).toBe(0);
  });
});

test('a timeout of a range query is no failure of the node, and of other calls it is', async () => {
  answer = () => HANGING;
  const logs = { method: 'eth_getLogs', params: [], mayTakeTooLong: true };
  expect(await node.batch([logs], { timeoutMs: 100 })).toEqual([expect.any(ResponseTooLarge)]);
  expect(opened.failures()).toBe(0);
  const failure = await fail(node.call('eth_blockNumber', [], { timeoutMs: 100 }));
  expect(failure.message).toBe('one: no answer within 0.1 s');
  expect(opened.failures()).toBe(1);
});

describe('a token that a node says nothing about', () => {
  const adapter = createEvmAdapter(chainOf('bnb'));
  const decimals = (code: number, message: string) => {
    answer = asked => {
      const answers = [asked]
        .flat()
        .map(({ id, method }) =>
          method === 'eth_getCode'
            ? { jsonrpc: '2.0', id, result: '0x60' }
            : errorOf(id, code, message),
        );
      return { body: JSON.stringify(answers) };
    };
    return adapter.readDecimals(node, '0x55d398326f99059ff775485246999027b3197955');
  };

  test('differs from a token without a contract', async () => {
    expect(await decimals(3, 'execution reverted')).toBeUndefined();
    expect(await decimals(-32000, 'REVERT opcode executed')).toBeUndefined();
    expect(await decimals(-32000, 'invalid opcode: INVALID')).toBeUndefined();
    expect(await fail(decimals(-32603, 'Internal error'))).toBeInstanceOf(RpcError);
    expect(await fail(decimals(-32000, 'header not found'))).toBeInstanceOf(LaggingNode);
  });
});

describe('a lagging Solana server', () => {
  const GENESIS = '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY';
  const CURSOR = 1_000;
  let adapter: ChainAdapter;
  /** The parent of the block above the cursor; undefined without a block. */
  let parentSlot: number | undefined;

  beforeEach(() => {
    open('sol');
    adapter = createSolanaAdapter();
  });

  /** Responds to the request for heads, with an error for the block at the cursor. */
  function answerCursor(code: number, message: string): void {
    const block = {
      blockhash: GENESIS,
      previousBlockhash: GENESIS,
      blockTime: 1,
      blockHeight: 1,
      parentSlot,
    };
    const value = { blockhash: GENESIS, lastValidBlockHeight: 1 };
    const resultOf = ({ id, method, params }: Call) => {
      if (method === 'getBlock' && params[0] === CURSOR) return errorOf(id, code, message);
      const results: Record<string, unknown> = {
        getLatestBlockhash: { context: { slot: CURSOR + 50 }, value },
        getSlot: CURSOR + 20,
        getBlock: block,
        getBlocks: parentSlot === undefined ? [] : [CURSOR + 3, CURSOR + 4],
      };
      return { jsonrpc: '2.0', id, result: results[method] };
    };
    answer = asked => {
      const answers = [asked].flat().map(resultOf);
      return { body: JSON.stringify(Array.isArray(asked) ? answers : answers[0]) };
    };
  }

  const SKIPPED = `Slot ${CURSOR} was skipped, or missing due to ledger jump to recent snapshot`;

  test.each([CURSOR, CURSOR + 2, undefined])(
    'shows no fork: -32007, and the block above is built on slot %s',
    async parent => {
      parentSlot = parent;
      answerCursor(-32007, SKIPPED);
      expect(await fail(adapter.readHeads(node, CURSOR))).toBeInstanceOf(LaggingNode);
      expect(opened.pausedFor()).toBe(0);
    },
  );

  test('is distinguished from one on another branch, whose block above is built on one below', async () => {
    parentSlot = CURSOR - 1;
    for (const [code, message] of [
      [-32007, SKIPPED],
      [-32009, `Slot ${CURSOR} was skipped, or missing in long-term storage`],
    ] as const) {
      answerCursor(code, message);
      expect(await adapter.readHeads(node, CURSOR)).toMatchObject({ cursorHash: 'skipped' });
    }
  });

  test.each([
    [-32004, `Block not available for slot ${CURSOR}`],
    [-32005, 'Node is behind by 42 slots'],
    [-32005, 'Node is unhealthy'],
    [-32014, `Block status not yet available for slot ${CURSOR}`],
    [-32016, 'Minimum context slot has not been reached'],
    [-32019, 'Failed to query long-term storage; please try again'],
  ])('is asked elsewhere: %i "%s"', async (code, message) => {
    answer = asked => {
      const answers = [asked].flat().map(({ id }) => errorOf(id, code, message));
      return { body: JSON.stringify(Array.isArray(asked) ? answers : answers[0]) };
    };
    expect(await fail(adapter.readHeads(node, CURSOR))).toBeInstanceOf(LaggingNode);
    const address = GENESIS;
    const network = { id: 'sol', contract: null };
    const request = { from: 1, to: CURSOR, watch: [{ network, address }], undoableFrom: CURSOR };
    const failure = await fail(adapter.scan(node, request));
    expect(failure).toBeInstanceOf(NodeFailure);
    expect(opened.pausedFor()).toBe(0);
    expect(opened.failures()).toBe(0);
  });
});
