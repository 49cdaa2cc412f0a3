import { adapterOf } from '#chains/adapters.ts';
import { chainOf } from '#chains/chain-list.ts';
import { openNode } from '#chains/nodes/open-node.ts';
import type { Shape } from './serve-shapes.ts';

// A process with a small heap. Arguments: the URL of a node, and the shapes to request one after the other, or
// `look-up` to look up a transaction. Prints each outcome, as JSON.
const [url = '', ...asked] = process.argv.slice(2);
const outcomes: Record<string, string> = {};
for (const shape of asked as (Shape | 'look-up')[]) {
  const node = openNode(
    {
      id: 'n1',
      chain: 'eth-test',
      label: 'one',
      role: 'primary',
      requestsPerSecond: 1_000,
      abilities: { trace: null, logRange: null, batch: 50, archive: false, pruneHeight: null },
      access: { url, headers: {} },
    },
    { clock: Date.now },
  );
  const within = node.within(AbortSignal.timeout(60_000));
  const options = { timeoutMs: 60_000 };
  const request = {
    transactionHash: `0x${'1'.repeat(64)}`,
    watch: [],
    inputs: null,
    blockHash: null,
  };
  const ask = async () => {
    if (shape === 'look-up') return adapterOf(chainOf('eth-test')).lookUp(within, request);
    // Like several chains that read blocks concurrently.
    const calls = [1, 2, 3].map(() => within.call('eth_getTransactionReceipt', [shape], options));
    return Promise.all(calls);
  };
  outcomes[shape] = await ask().then(
    () => 'answered',
    (error: Error) => error.message,
  );
  await node.close();
}
process.stdout.write(JSON.stringify(outcomes));
