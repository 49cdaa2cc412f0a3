import { expect, test } from 'vitest';
import { ReceiptMemory } from '#chains/evm/receipt-memory.ts';
import type { Node, NodeCall } from '#chains/nodes/node.ts';

const hashOf = (index: number) => `0x${index.toString(16).padStart(64, '0')}`;
const BLOCK = hashOf(0);

function startNode() {
  const asked: string[] = [];
  const node = {
    id: 'node',
    label: 'node',
    batch: async (calls: readonly NodeCall[]) =>
      calls.map(({ params }) => {
        const [transactionHash] = params as [string];
        asked.push(transactionHash);
        return {
          transactionHash,
          blockHash: BLOCK,
          blockNumber: '0x1',
          status: '0x1',
          gasUsed: '0x5208',
          logs: [],
        };
      }),
  };
  return { asked, node: node as unknown as Node };
}

test('receipts without a log are dropped as well, the oldest first', async () => {
  const { asked, node } = startNode();
  const memory = new ReceiptMemory();
  const wanted = Array.from({ length: 20_100 }, (_, index) => ({
    transactionHash: hashOf(index + 1),
    blockHash: BLOCK,
  }));
  await memory.read(node, wanted);
  asked.length = 0;
  const [oldest, newest] = [wanted.slice(0, 1), wanted.slice(-1)];
  expect((await memory.read(node, newest)).size).toBe(1);
  expect(asked).toEqual([]);
  expect((await memory.read(node, oldest)).size).toBe(1);
  expect(asked).toEqual([hashOf(1)]);
});
