import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import { LaggingNode, NodeFailure } from '#chains/nodes/node.ts';
import type { ChainTransfer, WatchedAddress } from '#chains/transfer.ts';
import { createTronAdapter } from '#chains/tron/adapter.ts';
import { toHexAddress } from '#chains/tron/json-rpc.ts';
import { alteredNode } from '../../helpers/altered-node.ts';
import { type PlainNode, plainNode } from '../../helpers/plain-node.ts';
import {
  act,
  sendByContract,
  sendTokens,
  sendTrc10,
  sendTrx,
  TronNode,
  type TronTransaction,
} from '../../helpers/tron.ts';
import { RUNS } from '../nonsense.ts';

const OWN = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
const OTHER = 'TVjsyZ7fYF3qLF6BQgPmTEZy1xrNNyVAAA';
const USDT = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf';
const trx = (address: string): WatchedAddress => ({
  network: { id: 'tron-test', contract: null },
  address,
});
const usdt = (address: string): WatchedAddress => ({
  network: { id: 'tron-usdt-test', contract: USDT },
  address,
});
/** Blocks after which one is solid. */
const DEPTH = 19;

const adapter = createTronAdapter(chainOf('tron-test'));
const { holdings } = adapter;
if (holdings === undefined) throw new Error('Tron has holdings');
let tron: TronNode;
let node: PlainNode;
let stop: () => Promise<void>;

beforeEach(async () => {
  tron = new TronNode(Date.now);
  tron.mine(DEPTH);
  stop = await tron.start();
  node = plainNode(tron.url);
});
afterEach(() => stop());

const solid = () => ({ height: tron.solid, hash: tron.blocks[tron.solid]?.id ?? '' });
const hold = (address: string, balance: bigint, contract?: string) =>
  tron.held.set(
    contract === undefined
      ? toHexAddress(address)
      : `${toHexAddress(contract)} ${toHexAddress(address)}`,
    balance,
  );

/** Mines each transaction in its own block, until they are solid. */
function mineSolid(...transactions: readonly TronTransaction[]): { from: number; to: number } {
  const from = tron.height;
  for (const each of transactions) {
    tron.pool.push(each);
    tron.mine();
  }
  const to = tron.height;
  tron.mine(DEPTH);
  return { from, to };
}

describe('balances', () => {
  test('are those after the newest solid block, of TRX and of tokens, and 0 if there is no account', async () => {
    hold(OWN, 2n ** 60n);
    hold(OTHER, 0n);
    hold(OWN, 2n ** 200n, USDT);
    const watch = [usdt(OWN), trx(OWN), trx(OTHER), usdt(OTHER), trx(USDT)];
    const { height, balances } = await holdings.read(node, solid(), watch);
    expect(height).toBe(tron.solid);
    expect(balances).toEqual([2n ** 200n, 2n ** 60n, 0n, 0n, 0n]);
  });

  test('are not returned by a node that has not reached the block', async () => {
    const ahead = { ...solid(), height: tron.solid + 1 };
    await expect(holdings.read(node, ahead, [trx(OWN)])).rejects.toThrow(LaggingNode);
  });

  test.each([
    ['TRX', trx(OWN), () => sendTrx(OWN, 7)],
    ['a token', usdt(OWN), () => sendTokens({ contract: USDT, to: OWN, amount: 7n })],
  ])('of %s that changed while others were read are read again', async (_, watched, send) => {
    mineSolid();
    tron.pool.push(send());
    tron.mine();
    tron.mine(DEPTH - 1);
    const before = tron.solid;
    const contract = watched.network.contract ?? undefined;
    let reads = 0;
    tron.onAsked = path => {
      if (!/getaccount|triggerconstant/.test(path)) return;
      reads += 1;
      // The first response is still from the previous block.
      if (reads === 1) return;
      hold(OWN, 7n, contract);
      if (reads === 2) tron.mine();
    };
    const others = [trx(OTHER), usdt(OTHER)];
    const { height, balances } = await holdings.read(node, solid(), [watched, ...others]);
    expect(height).toBe(before + 1);
    expect(balances).toEqual([7n, 0n, 0n]);
    // The others have not changed, and are not read again.
    expect(reads).toBe(4);
  });

  test('that never settle are not balances of one block', async () => {
    const watch = [usdt(OWN)];
    const from = tron.height;
    for (let made = 0; made < 40; made++) {
      tron.pool.push(sendTokens({ contract: USDT, to: OWN, amount: 1n }));
      tron.mine();
    }
    tron.solid = from + 1;
    tron.onAsked = path => {
      if (path.endsWith('triggerconstantcontract')) tron.solid += 1;
    };
    await expect(holdings.read(node, solid(), watch)).rejects.toThrow('one and the same block');
  });

  test('that a node does not return are requested again, and then unknown, without the others', async () => {
    hold(OWN, 5n);
    for (const wrong of [
      { result: { code: 'OTHER_ERROR', message: '00' } },
      { result: { result: true }, constant_result: [''] },
      { result: { result: true } },
      {},
      null,
    ]) {
      const fresh = createTronAdapter(chainOf('tron-test')).holdings;
      const altered = alteredNode(node, (path, _, result) =>
        path.endsWith('triggerconstantcontract') ? wrong : result,
      );
      const read = () => fresh?.read(altered, solid(), [trx(OWN), usdt(OWN)]);
      await expect(read()).rejects.toThrow(NodeFailure);
      await expect(read()).rejects.toThrow(NodeFailure);
      expect(await read()).toMatchObject({ balances: [5n, null] });
    }
  });

  test('of another account than the requested one are not accepted', async () => {
    hold(OWN, 5n);
    const altered = alteredNode(node, (path, _, result) =>
      path.endsWith('getaccount')
        ? { ...(result as object), address: `41${'0'.repeat(40)}` }
        : result,
    );
    await expect(holdings.read(altered, solid(), [trx(OWN)])).rejects.toThrow('another account');
  });
});

