import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Node, NodeFailure, RpcError } from '#chains/nodes/node.ts';
import { parseNodeAccess } from '#chains/nodes/node-access.ts';
import { type OpenNode, openNode } from '#chains/nodes/open-node.ts';
import {
  BITCOIND,
  BITCOIND_MISSING,
  type Bitcoind,
  HEIGHT,
  startBitcoind,
} from '../../helpers/bitcoind.ts';

const name =
  BITCOIND === undefined ? `a node of Bitcoin: ${BITCOIND_MISSING}` : 'a node of Bitcoin';

describe.skipIf(BITCOIND === undefined)(name, () => {
  let bitcoind: Bitcoind;
  const opened: OpenNode[] = [];
  beforeAll(async () => {
    bitcoind = await startBitcoind([], 1);
  });
  afterAll(async () => {
    for (const node of opened) await node.close();
    await bitcoind.stop();
  });

  function open(url: string): Node {
    const node = openNode(
      {
        id: 'n1',
        chain: 'btc-test',
        label: 'own',
        role: 'primary',
        abilities: { trace: null, logRange: null, batch: 100, archive: false, pruneHeight: null },
        requestsPerSecond: 1000,
        access: parseNodeAccess(url, []),
      },
      { clock: Date.now },
    );
    opened.push(node);
    return node.within(new AbortController().signal);
  }

  test('distinguishes its errors from failures, with any status', async () => {
    const node = open(bitcoind.url);
    expect(await node.call('getblockcount', [])).toBe(HEIGHT);
    // With status 404 and 500, before version 28.
    await expect(node.call('getnothing', [])).rejects.toEqual(
      new RpcError(-32601, 'Method not found'),
    );
    await expect(node.call('getblockhash', [999])).rejects.toBeInstanceOf(RpcError);
    const answers = await node.batch([
      { method: 'getblockhash', params: [999] },
      { method: 'getblockcount', params: [] },
    ]);
    expect(answers).toEqual([expect.any(RpcError), HEIGHT]);

    const stranger = open(bitcoind.url.replace(/\/\/.*@/, '//someone:else@'));
    const refusal = await stranger.call('getblockcount', []).catch((error: Error) => error);
    expect(refusal).toEqual(new NodeFailure('own: status 401'));
  });
});
