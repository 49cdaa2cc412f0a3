import { describe, expect, test } from 'vitest';
import { readCallTracer, readTraceBlock } from '#chains/evm/traces.ts';
import { NodeFailure } from '#chains/nodes/node.ts';
import { someAddress } from '../../helpers/evm.ts';
import { plainNode } from '../../helpers/plain-node.ts';

const node = plainNode('http://127.0.0.1:1');
const [ONE, OTHER] = [`0x${'11'.repeat(32)}`, `0x${'22'.repeat(32)}`];
const HASH = `0x${'bb'.repeat(32)}`;
const BLOCK = { height: 5, hash: HASH };
const [eve, shop, payee] = [someAddress(1), someAddress(2), someAddress(3)];

interface Frame {
  readonly type: string;
  readonly from?: string;
  readonly to?: string;
  /** In wei. */
  readonly value?: number;
  readonly error?: string;
  readonly calls?: readonly Frame[];
}

/** A frame in the format of `callTracer`. */
function nested({ calls = [], value, ...frame }: Frame): object {
  const quantity = value === undefined ? {} : { value: `0x${value.toString(16)}` };
  return {
    from: eve,
    ...frame,
    ...quantity,
    ...(calls.length > 0 && { calls: calls.map(nested) }),
  };
}

/** The same in the format of `trace_block`. */
function flat(frame: Frame, transactionHash: string, traceAddress: number[] = []): object[] {
  const { type, from = eve, to = payee, value = 0, error, calls = [] } = frame;
  const amount = `0x${value.toString(16)}`;
  const shared = {
    transactionHash,
    traceAddress,
    blockHash: HASH,
    blockNumber: 5,
    subtraces: calls.length,
    ...(error !== undefined && { error }),
  };
  const own = type.startsWith('CREATE')
    ? {
        type: 'create',
        action: { from, value: amount, init: '0x' },
        result: error === undefined ? { address: to, code: '0x' } : null,
      }
    : type === 'SELFDESTRUCT'
      ? { type: 'suicide', action: { address: from, refundAddress: to, balance: amount } }
      : { type: 'call', action: { callType: type.toLowerCase(), from, to, value: amount } };
  return [
    { ...shared, ...own },
    ...calls.flatMap((call, index) => flat(call, transactionHash, [...traceAddress, index])),
  ];
}

/** The moves of value in a transaction, which must be the same in both formats. */
function moves(frame: Frame): [number, string, bigint][] {
  const calls = readCallTracer(node, [{ txHash: ONE, result: nested(frame) }], [ONE]);
  expect(readTraceBlock(node, flat(frame, ONE), BLOCK, [ONE])).toEqual(calls);
  return calls.moves.map(({ index, to, value, transactionHash }) => {
    expect(transactionHash).toBe(ONE);
    return [index, to, value];
  });
}

const pay = (value: number): Frame => ({ type: 'CALL', to: payee, value });
const call = (...calls: readonly Frame[]): Frame => ({ type: 'CALL', to: shop, value: 9, calls });

