import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { NodeFailure, ResponseTooLarge } from '#chains/nodes/node.ts';
import { type OpenNode, openNode } from '#chains/nodes/open-node.ts';
import { readBody } from '#chains/nodes/read-body.ts';
import { anyCharacter } from '../../helpers/any-text.ts';
import { type JsonServer, serveJson } from '../../helpers/json-server.ts';
import { SHAPES, type Shape, serveShapes } from './serve-shapes.ts';

const MIB = 1024 * 1024;
const PROCESS = fileURLToPath(new URL('ask-shapes.ts', import.meta.url));

describe('a process with a heap of 256 MB', () => {
  let server: Awaited<ReturnType<typeof serveShapes>>;
  afterEach(() => server.stop());

  async function outcomes(...asked: readonly (Shape | 'look-up')[]) {
    const flags = ['--max-old-space-size=256', PROCESS, server.url, ...asked];
    const { stdout } = await promisify(execFile)(process.execPath, flags);
    return JSON.parse(stdout);
  }

  test('survives all responses of a node', async () => {
    server = await serveShapes();
    const shapes = Object.keys(SHAPES) as Shape[];
    const allowed = shapes.filter(shape => shape.endsWith('Allowed'));
    expect(await outcomes(...shapes)).toEqual({
      nested: 'one: an answer nested deeper than 64',
      nestedObjects: 'one: an answer nested deeper than 64',
      tooLong: 'one: an answer of more than 16 MiB',
      wide: 'one: an answer with more than 600000 values',
      emptyLists: 'one: an answer with more than 600000 values',
      ...Object.fromEntries(allowed.map(shape => [shape, 'answered'])),
    });
  }, 120_000);

  test('survives a customer’s look-up with such a response', async () => {
    server = await serveShapes('nested');
    expect(await outcomes('look-up')).toEqual({
      'look-up': 'one: an answer nested deeper than 64',
    });
  }, 60_000);
});

describe('a large response', () => {
  let server: JsonServer;
  let node: OpenNode;
  let answer: (method: string, params: unknown[]) => unknown = () => null;
  const sizes: number[] = [];

  interface Asked {
    readonly id: number;
    readonly method: string;
    readonly params: unknown[];
  }

  beforeAll(async () => {
    server = await serveJson(body => {
      const asked = body as Asked | Asked[];
      const list = [asked].flat();
      sizes.push(list.length);
      const answers = list.map(({ id, method, params }) => ({
        id,
        result: answer(method, params),
      }));
      return JSON.stringify(Array.isArray(asked) ? answers : answers[0]);
    });
  });
  afterAll(() => server.stop());
  afterEach(() => node.close());

  function open() {
    node = openNode(
      {
        id: 'n1',
        chain: 'eth-test',
        label: 'one',
        role: 'primary',
        requestsPerSecond: 1_000,
        abilities: { trace: null, logRange: null, batch: 50, archive: false, pruneHeight: null },
        access: { url: server.url, headers: {} },
      },
      { clock: () => 0 },
    );
    sizes.length = 0;
    return node.within(new AbortController().signal);
  }
  const failureOf = async (call: Promise<unknown>): Promise<Error> =>
    call.then(
      () => expect.unreachable(),
      (error: Error) => error,
    );

  test('is a failure of the node, which is then suspended for a minute', async () => {
    answer = () => '0'.repeat(5_000);
    const failure = await failureOf(open().call('eth_chainId', []));
    expect(failure).toBeInstanceOf(NodeFailure);
    expect(failure.message).toBe('one: an answer of more than 4 KiB');
    expect(node.pausedFor()).toBe(60_000);
    expect(node.lastFailure()).toBe(failure.message);
    expect(node.failures()).toBe(1);
  });

  test('to a call that permits it is no failure', async () => {
    answer = () => '0'.repeat(17 * MIB);
    const within = open();
    const call = { method: 'eth_getLogs', params: [], mayBeTooLarge: true };
    expect(await within.batch([call])).toEqual([expect.any(ResponseTooLarge)]);
    const posted = within.post('/wallet/getblockbylimitnext', {}, { mayBeTooLarge: true });
    expect(await failureOf(posted)).toBeInstanceOf(ResponseTooLarge);
    expect(node.pausedFor()).toBe(0);
  });

  test('to a batch is requested in parts', async () => {
    answer = () => '0'.repeat(6 * MIB);
    const block = { method: 'eth_getBlockByNumber', params: ['0x1', true] };
    const within = open();
    expect(await within.batch([block, block, block, block, block])).toHaveLength(5);
    expect(sizes).toEqual([5, 2, 2, 1]);
    expect(node.pausedFor()).toBe(0);
    expect(node.batchLimit()).toBeNull();
    // Later batches remember it, and only occasionally retry: blocks may have become shorter.
    const both = [block, block];
    answer = () => '';
    for (let sent = 0; sent < 40; sent++) await within.batch(both);
    expect(sizes.splice(0)).toEqual([5, 2, 2, 1, ...Array(40).fill(2)]);
    answer = () => '0'.repeat(6 * MIB);
    await within.batch([...both, ...both]);
    expect(sizes.splice(0)).toEqual([3, 1, 1, 1, 1]);
    // Headers are short.
    answer = () => '';
    const header = { method: 'eth_getBlockByNumber', params: ['0x1', false] };
    await within.batch(Array(5).fill(header));
    expect(sizes).toEqual([5]);
    // If one of them is too large by itself, it is the node's fault.
    answer = (_, [tag]) => '0'.repeat(tag === '0x2' ? 2 * MIB : 10);
    const headers = ['0x1', '0x2'].map(tag => ({
      method: 'eth_getBlockByNumber',
      params: [tag, false],
    }));
    expect((await failureOf(within.batch(headers))).message).toBe(
      'one: an answer of more than 1 MiB',
    );
  });

  test('may be nested as deeply as contract calls only in a trace', async () => {
    answer = () => {
      let frame: object = { type: 'CALL' };
      for (let depth = 1; depth < 1_024; depth++) frame = { type: 'CALL', calls: [frame] };
      return [{ result: frame }];
    };
    const within = open();
    expect(await within.call('debug_traceBlockByNumber', [])).toHaveLength(1);
    const failure = await failureOf(within.call('eth_getTransactionReceipt', []));
    expect(failure.message).toBe('one: an answer nested deeper than 64');
  });
});

async function* inChunks(bytes: Uint8Array, sizes: readonly number[]) {
  let next = 0;
  for (let turn = 0; next < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(next, next + size);
    next += size;
  }
}

/** Nesting depth of lists and objects. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test('JSON is parsed as it is, in chunks of any size, unless it is nested too deeply', async () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
  const json = fc.json({ maxDepth: 6, stringUnit: anyCharacter });
  await fc.assert(
    fc.asyncProperty(json, sizes, fc.integer({ min: 0, max: 6 }), async (text, chunks, depth) => {
      const reading = readBody(inChunks(Buffer.from(text), chunks), false, { bytes: MIB, depth });
      if (depthOf(JSON.parse(text)) > depth) {
        await expect(reading).rejects.toThrow(`nested deeper than ${depth}`);
      } else expect(JSON.parse(await reading)).toEqual(JSON.parse(Buffer.from(text).toString()));
    }),
    { numRuns: 300 },
  );
});

test('an error page is read only as far as an error needs', async () => {
  const page = Buffer.from('<'.repeat(MIB));
  const text = await readBody(inChunks(page, [10_000]), true, { bytes: 4_096, depth: 1 });
  expect(text.length).toBeGreaterThan(50_000);
  expect(text.length).toBeLessThan(70_000);
});
