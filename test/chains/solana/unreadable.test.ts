import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChainAdapter, Scan } from '#chains/adapter.ts';
import { LaggingNode, type Node, NodeFailure, RpcError } from '#chains/nodes/node.ts';
import { writeJson } from '#chains/nodes/parse-json.ts';
import { createSolanaAdapter } from '#chains/solana/adapter.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import { alteredNode, replaceNth } from '../../helpers/altered-node.ts';
import { sendLamports, sendTokens } from '../../helpers/solana-message.ts';
import { newWallet, type SolanaNode, type Wallet } from '../../helpers/solana-node.ts';
import { nonsense } from '../nonsense.ts';
import { sol, startChain, usdc } from './chain.ts';

let solana: SolanaNode;
let node: Node;
let stop: () => Promise<void>;
let sender: Wallet;
let senderTokens: string;

beforeAll(async () => {
  ({ solana, node, sender, senderTokens, stop } = await startChain());
});
afterAll(() => stop());

async function scan(
  adapter: ChainAdapter,
  asked: Node,
  from: number,
  watch: readonly WatchedAddress[],
): Promise<Scan> {
  const { tip } = await adapter.readHeads(node, null);
  return adapter.scan(asked, { from, to: tip.height, watch, undoableFrom: from });
}

/** An adapter that already watches these addresses. */
async function watching(watch: readonly WatchedAddress[]): Promise<ChainAdapter> {
  const adapter = createSolanaAdapter();
  solana.mine();
  await scan(adapter, node, solana.slot, watch);
  solana.mine();
  return adapter;
}

const pay = (to: string, lamports: bigint, version?: 1 | 2) =>
  solana.sendInSlot([sendLamports(sender.address, to, lamports)], [sender], undefined, version);

test('a transaction of an unknown version is a finding of its own, and of its address', async () => {
  const [known, unknown] = [newWallet().address, newWallet().address];
  const watch = [sol(known), sol(unknown)];
  const adapter = await watching(watch);
  const from = solana.slot;
  const transactionHash = pay(unknown, 1_000_000_000n, 2);
  pay(known, 2_000_000_000n, 1);
  pay(known, 3_000_000_000n);
  const { transfers, unreadable } = await scan(adapter, node, from, watch);
  expect(transfers.map(({ tokenAmount }) => tokenAmount).sort()).toEqual([
    2_000_000_000n,
    3_000_000_000n,
  ]);
  expect(unreadable).toMatchObject([{ transactionHash, watched: [sol(unknown)] }]);
  expect(unreadable?.[0]?.detail).toContain('version (2) is not supported');
  const lookUp = { transactionHash, watch, inputs: null, blockHash: null };
  expect(await adapter.lookUp(node, lookUp)).toMatchObject({ status: 'unreadable' });
  // It was noticed, and is not requested again by each look.
  solana.mine();
  expect(await scan(adapter, node, solana.slot, watch)).toMatchObject({ unreadable: [] });
});

/** Elements of each method's responses, one by one. */
const SITES = {
  getTransaction: (result: unknown, each: (element: unknown) => unknown) =>
    result === null ? null : each(result),
  getSignaturesForAddress: (result: unknown, each: (element: unknown) => unknown) =>
    (result as unknown[]).map(each),
  getMultipleAccounts: (result: unknown, each: (element: unknown) => unknown) => {
    const answer = result as { value: unknown[] };
    return { ...answer, value: answer.value.map(each) };
  },
  getTokenAccountsByOwner: (result: unknown, each: (element: unknown) => unknown) => {
    const answer = result as { value: unknown[] };
    return { ...answer, value: answer.value.map(each) };
  },
};
type Site = keyof typeof SITES;

function spoil(site: Site, nth: number, replace: (element: unknown) => unknown) {
  const counter = replaceNth(nth, replace);
  const altered = alteredNode(node, (method, _, result) =>
    method === site ? SITES[site](result, counter.change) : result,
  );
  return { altered, counter };
}

