import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import { NodeFailure, ResponseTooLarge } from '#chains/nodes/node.ts';
import { openNode } from '#chains/nodes/open-node.ts';
import type { ChainTransfer, WatchedAddress } from '#chains/transfer.ts';
import { createTronAdapter } from '#chains/tron/adapter.ts';
import { fromHexAddress, toHexAddress } from '#chains/tron/json-rpc.ts';
import { toInfo, toPlainTransfer, toWalletBlock } from '#chains/tron/responses.ts';
import { verifyIdentity } from '#onchain/watching/verify-identity.ts';
import { type PlainNode, plainNode } from '../../helpers/plain-node.ts';
import { sendByContract, sendTokens, sendTrc10, sendTrx, TronNode } from '../../helpers/tron.ts';
import recorded from './recorded.json' with { type: 'json' };

const OWN = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
const OTHER = 'TVjsyZ7fYF3qLF6BQgPmTEZy1xrNNyVAAA';
const USDT = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf';
const COUNTERFEIT = 'TEkxiTehnzSmSe2XqrBj4w32RUN966rdz8';
const TRX = { network: { id: 'tron-test', contract: null }, address: OWN };
const TOKEN = { network: { id: 'tron-usdt-test', contract: USDT }, address: OWN };

const chain = chainOf('tron-test');
const adapter = createTronAdapter(chain);
let tron: TronNode;
let node: PlainNode;
let stop: () => Promise<void>;

beforeAll(async () => {
  tron = new TronNode(Date.now);
  stop = await tron.start();
  node = plainNode(tron.url);
});
afterAll(() => stop());

/** Scans the blocks since a height. */
function scan(from: number, watch: readonly WatchedAddress[], undoableFrom = from) {
  return adapter.scan(node, { from, to: tron.height, watch, undoableFrom, parentHash: null });
}

/** Sends transactions in a separate block, and scans it. */
async function transfersOf(
  watch: readonly WatchedAddress[],
  ...transactions: Parameters<TronNode['pool']['push']>
): Promise<readonly ChainTransfer[]> {
  const from = tron.height + 1;
  tron.pool.push(...transactions);
  tron.mine();
  return (await scan(from, watch)).transfers;
}

test('identity is the chain ID, which matches the first block', async () => {
  expect(await adapter.identify(node)).toBe('2494104990');
  const other = new TronNode(Date.now);
  Object.assign(other.blocks[0] ?? {}, { id: '0'.repeat(64) });
  const end = await other.start();
  await expect(adapter.identify(plainNode(other.url))).rejects.toThrow(NodeFailure);
  await end();
});

test('the test chain is Shasta or Nile, and nodes of other chains are refused', async () => {
  const verified = async (chainId: string, id: 'tron' | 'tron-test', identity: string | null) => {
    const other = new TronNode(Date.now, { chainId });
    const end = await other.start();
    const expected = { identity, isProduction: true };
    try {
      return await verifyIdentity(adapter, chainOf(id), plainNode(other.url), expected);
    } finally {
      await end();
    }
  };
  const [MAINNET, SHASTA, NILE] = ['2b6653dc', '94a9059e', 'cd8690dc'];
  expect(await verified(SHASTA, 'tron-test', null)).toBe('2494104990');
  const nile = await verified(NILE, 'tron-test', null);
  expect(await verified(NILE, 'tron-test', nile)).toBe('3448148188');
  await expect(verified(SHASTA, 'tron-test', nile)).rejects.toThrow(
    'it is a node of Tron Shasta (2494104990); the others of tron-test are of Tron Nile (3448148188)',
  );
  await expect(verified(NILE, 'tron', null)).rejects.toThrow(
    'tron in production expects Tron mainnet',
  );
  await expect(verified(MAINNET, 'tron-test', null)).rejects.toThrow(
    'expects Tron Shasta (2494104990), or Tron Nile (3448148188)',
  );
});

