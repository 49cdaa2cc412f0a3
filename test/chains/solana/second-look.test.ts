import { afterAll, beforeAll, expect, test } from 'vitest';
import { LaggingNode, type Node } from '#chains/nodes/node.ts';
import { createSolanaAdapter } from '#chains/solana/adapter.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import { alteredNode } from '../../helpers/altered-node.ts';
import { GeneratedSolana } from '../../helpers/generated-solana.ts';
import type { PlainNode } from '../../helpers/plain-node.ts';
import { sendLamports, sendTokens } from '../../helpers/solana-message.ts';
import { newWallet, type SolanaNode, type Wallet } from '../../helpers/solana-node.ts';
import { sol, startChain, usdc } from './chain.ts';

let solana: SolanaNode;
let node: PlainNode;
let stop: () => Promise<void>;
let sender: Wallet;
let senderTokens: string;

beforeAll(async () => {
  ({ solana, node, sender, senderTokens, stop } = await startChain());
});
afterAll(() => stop());

const second = (from: number, to: number, watch: readonly WatchedAddress[]) => ({
  from,
  to,
  watch,
  undoableFrom: to + 1,
  isSecondLook: true as const,
});

test('what the first look did not see is found by another node, and only within the range', async () => {
  const adapter = createSolanaAdapter();
  const own = newWallet().address;
  const account = solana.fund(own, 0n);
  const watch = [sol(own), usdc(own)];
  solana.mine();
  const from = solana.slot + 1;
  const hash = solana.send([sendLamports(sender.address, own, 5_000_000n)], [sender]);
  const tokens = solana.send([sendTokens(senderTokens, account, sender.address, 6n)], [sender]);
  const hiding: Node = alteredNode(node, (method, _, result) =>
    method === 'getSignaturesForAddress' ? [] : result,
  );
  const first = { from, to: solana.slot, watch, undoableFrom: from };
  expect((await adapter.scan(hiding, first)).transfers).toEqual([]);
  const end = solana.slot;
  await expect(adapter.scan(node, second(from, end, watch))).rejects.toThrow(LaggingNode);
  solana.mine(33);
  const found = await adapter.scan(node, second(from, end, watch));
  expect(found.through.height).toBe(end);
  expect(found.transfers).toHaveLength(2);
  expect(found.transfers).toContainEqual(
    expect.objectContaining({ transactionHash: hash, tokenAmount: 5_000_000n }),
  );
  expect(found.transfers).toContainEqual(
    expect.objectContaining({ transactionHash: tokens, tokenAmount: 6n }),
  );
  expect((await adapter.scan(node, second(end + 1, end + 1, watch))).transfers).toEqual([]);
  const before = await adapter.scan(node, second(from, end - 1, watch));
  expect(before.transfers).toMatchObject([{ transactionHash: hash }]);
});

test('it does not affect first looks, which continue where they were', async () => {
  const adapter = createSolanaAdapter();
  const own = newWallet().address;
  const watch = [sol(own)];
  let to = solana.slot;
  const look = async () => {
    solana.mine();
    const request = { from: to + 1, to: solana.slot, watch, undoableFrom: to + 1 };
    const { transfers, through } = await adapter.scan(node, request);
    to = through.height;
    return transfers.map(({ transactionHash }) => transactionHash);
  };
  await look();
  const hash = solana.send([sendLamports(sender.address, own, 5_000_000n)], [sender]);
  const begun = solana.slot;
  solana.mine(33);
  expect((await adapter.scan(node, second(begun, begun, watch))).transfers).toHaveLength(1);
  expect(await look()).toEqual([hash]);
  expect((await adapter.scan(node, second(begun, begun, watch))).transfers).toHaveLength(1);
  // What is recorded is not read again.
  expect(await look()).toEqual([]);
  expect(await look()).toEqual([]);
});

test('many transactions take several looks', async () => {
  const clock = Object.assign(() => clock.now, { now: Date.now() });
  const chain = new GeneratedSolana(clock);
  const generated = chain.node(10_000, () => undefined);
  const adapter = createSolanaAdapter();
  const own = newWallet().address;
  const from = chain.confirmed;
  // Two in each slot.
  const sent = Array.from({ length: 310 }, (_, index) =>
    chain.send(own, 1_000_000 + index, clock.now + Math.floor(index / 2) * 400),
  );
  clock.now += 200_000;
  const to = sent.at(-1)?.slot ?? 0;
  const first = await adapter.scan(generated, second(from, to, [sol(own)]));
  expect(first.transfers).toHaveLength(300);
  expect(first.through.height).toBe(sent[299]?.slot);
  const rest = await adapter.scan(generated, second(first.through.height + 1, to, [sol(own)]));
  expect(rest.through.height).toBe(to);
  const found = [...first.transfers, ...rest.transfers].map(each => each.transactionHash);
  expect(found.toSorted()).toEqual(sent.map(({ signature }) => signature).toSorted());
});

test('what the node lists and does not show is reported', async () => {
  const adapter = createSolanaAdapter();
  const own = newWallet().address;
  const hash = solana.send([sendLamports(sender.address, own, 5_000_000n)], [sender]);
  const at = solana.slot;
  solana.mine(33);
  const nonsense = alteredNode(node, (method, _, result) =>
    method === 'getTransaction' ? { nothing: 'of it' } : result,
  );
  const { transfers, unreadable } = await adapter.scan(nonsense, second(at, at, [sol(own)]));
  expect(transfers).toEqual([]);
  expect(unreadable).toMatchObject([{ transactionHash: hash, watched: [sol(own)] }]);
});