test.each(Object.keys(SITES) as Site[])(
  'one unreadable element of %s keeps no other from being credited',
  async site => {
    const amounts = fc.array(fc.bigInt(1_000_000n, 1_000_000_000n), { minLength: 2, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(amounts, fc.nat(), nonsense, async (drawn, nth, value) => {
        const owners = drawn.map(() => newWallet().address);
        const isToken = site === 'getTokenAccountsByOwner';
        const others = isToken ? owners.map(owner => solana.fund(owner, 0n)) : [];
        const watch = owners.map(isToken ? usdc : sol);
        // Token accounts are requested when a watch begins.
        const adapter = isToken ? createSolanaAdapter() : await watching(watch);
        if (isToken) solana.mine();
        const from = solana.slot;
        const hashes = drawn.map((amount, index) =>
          isToken
            ? solana.sendInSlot(
                [sendTokens(senderTokens, others[index] ?? '', sender.address, amount)],
                [sender],
              )
            : pay(owners[index] ?? '', amount),
        );
        // Each of these lists has one entry per payment.
        let own = -1;
        const { altered } = spoil(site, nth % drawn.length, element => {
          const text = writeJson(element);
          own = hashes.findIndex(hash => text.includes(hash));
          return value;
        });
        const { transfers, unreadable } = await scan(adapter, altered, from, watch);
        // If an account cannot be read, or is an associated one, everything is found all the same.
        const isFound = site === 'getMultipleAccounts' || isToken;
        expect(transfers.map(({ transactionHash }) => transactionHash).sort()).toEqual(
          hashes.filter((_, index) => isFound || index !== own).sort(),
        );
        if (site === 'getMultipleAccounts') expect(unreadable).toEqual([]);
        else expect(unreadable).toHaveLength(1);
        if (!isFound) expect(unreadable).toMatchObject([{ watched: [sol(owners[own] ?? '')] }]);
      }),
      { numRuns: 15, seed: 1 },
    );
  },
);

const REFUSAL = new RpcError(-32_603, 'internal error');

test.each<[string, string, unknown]>([
  ['a transaction that stays null', 'getTransaction', null],
  ['a transaction that is refused', 'getTransaction', REFUSAL],
  ['a block that stays null', 'getBlock', null],
  ['a block that is refused', 'getBlock', REFUSAL],
])('%s is left to later looks, and then a finding that stops no other', async (_, of, instead) => {
  const [missing, other] = [newWallet().address, newWallet().address];
  const watch = [sol(missing), sol(other)];
  const adapter = await watching(watch);
  let from = solana.slot;
  const own = from;
  const transactionHash = pay(missing, 1_000_000n);
  solana.mine();
  pay(other, 2_000_000n);
  const altered = alteredNode(node, (method, [what], result) =>
    method === of && what === (of === 'getBlock' ? own : transactionHash) ? instead : result,
  );
  const looks: Scan[] = [];
  for (let look = 0; look < 4; look++) {
    looks.push(await scan(adapter, altered, from, watch));
    from = solana.slot + 1;
    solana.mine();
  }
  expect(looks.map(({ transfers }) => transfers.map(({ address }) => address))).toEqual([
    ...[[other], [], [], []],
  ]);
  const finding = [{ transactionHash, watched: [sol(missing)] }];
  expect(looks.map(({ unreadable }) => unreadable)).toMatchObject([[], [], finding, []]);
});

test('one that is readable in a later look is credited then', async () => {
  const own = newWallet().address;
  const adapter = await watching([sol(own)]);
  const from = solana.slot;
  pay(own, 1_000_000n);
  const altered = alteredNode(node, (method, _, result) =>
    method === 'getTransaction' ? null : result,
  );
  expect((await scan(adapter, altered, from, [sol(own)])).transfers).toEqual([]);
  const next = solana.slot + 1;
  solana.mine();
  const { transfers, unreadable } = await scan(adapter, node, next, [sol(own)]);
  expect(transfers).toMatchObject([{ address: own, tokenAmount: 1_000_000n }]);
  expect(unreadable).toEqual([]);
});

test('a node that has none of several listed transactions lags', async () => {
  const [one, other] = [newWallet().address, newWallet().address];
  const watch = [sol(one), sol(other)];
  const adapter = await watching(watch);
  const from = solana.slot;
  pay(one, 1_000_000n);
  pay(other, 1_000_000n);
  const altered = alteredNode(node, (method, _, result) =>
    method === 'getTransaction' ? null : result,
  );
  await expect(scan(adapter, altered, from, watch)).rejects.toThrow(LaggingNode);
  expect((await scan(adapter, node, from, watch)).transfers).toHaveLength(2);
});

test.each(['getSignaturesForAddress', 'getTokenAccountsByOwner'])(
  'a refusal of %s for one account stops no other, and is a finding if it persists',
  async of => {
    const [refused, other] = [newWallet().address, newWallet().address];
    const accounts = [refused, other].map(owner => solana.fund(owner, 0n));
    const watch = [usdc(refused), usdc(other)];
    const adapter = createSolanaAdapter();
    solana.mine();
    const altered = alteredNode(node, (method, [who], result) =>
      method === of && (who === refused || who === accounts[0]) ? REFUSAL : result,
    );
    let from = solana.slot;
    solana.sendInSlot([sendTokens(senderTokens, accounts[1] ?? '', sender.address, 7n)], [sender]);
    const looks: Scan[] = [];
    for (let look = 0; look < 3; look++) {
      looks.push(await scan(adapter, altered, from, watch));
      from = solana.slot + 1;
      solana.mine();
    }
    expect(looks[0]?.transfers).toMatchObject([{ address: other, tokenAmount: 7n }]);
    const finding = { transactionHash: null, watched: [usdc(refused)] };
    expect(looks.map(({ unreadable }) => unreadable)).toMatchObject([[], [], [finding]]);
  },
);

test('a block that cannot be read is a finding for each payment in it', async () => {
  const [first, second] = [newWallet().address, newWallet().address];
  const watch = [sol(first), sol(second)];
  const adapter = await watching(watch);
  const from = solana.slot;
  const transactionHash = pay(first, 1_000_000n);
  solana.mine();
  pay(second, 2_000_000n);
  const altered = alteredNode(node, (method, [slot], result) =>
    method === 'getBlock' && slot === from ? { ...(result as object), blockTime: null } : result,
  );
  const { transfers, unreadable } = await scan(adapter, altered, from, watch);
  expect(transfers).toMatchObject([{ address: second, tokenAmount: 2_000_000n }]);
  expect(unreadable).toMatchObject([{ transactionHash, watched: [sol(first)] }]);
});

test('a response that is no list is a fault of the node, and so is one without any readable element', async () => {
  const own = newWallet().address;
  for (const wrong of [null, {}, 'nonsense', [{}, {}]]) {
    const adapter = await watching([sol(own)]);
    pay(own, 1_000_000n);
    const altered = alteredNode(node, (method, _, result) =>
      method === 'getSignaturesForAddress' ? wrong : result,
    );
    await expect(scan(adapter, altered, solana.slot, [sol(own)])).rejects.toThrow(NodeFailure);
  }
});

test('lamports that a double cannot hold are exact', async () => {
  const own = newWallet().address;
  const adapter = await watching([sol(own)]);
  const from = solana.slot;
  pay(own, 1_000_000n);
  const altered = alteredNode(node, (method, _, result) => {
    if (method !== 'getTransaction') return result;
    const { meta, ...rest } = result as { meta: Record<string, number[]> };
    const shift = (list: number[] = []) => list.map(each => BigInt(each) + 2n ** 60n);
    const { preBalances, postBalances } = meta;
    return {
      ...rest,
      meta: { ...meta, preBalances: shift(preBalances), postBalances: shift(postBalances) },
    };
  });
  expect((await scan(adapter, altered, from, [sol(own)])).transfers).toMatchObject([
    { tokenAmount: 1_000_000n },
  ]);
});