test('blocks that are too large for one response are requested in parts', async () => {
  const from = tron.height + 1;
  tron.pool.push(sendTrx(OWN, 5));
  tron.mine(10);
  const widths: number[] = [];
  const narrow = {
    ...node,
    post: async (...args: Parameters<typeof node.post>) => {
      const [path, range, options] = args;
      if (path === '/wallet/getblockbylimitnext') {
        const { startNum, endNum } = range as { startNum: number; endNum: number };
        widths.push(endNum - startNum);
        if (endNum - startNum > 3 && options?.mayBeTooLarge === true) {
          throw new ResponseTooLarge('an answer of more than 16 MiB');
        }
      }
      return node.post(...args);
    },
  };
  const request = { from, to: tron.height, watch: [TRX], undoableFrom: from, parentHash: null };
  const { through, transfers } = await adapter.scan(narrow, request);
  expect(widths).toEqual([10, 5, 3, 2, 5, 3, 2]);
  expect(through.height).toBe(tron.height);
  expect(transfers).toMatchObject([{ address: OWN, tokenAmount: 5n }]);
});

test('heads are the newest and the solid block, with hashes as the chain writes them', async () => {
  const { tip, finalHeight, cursorHash } = await adapter.readHeads(node, 3);
  expect(await adapter.readHeight(node)).toBe(tip.height);
  expect(tip).toMatchObject({ height: tron.height, hash: tron.blocks.at(-1)?.id });
  expect(finalHeight).toBe(tron.solid);
  expect(cursorHash).toBe(tron.blocks[3]?.id);
  expect(await adapter.readBlock(node, 1_000_000)).toBeNull();
});

describe('TRX', () => {
  test('sent by an account itself counts, with its amount in sun', async () => {
    const transfer = sendTrx(OWN, 10_000_000);
    const block = () => tron.blocks.at(-1);
    expect(await transfersOf([TRX], transfer, sendTrx(OTHER, 5))).toEqual([
      {
        blockchainId: 'tron-test',
        transactionHash: transfer.id,
        position: 0,
        address: OWN,
        tokenAmount: 10_000_000n,
        inputs: null,
        maturity: 1,
        block: { height: tron.height, hash: block()?.id, time: new Date(block()?.time ?? 0) },
      },
    ]);
  });

  test.each([
    ['a TRC-10 asset', sendTrc10(OWN, 10_000_000)],
    ['a transfer without success', sendTrx(OWN, 10_000_000, 'OUT_OF_ENERGY')],
    ['nothing', sendTrx(OWN, 0)],
    ['what a contract sends and takes back', sendByContract(OWN, 7, { rejected: true })],
    ['what a call sends that fails', sendByContract(OWN, 7, { failed: true })],
    ['a TRC-10 asset that a contract sends', sendByContract(OWN, 7, { tokenId: '1005416' })],
    ['what an address sends to itself', sendByContract(OWN, 7, { caller: OWN })],
  ])('%s does not count', async (_, transaction) => {
    expect(await transfersOf([TRX], transaction)).toEqual([]);
    expect(await transfersOf([TRX], sendTrx(OWN, 1))).toHaveLength(1);
  });

  test('that a contract sends counts if the node records it, with its position', async () => {
    const sent = sendByContract(OWN, 9_000_000);
    expect(await transfersOf([TRX], sent)).toMatchObject([
      { transactionHash: sent.id, position: 2, tokenAmount: 9_000_000n },
    ]);
  });

  test('in solid blocks is read from these', async () => {
    const from = tron.height + 1;
    const sent = sendTrx(OWN, 3);
    tron.pool.push(sent);
    tron.mine(25);
    tron.asked.length = 0;
    const { transfers, through } = await adapter.scan(node, {
      from,
      to: from + 3,
      watch: [TRX],
      undoableFrom: tron.solid + 1,
      parentHash: null,
    });
    expect(transfers).toMatchObject([{ transactionHash: sent.id }]);
    expect(through.height).toBe(from + 3);
    expect(new Set(tron.asked)).toEqual(new Set(['/walletsolidity/getblockbynum']));
  });

  test('of solid blocks and of later ones is read from the newest branch', async () => {
    tron.pool.push(sendTrx(OWN, 4));
    tron.mine(5);
    const { height } = tron;
    tron.asked.length = 0;
    const { transfers, through } = await scan(height - 4, [TRX], height - 1);
    expect(transfers).toMatchObject([{ tokenAmount: 4n }]);
    expect(through.height).toBe(height);
    expect(tron.asked).not.toContain('/walletsolidity/getblockbynum');
  });

  test('of a block that is not solid yet is not read as solid', async () => {
    const from = tron.height;
    const request = { from, to: from, watch: [TRX], undoableFrom: from + 1, parentHash: null };
    await expect(adapter.scan(node, request)).rejects.toThrow('has no block');
  });
});