describe('moves of value', () => {
  test('are numbered depth first, without the value of the transaction itself', () => {
    const deep = { type: 'CALL', to: shop, value: 2, calls: [pay(3)] };
    expect(moves(call(pay(1), deep, pay(4)))).toEqual([
      [0, payee, 1n],
      [1, shop, 2n],
      [2, payee, 3n],
      [3, payee, 4n],
    ]);
  });

  test('are reverted by any enclosing frame that fails', () => {
    const caught = { ...call(pay(1), call(pay(2))), error: 'execution reverted' };
    expect(moves(call(caught, pay(3)))).toEqual([[0, payee, 3n]]);
    const failed = { ...pay(1), error: 'execution reverted' };
    const eleven = [pay(0), failed, ...Array.from({ length: 9 }, (_, index) => pay(index + 1))];
    expect(moves(call(...eleven))).toHaveLength(9);
    const inner = { type: 'STATICCALL', to: shop, error: 'out of gas', calls: [pay(4)] };
    expect(moves(call(pay(1), inner))).toEqual([[0, payee, 1n]]);
    expect(moves({ ...call(pay(1)), error: 'Reverted' })).toEqual([]);
    const created = { type: 'CREATE', to: payee, value: 5, error: 'out of gas' };
    expect(moves(call(created, pay(6)))).toEqual([[0, payee, 6n]]);
  });

  test('are calls, creations and self-destructs', () => {
    const frames = ['CREATE', 'CREATE2', 'SELFDESTRUCT'].map(type => ({ ...pay(7), type }));
    expect(moves(call(...frames))).toEqual([0, 1, 2].map(index => [index, payee, 7n]));
    expect(moves({ type: 'CREATE', to: payee, value: 8 })).toEqual([[0, payee, 8n]]);
  });

  test('are neither delegate calls, nor payments of a contract to itself, nor zero values', () => {
    const borrowed = ['DELEGATECALL', 'CALLCODE'].map(type => ({ ...pay(7), type }));
    const itself = { ...pay(7), from: payee };
    expect(moves(call(...borrowed, itself, pay(0), pay(1)))).toEqual([[0, payee, 1n]]);
  });

  test('keep their positions if a node returns more frames than another', () => {
    const precompiled = { type: 'STATICCALL', to: `0x${'0'.repeat(39)}1` };
    const refused = { ...pay(10), error: 'insufficient balance for transfer' };
    const told = moves(call(precompiled, pay(1), refused, pay(2)));
    expect(told).toEqual(moves(call(pay(1), pay(2))));
  });
});

describe('the trace of a block', () => {
  test('has its transactions in order if a node does not name them', () => {
    const result = nested(call(pay(1)));
    const told = readCallTracer(node, [{ result }, { result }], [ONE, OTHER]);
    expect(told.moves.map(each => each.transactionHash)).toEqual([ONE, OTHER]);
  });

  test('returns the others if one transaction’s trace cannot be read, or the node gave up', () => {
    const good = { txHash: ONE, result: nested(call(pay(1))) };
    const told = { moves: [{ transactionHash: ONE, value: 1n }], unread: new Set([OTHER]) };
    for (const bad of [
      { txHash: OTHER, error: 'execution timeout' },
      { txHash: OTHER, result: null },
      { txHash: OTHER, result: nested({ ...pay(1), to: 'nonsense' }) },
      ...[null, 42, 'nonsense', [], {}],
    ]) {
      expect(readCallTracer(node, [good, bad], [ONE, OTHER])).toMatchObject(told);
    }
    const [own, other] = [flat(call(pay(1)), ONE), flat(call(pay(2), pay(3)), OTHER)];
    for (const [index, frame] of other.entries()) {
      for (const bad of [null, 42, {}, [], { ...frame, action: 'nonsense' }]) {
        const frames = [...own, ...other.with(index, bad as object)];
        expect(readTraceBlock(node, frames, BLOCK, [ONE, OTHER])).toMatchObject(told);
      }
    }
  });

  test('may include rewards, and either name of a self-destruct', () => {
    const author = { rewardType: 'block', author: payee, value: '0x1' };
    const reward = { type: 'reward', action: author, blockHash: HASH, traceAddress: [] };
    const [root, end] = flat(call({ ...pay(2), type: 'SELFDESTRUCT' }), ONE);
    const frames = [root, { ...end, type: 'selfdestruct' }, { ...reward, transactionHash: null }];
    expect(readTraceBlock(node, frames, BLOCK, [ONE])).toMatchObject({
      moves: [{ to: payee, value: 2n }],
    });
  });

  test('is a failure of the node if it is of other transactions, or malformed', () => {
    const result = nested(call(pay(1)));
    for (const [answer, hashes] of [
      [[{ txHash: OTHER, result }], [ONE]],
      [[{ txHash: ONE, result }], [ONE, OTHER]],
      [null, []],
    ] as const) {
      expect(() => readCallTracer(node, answer, hashes)).toThrow(NodeFailure);
    }
    const [frame] = flat(call(), ONE);
    for (const answer of [[{ ...frame, blockHash: OTHER }], [], {}, null]) {
      expect(() => readTraceBlock(node, answer, BLOCK, [ONE])).toThrow(NodeFailure);
    }
  });
});