describe('what explains a balance change', () => {
  const moved = async (watch: readonly WatchedAddress[], range: { from: number; to: number }) =>
    holdings.readMoved(node, range, watch);

  test('of a token is what its logs say, in both directions and only in the range', async () => {
    mineSolid(sendTokens({ contract: USDT, to: OWN, amount: 100n }));
    const range = mineSolid(
      sendTokens(
        { contract: USDT, to: OWN, amount: 5n },
        { contract: USDT, to: OTHER, amount: 9n },
      ),
      sendTokens({ contract: USDT, from: OWN, to: OTHER, amount: 2n }),
      sendTokens({ contract: OTHER, to: OWN, amount: 50n }),
    );
    expect(await moved([usdt(OWN), usdt(OTHER)], range)).toEqual([
      { arrived: 5n, left: 2n },
      { arrived: 11n, left: 0n },
    ]);
    expect(await moved([usdt(OWN)], { from: range.to, to: tron.solid })).toEqual([
      { arrived: 0n, left: 0n },
    ]);
  });

  test.each<[string, TronTransaction, bigint, bigint]>([
    ['a transfer to it', sendTrx(OWN, 7), 7n, 0n],
    ['a transfer without success', sendTrx(OWN, 7, 'OUT_OF_ENERGY'), 0n, 0n],
    ['a TRC-10 asset', sendTrc10(OWN, 7), 0n, 0n],
    ['what a contract sends', sendByContract(OWN, 7), 7n, 0n],
    ['what a contract takes back', sendByContract(OWN, 7, { rejected: true }), 0n, 0n],
    ['what a failed call sends', sendByContract(OWN, 7, { failed: true }), 0n, 0n],
    ['what it sends by a contract', sendByContract(OTHER, 7, { caller: OWN }), 0n, 7n],
    [
      'a transfer from it, and the fee',
      act(OWN, 'TransferContract', { amount: 7, to_address: `41${'1'.repeat(40)}` }, { fee: 3 }),
      ...([0n, 10n] as const),
    ],
    [
      'a call with a value',
      act(
        OWN,
        'TriggerSmartContract',
        { call_value: 7, contract_address: `41${'1'.repeat(40)}` },
        { fee: 3 },
      ),
      ...([0n, 10n] as const),
    ],
    [
      'a call that failed, of which the fee is left',
      act(
        OWN,
        'TriggerSmartContract',
        { call_value: 7, contract_address: `41${'1'.repeat(40)}` },
        { fee: 3, result: 'FAILED' },
        'REVERT',
      ),
      ...([0n, 3n] as const),
    ],
    ['a stake', act(OWN, 'FreezeBalanceV2Contract', { frozen_balance: 7 }), 0n, 7n],
    [
      'a stake that comes back',
      act(OWN, 'WithdrawExpireUnfreezeContract', {}, { withdraw_expire_amount: 7 }),
      ...([7n, 0n] as const),
    ],
    ['rewards', act(OWN, 'WithdrawBalanceContract', {}, { withdraw_amount: 7 }), 7n, 0n],
    ['a vote', act(OWN, 'VoteWitnessContract', {}, { fee: 1 }), 0n, 1n],
  ])('of TRX is %s', async (_, transaction, arrived, left) => {
    // In the block before the range.
    tron.pool.push(sendTrx(OWN, 1_000));
    tron.mine();
    const range = mineSolid(transaction, sendTrx(OTHER, 5));
    expect(await moved([trx(OWN), usdt(OWN)], range)).toEqual([
      { arrived, left },
      { arrived: 0n, left: 0n },
    ]);
  });

  test('leaves out what cannot be read', async () => {
    const range = mineSolid(sendTrx(OWN, 7), sendTrx(OWN, 9));
    const altered = alteredNode(node, (path, _, result) => {
      if (path !== '/wallet/getblockbylimitnext') return result;
      const [first, ...others] = (result as { block: object[] }).block;
      return { block: [{ ...first, transactions: [null, { raw_data: 1 }] }, ...others] };
    });
    expect(await holdings.readMoved(altered, range, [trx(OWN)])).toEqual([
      { arrived: 9n, left: 0n },
    ]);
  });

  test('of TRX is unknown in a range that is too long to read', async () => {
    const asked = tron.asked.length;
    expect(await moved([trx(OWN)], { from: 0, to: 1_201 })).toEqual([null]);
    expect(tron.asked.length).toBe(asked);
  });

  test('of TRX in many blocks takes a call per twenty, and one for each with a fee', async () => {
    const from = tron.solid;
    const paid = act(OWN, 'TransferContract', { amount: 7, to_address: '41' }, { fee: 3 });
    mineSolid(sendTrx(OWN, 5), sendByContract(OWN, 9), paid);
    const before = tron.asked.length;
    const range = { from, to: tron.solid };
    expect(range.to - range.from).toBeGreaterThan(20);
    expect(await moved([trx(OWN)], range)).toEqual([{ arrived: 5n, left: 10n }]);
    expect(tron.asked.slice(before)).toEqual([
      '/wallet/getblockbylimitnext',
      '/wallet/getblockbylimitnext',
      '/walletsolidity/gettransactioninfobyblocknum',
    ]);
  });

  test('of TRX agrees with the transfers of the scans', async () => {
    const send = fc.oneof(
      fc.nat(99).map(amount => sendTrx(OWN, amount)),
      fc.nat(99).map(amount => sendTrx(OTHER, amount)),
      fc.nat(99).map(amount => sendByContract(OWN, amount)),
      fc.nat(99).map(amount => sendByContract(OWN, amount, { failed: true })),
      fc.nat(99).map(amount => sendTrc10(OWN, amount)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(send, { maxLength: 6 }), async transactions => {
        const range = mineSolid(...transactions);
        const request = { from: range.from + 1, to: range.to, parentHash: null };
        const transfers: ChainTransfer[] =
          range.to === range.from
            ? []
            : [
                ...(
                  await adapter.scan(node, {
                    ...request,
                    watch: [trx(OWN)],
                    undoableFrom: range.to + 1,
                  })
                ).transfers,
              ];
        const sum = transfers.reduce((total, { tokenAmount }) => total + tokenAmount, 0n);
        expect(await moved([trx(OWN)], range)).toEqual([{ arrived: sum, left: 0n }]);
      }),
      { ...RUNS, numRuns: 10 },
    );
  });
});