describe('a token', () => {
  test('counts by its logs, each with its position in the transaction', async () => {
    const first = sendTokens({ contract: USDT, to: OTHER, amount: 5n });
    const sent = sendTokens(
      { contract: USDT, to: OTHER, amount: 1n },
      { contract: USDT, to: OWN, amount: 2_500_000n },
    );
    expect(await transfersOf([TOKEN], first, sent)).toMatchObject([
      {
        blockchainId: 'tron-usdt-test',
        transactionHash: sent.id,
        position: 1,
        address: OWN,
        tokenAmount: 2_500_000n,
      },
    ]);
  });

  test('that is a counterfeit does not count', async () => {
    const fake = sendTokens({ contract: COUNTERFEIT, to: OWN, amount: 2_500_000n });
    expect(await transfersOf([TOKEN], fake)).toEqual([]);
  });

  test('and TRX are found together', async () => {
    const sent = sendTokens({ contract: USDT, to: OWN, amount: 4n });
    const found = await transfersOf([TRX, TOKEN], sent, sendTrx(OWN, 6));
    expect(found.map(({ blockchainId, tokenAmount }) => [blockchainId, tokenAmount])).toEqual([
      ['tron-test', 6n],
      ['tron-usdt-test', 4n],
    ]);
  });

  test('and TRX are reported up to the same block, if a node accepts few blocks for logs', async () => {
    const from = tron.height + 1;
    tron.mine(2);
    tron.pool.push(sendTrx(OWN, 6));
    tron.mine();
    const narrow = plainNode(tron.url, {}, { logRange: 2 });
    const request = { to: tron.height, watch: [TRX, TOKEN], undoableFrom: from, parentHash: null };
    expect(await adapter.scan(narrow, { ...request, from })).toMatchObject({
      through: { height: from + 1 },
      transfers: [],
    });
    expect((await adapter.scan(narrow, { ...request, from: from + 2 })).transfers).toHaveLength(1);
  });
});

test('a block whose parent is not the cursor is on another branch', async () => {
  const [from, parentHash] = [tron.height, 'ab'.repeat(32)];
  const request = { from, to: from, watch: [TRX], undoableFrom: from, parentHash };
  await expect(adapter.scan(node, request)).rejects.toThrow('another branch');
  const tokens = { ...request, watch: [TOKEN] };
  await expect(adapter.scan(node, tokens)).rejects.toThrow('another branch');
});

