import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Arrival, ChainAdapter, Scan } from '#chains/adapter.ts';
import { type Node, RpcError } from '#chains/nodes/node.ts';
import { limitsOf } from '#chains/nodes/response-limits.ts';
import { createSolanaAdapter } from '#chains/solana/adapter.ts';
import { solanaReference } from '#chains/solana-reference.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import { alteredNode } from '../../helpers/altered-node.ts';
import type { PlainNode } from '../../helpers/plain-node.ts';
import { sendLamports, sendTokens } from '../../helpers/solana-message.ts';
import { newWallet, type SolanaNode, type Wallet } from '../../helpers/solana-node.ts';
import { nonsense } from '../nonsense.ts';
import { sol, startChain, usdc } from './chain.ts';

/** Transactions per slot. */
const IN_SLOT = 20;

let solana: SolanaNode;
let node: PlainNode;
let stop: () => Promise<void>;
let sender: Wallet;
let senderTokens: string;

beforeAll(async () => {
  ({ solana, node, sender, senderTokens, stop } = await startChain());
});
afterAll(() => stop());

const isWhole = (method: string, params: readonly unknown[]) =>
  method === 'getBlock' &&
  (params[1] as { transactionDetails?: string }).transactionDetails === 'accounts';

/** The node, which shows blocks without their transactions. */
function withoutBlocks(): Node {
  return alteredNode(node, (method, params, result) => {
    if (isWhole(method, params)) throw new RpcError(-32602, 'Invalid params');
    return result;
  });
}

async function scan(
  asked: Node,
  from: number,
  watch: readonly WatchedAddress[],
  request: Partial<Parameters<ChainAdapter['scan']>[1]> = {},
): Promise<Scan> {
  const adapter = createSolanaAdapter();
  const { tip } = await adapter.readHeads(node, null);
  return adapter.scan(asked, { from, to: tip.height, watch, undoableFrom: from, ...request });
}

const inOrder = ({ transfers }: Scan) =>
  transfers.toSorted((one, other) => (one.transactionHash < other.transactionHash ? -1 : 1));

/** Two slots full of payments of every kind to these owners. */
function payAll(owner: string, account: string): void {
  const table = solana.addTable([account, owner]);
  const reference = solanaReference('01890a5d-ac96-774b-bcce-b302099a8057');
  const tokens = (amount: bigint) => sendTokens(senderTokens, account, sender.address, amount);
  for (let slots = 0; slots < 2; slots++) {
    solana.mine();
    for (let sent = 0; sent < IN_SLOT; sent += 4) {
      const amount = 1_000_000n + BigInt(sent);
      const lamports = sendLamports(sender.address, owner, amount, [reference]);
      solana.sendInSlot([lamports, tokens(amount)], [sender]);
      solana.sendInSlot([tokens(amount)], [sender], { table, addresses: [account] });
      solana.sendInSlot([lamports], [sender], undefined, 1);
      solana.sendInSlot([sendLamports(sender.address, owner, 10n ** 18n)], [sender]);
    }
  }
}

test('a block shows the same as each of its transactions by itself', async () => {
  const owner = newWallet().address;
  const account = solana.fund(owner, 0n);
  const watch = [sol(owner), usdc(owner)];
  const from = solana.slot;
  payAll(owner, account);
  const before = node.asked.length;
  const whole = await scan(node, from, watch);
  const asked = node.asked.slice(before);
  // The transaction that created the account is alone in its slot.
  expect(asked.filter(method => method === 'getTransaction')).toHaveLength(1);
  expect(inOrder(whole)).toHaveLength(2 * IN_SLOT);
  expect(inOrder(whole)).toEqual(inOrder(await scan(withoutBlocks(), from, watch)));
  expect(whole.unreadable).toEqual([]);
});

test('what cannot be read in a block is requested by itself, without the others', async () => {
  const owner = newWallet().address;
  const account = solana.fund(owner, 0n);
  const watch = [sol(owner), usdc(owner)];
  const from = solana.slot;
  payAll(owner, account);
  const expected = inOrder(await scan(node, from, watch));
  await fc.assert(
    fc.asyncProperty(fc.nat(IN_SLOT - 1), nonsense, async (nth, value) => {
      const altered = alteredNode(node, (method, params, result) => {
        if (!isWhole(method, params)) return result;
        const block = result as { transactions: unknown[] };
        return { ...block, transactions: block.transactions.with(nth, value) };
      });
      const before = node.asked.length;
      const found = await scan(altered, from, watch);
      expect(inOrder(found)).toEqual(expected);
      expect(found.unreadable).toEqual([]);
      const asked = node.asked.slice(before).filter(method => method === 'getTransaction');
      expect(asked.length).toBeLessThanOrEqual(1 + 2);
    }),
    { numRuns: 15, seed: 1 },
  );
});

test('a transaction of an unknown version makes only its block unreadable', async () => {
  const [owner, unknown] = [newWallet().address, newWallet().address];
  const watch = [sol(owner), sol(unknown)];
  const from = solana.slot;
  solana.mine();
  const transactionHash = solana.sendInSlot(
    [sendLamports(sender.address, unknown, 1_000_000n)],
    [sender],
    undefined,
    2,
  );
  for (let sent = 0; sent < 30; sent++) {
    solana.sendInSlot([sendLamports(sender.address, owner, 1_000_000n + BigInt(sent))], [sender]);
  }
  const { transfers, unreadable } = await scan(node, from, watch);
  expect(transfers).toHaveLength(30);
  expect(unreadable).toMatchObject([{ transactionHash, watched: [sol(unknown)] }]);
});

test('dust costs no block, and a payment at another address is reported before the rest is read', async () => {
  const [owner, other] = [newWallet().address, newWallet().address];
  const watch = [sol(owner), sol(other)];
  const from = solana.slot;
  solana.mine();
  const hash = solana.sendInSlot([sendLamports(sender.address, other, 2_000_000n)], [sender]);
  for (let sent = 0; sent < 60; sent++) {
    if (sent % 3 === 0) solana.mine();
    solana.sendInSlot([sendLamports(sender.address, owner, 1_000_000n + BigInt(sent))], [sender]);
  }
  const weigh = async (arrivals: readonly Arrival[]) =>
    arrivals.map(({ address }) => (address === other ? 'awaited' : 'dust'));
  const taken: (readonly [string, number])[] = [];
  const before = node.asked.length;
  const { transfers, dust } = await scan(withoutBlocks(), from, watch, {
    weigh,
    takeAwaited: async found => {
      const asked = node.asked.slice(before).filter(method => method === 'getTransaction');
      taken.push(...found.map(each => [each.transactionHash, asked.length] as const));
    },
  });
  expect(taken).toEqual([[hash, 25]]);
  expect(transfers).toMatchObject([{ transactionHash: hash, tokenAmount: 2_000_000n }]);
  expect(dust?.map(({ tokenAmount }) => Number(tokenAmount))).toEqual(
    Array.from({ length: 60 }, (_, index) => 1_000_000 + index),
  );
  // One for the newest block, one for the payment's, and as many of dust as the node refused to show.
  const blocks = node.asked.slice(before).filter(method => method === 'getBlock');
  expect(blocks.length).toBeLessThanOrEqual(2 + 4);
});

test('a block with accounts may be as long as any response, and one without no longer than before', () => {
  const bytes = (transactionDetails: string) =>
    limitsOf('getBlock', [1, { transactionDetails }]).bytes;
  expect(bytes('accounts')).toBe(16 * 1024 * 1024);
  expect(bytes('none')).toBe(64 * 1024);
});
