import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import { createEvmAdapter } from '#chains/evm/adapter.ts';
import { headerHash } from '#chains/evm/header-hash.ts';
import { readTransfer } from '#chains/evm/transfer-logs.ts';
import { type Node, NodeFailure } from '#chains/nodes/node.ts';
import type { Fields } from '#chains/responses.ts';
import { alteredNode } from '../../helpers/altered-node.ts';
import { plainNode } from '../../helpers/plain-node.ts';
import { watch } from './networks.ts';
import headers from './recorded/headers.json' with { type: 'json' };

/**
 * Block 21,854,576 of Ethereum, with 57 transactions of types 0 to 3: test/data/eth_getLogs1 of
 * corpus-core/colibri-stateless on GitHub, without what is not hashed. headers.json has the headers of block
 * 7,706,000 of BNB Smart Chain (frame/bridge/bsc/src/benchmarking.rs of darwinia-network/darwinia-common) and of
 * block 58,119,344 of Avalanche Fuji (evm/evm-rpc/test/fixtures of subsquid/squid-sdk).
 */
const { block, receipts } = JSON.parse(
  gunzipSync(
    readFileSync(new URL('recorded/ethereum-21854576.json.gz', import.meta.url)),
  ).toString(),
) as { block: Fields & { readonly hash: string }; receipts: readonly Receipt[] };

interface Receipt extends Fields {
  readonly type: string;
  readonly logs: readonly Fields[];
}

/** Tether USD. */
const USDT = { id: 'eth-usdt', contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7' };

/** A node with only these blocks. */
function nodeOf(shown: Fields, own: readonly Fields[]): Node {
  const answers: Record<string, unknown> = {
    eth_getBlockByHash: shown,
    eth_getBlockByNumber: shown,
    eth_getBlockReceipts: own,
  };
  const unused = plainNode('http://127.0.0.1:1');
  return {
    ...unused,
    call: async method => answers[method],
    batch: async calls => calls.map(({ method }) => answers[method]),
  };
}

const node = nodeOf(block, receipts);

/** All transfers of the token, as the logs of the receipts show them. */
const paid = receipts
  .flatMap(({ logs }) => logs.map(readTransfer))
  .filter(transfer => transfer?.contract === USDT.contract.toLowerCase());
const payees = [...new Set(paid.flatMap(transfer => transfer?.to ?? []))];
const [first = ''] = payees;

test('a block of Ethereum with types 0 to 3 proves its transfers', async () => {
  expect([...new Set(receipts.map(({ type }) => type))].toSorted()).toEqual([
    ...['0x0', '0x1', '0x2', '0x3'],
  ]);
  const adapter = createEvmAdapter(chainOf('eth'));
  const list = watch(USDT, ...payees);
  const proven = await adapter.proveTransfers?.(node, block, list);
  const arrived = paid.filter(transfer => transfer?.amount !== 0n);
  expect(proven?.map(({ address, tokenAmount }) => [address, tokenAmount])).toEqual(
    arrived.map(transfer => [transfer?.to, transfer?.amount]),
  );
  expect(arrived.length).toBeGreaterThan(5);
  const height = Number(block.number);
  const request = { from: height, to: height, undoableFrom: 0, isSecondLook: true as const };
  for (const watched of [list, watch(USDT, first)]) {
    const { transfers } = await adapter.scan(node, { ...request, watch: watched });
    const own = new Set(watched.map(({ address }) => address));
    expect(transfers).toEqual(proven?.filter(({ address }) => own.has(address)));
  }
});

test('none of its receipts can be left out', async () => {
  for (let index = 0; index < receipts.length; index++) {
    const altered = alteredNode(node, (method, _params, result) =>
      method === 'eth_getBlockReceipts' ? receipts.toSpliced(index, 1) : result,
    );
    const adapter = createEvmAdapter(chainOf('eth'));
    const proof = adapter.proveTransfers?.(altered, block, watch(USDT, first));
    await expect(proof).rejects.toThrow(NodeFailure);
  }
});

test('headers of Ethereum and of BNB Smart Chain hash to their blocks', () => {
  for (const header of [block, headers.bnb]) {
    expect(headerHash(header)).toBe(header.hash);
    expect(headerHash({ ...header, receiptsRoot: header.stateRoot })).not.toBe(header.hash);
  }
});

test('a header of Avalanche, which has the receipts of other blocks, proves nothing', async () => {
  // Gas was used, but the root is that of no receipts: `settledHeight` is two blocks below (ACP-194).
  const shown = { ...headers.fuji, transactions: [block.hash] };
  const adapter = createEvmAdapter(chainOf('avax-test'));
  expect(await adapter.proveTransfers?.(nodeOf(shown, []), shown, watch(USDT, first))).toBeNull();
});