describe('a look-up reports', () => {
  const lookUp = (transactionHash: string, watch = [TRX, TOKEN]) =>
    adapter.lookUp(node, { transactionHash, watch, inputs: null, blockHash: null });
  const mined = (transaction: Parameters<TronNode['pool']['push']>[0]) => {
    tron.pool.push(transaction);
    tron.mine();
    return lookUp(transaction.id);
  };

  test('nothing', async () => {
    expect(await lookUp('ab'.repeat(32))).toEqual({ status: 'unknown' });
  });

  test('a pending transaction', async () => {
    const waiting = sendTrx(OWN, 1);
    tron.pool.push(waiting);
    expect(await lookUp(waiting.id)).toEqual({ status: 'pending', transfers: [] });
  });

  test('TRX, tokens, and TRX of a contract, in their block', async () => {
    expect(await mined(sendTrx(OWN, 8))).toMatchObject({
      status: 'included',
      block: { hash: tron.blocks.at(-1)?.id },
      transfers: [{ position: 0, tokenAmount: 8n, address: OWN }],
    });
    expect(await mined(sendTokens({ contract: USDT, to: OWN, amount: 9n }))).toMatchObject({
      transfers: [{ blockchainId: 'tron-usdt-test', position: 0, tokenAmount: 9n }],
    });
    expect(await mined(sendByContract(OWN, 7))).toMatchObject({
      transfers: [{ position: 2, tokenAmount: 7n }],
    });
  });

  test.each([
    ['a plain transfer', sendTrx(OWN, 5, 'OUT_OF_ENERGY')],
    ['a call', sendByContract(OWN, 5, { failed: true })],
  ])('%s that failed', async (_, transaction) => {
    expect(await mined(transaction)).toMatchObject({ status: 'failed' });
  });

  test('worthless assets: TRC-10 and other tokens', async () => {
    expect(await mined(sendTrc10(OWN, 5))).toMatchObject({
      status: 'included',
      transfers: [],
      foreign: [{ address: OWN, contract: '31303035343136' }],
    });
    const fake = sendTokens({ contract: COUNTERFEIT, to: OWN, amount: 5n });
    expect(await mined(fake)).toMatchObject({
      status: 'included',
      transfers: [],
      foreign: [{ address: OWN, contract: COUNTERFEIT }],
    });
  });
});

test('{"Error"} with status 200 means that a node limits calls, or fails', async () => {
  const open = openNode(
    {
      id: 'n',
      chain: 'tron-test',
      label: 'tron.example',
      role: 'primary',
      abilities: { trace: null, logRange: null, batch: 1, archive: false, pruneHeight: null },
      requestsPerSecond: 100,
      access: { url: tron.url, headers: {} },
    },
    { clock: Date.now, wait: async () => undefined },
  );
  const limited = open.within(AbortSignal.timeout(5_000));
  tron.answersOnly = recorded.limited;
  await expect(adapter.readHeads(limited, null)).rejects.toThrow(NodeFailure);
  const request = { from: 1, to: 1, watch: [TRX], undoableFrom: 1, parentHash: null };
  await expect(adapter.scan(limited, request)).rejects.toThrow(NodeFailure);
  tron.answersOnly = null;
  await open.close();
});

describe('what java-tron documents', () => {
  test('a block with a transfer, a TRC-10 asset and a call', () => {
    const { height, hash, transactions } = toWalletBlock(node, recorded.block, 66_987_565);
    expect({ height, hash }).toEqual({ height: 66_987_565, hash: recorded.block.blockID });
    expect(transactions.map(each => toPlainTransfer(node, each))).toMatchObject([
      { kind: 'trx', amount: 10_000_000n, succeeded: true },
      { kind: 'trc-10', asset: '31303035343136' },
      undefined,
    ]);
    expect(() => toWalletBlock(node, recorded.missing, 1)).toThrow('has no block 1');
    expect(() => toWalletBlock(node, recorded.block, 1)).toThrow('came for 1');
  });

  test('information on a transfer, on a call, and on an undone transaction', () => {
    const infos = recorded.infos.map(each => toInfo(node, each));
    expect(infos.map(({ succeeded }) => succeeded)).toEqual([true, true, false]);
    expect(infos.map(({ internal }) => internal)).toEqual([[], [], []]);
  });
});

test('an address is 20 bytes in logs, and T… everywhere else', () => {
  expect(toHexAddress(USDT)).toBe('0xeca9bc828a3005b9a3b909f2cc5c2a54794de05f');
  expect(fromHexAddress(toHexAddress(OWN))).toBe(OWN);
});
