import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { WholeBlock } from '#chains/evm/blocks.ts';
import { createProvenReceipts } from '#chains/evm/proven-receipts.ts';
import { receiptsRoot } from '#chains/evm/receipts-root.ts';
import type { Node } from '#chains/nodes/node.ts';
import type { Finding } from './measure.ts';

const RECORDED = new URL('../test/chains/evm/recorded/ethereum-21854576.json.gz', import.meta.url);
/** Receipts per block: typical numbers of Ethereum and of BNB Smart Chain. */
const SIZES = [200, 100];
const PROOFS = 50;

interface Receipt {
  readonly type: string;
  readonly cumulativeGasUsed: string;
  readonly logsBloom: string;
  readonly logs: readonly {
    readonly address: string;
    readonly topics: readonly string[];
    readonly data: string;
  }[];
}

/** CPU time of proving a block by its receipts, which are those of a recorded block. */
export async function measureProofs(): Promise<Finding[]> {
  const recorded = JSON.parse(gunzipSync(readFileSync(RECORDED)).toString());
  const own: readonly Receipt[] = recorded.receipts;
  const findings: Finding[] = [];
  for (const size of SIZES) {
    const receipts = Array.from({ length: size }, (_, index) => own[index % own.length] as Receipt);
    const block = blockOf(recorded.block.hash, receipts);
    const node = { id: 'bench', label: 'bench', batch: async () => [receipts] } as unknown as Node;
    const prove = () => createProvenReceipts().read(node, [block]);
    for (let warm = 0; warm < PROOFS; warm++) await prove();
    const before = process.cpuUsage();
    for (let proven = 0; proven < PROOFS; proven++) await prove();
    const { user, system } = process.cpuUsage(before);
    findings.push({
      subject: `processor time to prove a block of ${size} receipts, ms`,
      measured: `${receipts.reduce((sum, { logs }) => sum + logs.length, 0)} logs`,
      value: (user + system) / 1_000 / PROOFS,
      goal: null,
    });
  }
  return findings;
}

function blockOf(hash: string, receipts: readonly Receipt[]): WholeBlock {
  const root = receiptsRoot(
    receipts.map(({ type, cumulativeGasUsed, logsBloom, logs }) => ({
      type: Number(type),
      succeeded: true,
      logsBloom,
      logs,
      cumulativeGasUsed: Number(cumulativeGasUsed),
    })),
  );
  return {
    height: 1,
    hash,
    parentHash: hash,
    time: new Date(0),
    withdrawals: [],
    // Without a hash, each receipt's own is used.
    transactions: receipts.map(() => ({})),
    fields: { receiptsRoot: root },
  };
}
