import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHoldings } from '#chains/evm/holdings.ts';
import { createLogRanges } from '#chains/evm/log-query.ts';
import { NodeFailure } from '#chains/nodes/node.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import { ANVIL_MISSING, hasAnvil } from '../../helpers/anvil.ts';
import {
  type Evm,
  type EvmChain,
  RICH,
  someAddress,
  startEvm,
  USDC_TEST,
} from '../../helpers/evm.ts';
import { type NodeProxy, RpcRefusal } from '../../helpers/node-proxy.ts';
import { type PlainNode, plainNode } from '../../helpers/plain-node.ts';

describe.skipIf(!hasAnvil)(`anvil (${hasAnvil ? 'a real node' : ANVIL_MISSING})`, () => {
  const holdings = createHoldings(createLogRanges());
  const token = { id: 'eth-usdc-test', contract: USDC_TEST };
  const at = (address: string): WatchedAddress => ({ network: token, address });
  let chain: EvmChain;
  let evm: Evm;
  let proxy: NodeProxy;
  let node: PlainNode;

  beforeAll(async () => {
    chain = await startEvm();
    ({ evm, proxy } = chain);
    node = plainNode(proxy.url);
    await evm.place('token', USDC_TEST);
    await evm.mint(USDC_TEST, RICH[0], 10n ** 12n);
    await evm.mine();
  });
  afterAll(() => chain?.stop());

  async function tip() {
    const height = await evm.height();
    const { hash } = await evm.anvil.rpc('eth_getBlockByNumber', [
      `0x${height.toString(16)}`,
      false,
    ]);
    return { height, hash: String(hash) };
  }

  test('200 balances come in one call, in order; for a contract that does not exist there is none', async () => {
    await evm.transferToken(USDC_TEST, someAddress(0), 7n);
    await evm.transferToken(USDC_TEST, someAddress(199), 2n ** 39n);
    await evm.transferToken(USDC_TEST, someAddress(200), 9n);
    await evm.mine();
    const watch = Array.from({ length: 201 }, (_, index) => at(someAddress(index)));
    const asked = node.asked.length;
    const block = await tip();
    const { height, balances } = await holdings.read(node, block, watch);
    expect(height).toBe(block.height);
    expect(node.asked.slice(asked)).toEqual(['eth_call', 'eth_call']);
    expect([balances[0], balances[1], balances[199], balances[200]]).toEqual([
      7n,
      0n,
      2n ** 39n,
      9n,
    ]);
    const none = {
      network: { id: 'eth-usdt-test', contract: someAddress(5) },
      address: someAddress(0),
    };
    expect((await holdings.read(node, block, [none, at(someAddress(0))])).balances).toEqual([
      null,
      7n,
    ]);
    expect((await holdings.read(node, block, [])).balances).toEqual([]);
  });

  test('are requested one by one if a call without a contract is refused', async () => {
    const block = await tip();
    proxy.alter((method, [call], result) => {
      const isProgram = method === 'eth_call' && !('to' in (call as object));
      if (isProgram) throw new RpcRefusal(-32_602, 'missing "to"');
      return result;
    });
    const { balances } = await holdings.read(node, block, [at(someAddress(0)), at(someAddress(1))]);
    proxy.alter(null);
    expect(balances).toEqual([7n, 0n]);
  });

  test('are those of the requested block, and refused by a node without it', async () => {
    const before = await tip();
    await evm.transferToken(USDC_TEST, someAddress(0), 5n);
    await evm.mine();
    expect((await holdings.read(node, before, [at(someAddress(0))])).balances).toEqual([7n]);
    expect((await holdings.read(node, await tip(), [at(someAddress(0))])).balances).toEqual([12n]);
    const unknown = { ...before, hash: `0x${'7'.repeat(64)}` };
    await expect(holdings.read(node, unknown, [at(someAddress(0))])).rejects.toThrow(NodeFailure);
  });

  test('the logs explain their changes, in and out, with as many queries as needed', async () => {
    const { height: from } = await tip();
    const own = [at(RICH[0]), at(RICH[1]), at(someAddress(0))];
    const before = (await holdings.read(node, await tip(), own)).balances;
    await evm.transferToken(USDC_TEST, RICH[1], 100n);
    await evm.transferToken(USDC_TEST, someAddress(0), 0n);
    await evm.mine();
    await evm.transferToken(USDC_TEST, someAddress(3), 30n, RICH[1]);
    await evm.transferToken(USDC_TEST, RICH[1], 4n, RICH[1]);
    await evm.mine();
    const block = await tip();
    const ranges = createLogRanges();
    ranges.refused(node, 2);
    for (const each of [holdings, createHoldings(ranges)]) {
      const moved = await each.readMoved(node, { from, to: block.height }, own);
      expect(moved).toEqual([
        { arrived: 0n, left: 100n },
        { arrived: 104n, left: 34n },
        { arrived: 0n, left: 0n },
      ]);
    }
    const after = (await holdings.read(node, block, own)).balances;
    const changes = after.map((balance, index) => (balance ?? 0n) - (before[index] ?? 0n));
    expect(changes).toEqual([-100n, 70n, 0n]);
  });
});
