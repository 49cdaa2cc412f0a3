import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Held, Holdings, Moved } from '#chains/holdings.ts';
import { LaggingNode, type Node } from '#chains/nodes/node.ts';
import { createSolanaAdapter } from '#chains/solana/adapter.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import { alteredNode } from '../../helpers/altered-node.ts';
import { GeneratedSolana } from '../../helpers/generated-solana.ts';
import type { PlainNode } from '../../helpers/plain-node.ts';
import { runs } from '../../helpers/property-runs.ts';
import {
  closeAccount,
  createAssociated,
  sendLamports,
  sendTokens,
} from '../../helpers/solana-message.ts';
import { newWallet, type SolanaNode, USDC, type Wallet } from '../../helpers/solana-node.ts';
import { sol, startChain, usdc } from './chain.ts';

/** Slots after which everything is final. */
const UNTIL_FINAL = 33;

let solana: SolanaNode;
let node: PlainNode;
let stop: () => Promise<void>;
let sender: Wallet;
let senderTokens: string;
let holdings: Holdings;

beforeAll(async () => {
  ({ solana, node, sender, senderTokens, stop } = await startChain());
});
afterAll(() => stop());
beforeEach(begin);

function begin(): void {
  const adapter = createSolanaAdapter();
  if (adapter.holdings === undefined) throw new Error('Solana has holdings');
  holdings = adapter.holdings;
}

/** Balances of the addresses once everything that was sent is final. */
function read(watch: readonly WatchedAddress[], from: Node = node): Promise<Held> {
  solana.mine(UNTIL_FINAL);
  return holdings.read(from, { height: solana.finalSlot, hash: '' }, watch);
}

function gains(before: Held, after: Held): bigint[] {
  return after.balances.map((held, index) => (held ?? 0n) - (before.balances[index] ?? 0n));
}

const net = (moved: Moved | null | undefined) => (moved?.arrived ?? 0n) - (moved?.left ?? 0n);

/** The node, whose lists omit this signature. */
const without = (hash: string): Node =>
  alteredNode(node, (method, _, result) =>
    method === 'getSignaturesForAddress'
      ? (result as { readonly signature: string }[]).filter(({ signature }) => signature !== hash)
      : result,
  );

test('a balance is of the finalized slot', async () => {
  const own = newWallet().address;
  expect(await read([sol(own), usdc(own)])).toEqual({
    height: solana.finalSlot,
    balances: [0n, 0n],
  });
  solana.send([sendLamports(sender.address, own, 2_000_000_000n)], [sender]);
  const final = { height: solana.finalSlot, hash: '' };
  expect((await holdings.read(node, final, [sol(own)])).balances).toEqual([0n]);
  expect((await read([sol(own)])).balances).toEqual([2_000_000_000n]);
  const later = { height: solana.finalSlot + 1, hash: '' };
  await expect(holdings.read(node, later, [sol(own)])).rejects.toThrow(LaggingNode);
});

test('is the sum of all token accounts of the owner, including later ones', async () => {
  const [own, second] = [newWallet().address, newWallet().address];
  solana.fund(own, 5n);
  const before = await read([usdc(own)]);
  expect(before.balances).toEqual([5n]);
  solana.setTokens(second, own, 0n);
  solana.send([sendTokens(senderTokens, second, sender.address, 7n)], [sender]);
  const after = await read([usdc(own)]);
  expect(after.balances).toEqual([12n]);
  const range = { from: before.height, to: after.height };
  expect(await holdings.readMoved(node, range, [usdc(own)])).toEqual([{ arrived: 7n, left: 0n }]);
});

test('of accounts that are read by several calls is of one slot', async () => {
  const owners = Array.from({ length: 150 }, () => sol(newWallet().address));
  let calls = 0;
  let ahead = 1;
  const moving = alteredNode(node, (method, _, result) => {
    if (method !== 'getMultipleAccounts') return result;
    const { context, value } = result as { context: { slot: number }; value: unknown };
    calls += 1;
    return { context: { slot: context.slot + (calls % 2 === 0 ? ahead : 0) }, value };
  });
  await expect(read(owners, moving)).rejects.toThrow(LaggingNode);
  const reading = read(owners, moving);
  ahead = 0;
  expect((await reading).height).toBe(solana.finalSlot);
});

test('of an account that cannot be read is unknown, and no other with it', async () => {
  const [own, other] = [newWallet().address, newWallet().address];
  const broken = alteredNode(node, (method, params, result) => {
    if (method !== 'getMultipleAccounts') return result;
    const place = (params[0] as string[]).indexOf(own);
    const { value, ...rest } = result as { value: unknown[] };
    return { ...rest, value: value.with(place, { lamports: 'many', data: ['', 'base64'] }) };
  });
  expect((await read([sol(own), sol(other)], broken)).balances).toEqual([null, 0n]);
});

test('of an owner for whom others have created more accounts than fit in a call is unknown', async () => {
  const [own, other] = [newWallet().address, newWallet().address];
  for (let made = 0; made < 100; made++) solana.setTokens(newWallet().address, own, 1n);
  solana.fund(other, 3n);
  expect((await read([usdc(own), usdc(other)])).balances).toEqual([null, 3n]);
});

test('an account that was closed and reopened has changed by what came and left', async () => {
  const own = newWallet();
  solana.airdrop(own.address, 1_000_000_000n);
  const account = solana.fund(own.address, 0n);
  const watch = [usdc(own.address)];
  solana.send([sendTokens(senderTokens, account, sender.address, 4n)], [sender]);
  const before = await read(watch);
  solana.send(
    [sendTokens(account, senderTokens, own.address, 4n), closeAccount(account, own.address)],
    [own],
  );
  solana.send(
    [
      createAssociated(solana.payer.address, account, own.address, USDC),
      sendTokens(senderTokens, account, sender.address, 6n),
    ],
    [sender],
  );
  const after = await read(watch);
  expect([before.balances, after.balances]).toEqual([[4n], [6n]]);
  const range = { from: before.height, to: after.height };
  expect(await holdings.readMoved(node, range, watch)).toEqual([{ arrived: 6n, left: 4n }]);
});

test('of too many transactions only those at other addresses are read', async () => {
  const clock = Object.assign(() => clock.now, { now: Date.now() });
  const chain = new GeneratedSolana(clock);
  const [flooded, other] = [newWallet().address, newWallet().address];
  const from = chain.confirmed;
  for (let sent = 0; sent <= 300; sent++) chain.send(flooded, 1 + sent);
  chain.send(other, 2_000_000);
  clock.now += 60_000;
  const generated = chain.node(10_000, () => undefined);
  const range = { from, to: chain.final };
  expect(await holdings.readMoved(generated, range, [sol(flooded), sol(other)])).toEqual([
    null,
    { arrived: 2_000_000n, left: 0n },
  ]);
});

test('if the node lists a transaction and does not show it in several looks, the balance change stays unexplained', async () => {
  const [own, other] = [newWallet().address, newWallet().address];
  const watch = [sol(own), sol(other)];
  const before = await read(watch);
  const hash = solana.send([sendLamports(sender.address, own, 1_000_000n)], [sender]);
  solana.send([sendLamports(sender.address, other, 1_000_000n)], [sender]);
  const range = { from: before.height, to: (await read(watch)).height };
  const nonsense = alteredNode(node, (method, params, result) =>
    method === 'getTransaction' && params[0] === hash ? { nothing: 'of it' } : result,
  );
  for (let looks = 1; looks < 3; looks++) {
    await expect(holdings.readMoved(nonsense, range, watch)).rejects.toThrow(LaggingNode);
  }
  expect(await holdings.readMoved(nonsense, range, watch)).toEqual([
    null,
    { arrived: 1_000_000n, left: 0n },
  ]);
});

/** Transactions that involve an owner; in each, something arrives or leaves. */
const ACTS = ['in', 'tokens in', 'out', 'tokens out', 'both', 'second', 'moved', 'failed'] as const;

test('balances change by what arrived and left, and by more if an incoming signature is omitted', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...ACTS), { minLength: 1, maxLength: 6 }),
      fc.nat(5),
      async (acts, hidden) => {
        begin();
        const [own, other, second] = [newWallet(), newWallet(), newWallet().address];
        solana.airdrop(own.address, 50_000_000_000n);
        const account = solana.fund(own.address, 1_000n);
        solana.setTokens(second, own.address, 500n);
        const watch = [sol(own.address), usdc(own.address), sol(other.address)];
        const before = await read(watch);
        const incoming: { hash: string; watched: number }[] = [];
        for (const [index, act] of acts.entries()) {
          const amount = 10n ** 9n + BigInt(index);
          const lamports = sendLamports(sender.address, own.address, amount);
          const tokens = sendTokens(senderTokens, account, sender.address, amount);
          const came = (hash: string, ...places: number[]) =>
            incoming.push(...places.map(watched => ({ hash, watched })));
          if (act === 'in') came(solana.send([lamports], [sender]), 0);
          else if (act === 'tokens in') came(solana.send([tokens], [sender]), 1);
          else if (act === 'both') {
            const also = sendLamports(sender.address, other.address, amount);
            came(solana.send([lamports, tokens, also], [sender]), 0, 1, 2);
          } else if (act === 'second') {
            const to = sendTokens(senderTokens, second, sender.address, amount);
            came(solana.send([to], [sender]), 1);
          } else if (act === 'out') {
            solana.send([sendLamports(own.address, sender.address, amount)], [own]);
          } else if (act === 'tokens out') {
            solana.send([sendTokens(second, senderTokens, own.address, 3n)], [own]);
          } else if (act === 'failed') {
            solana.send(
              [lamports, sendTokens(account, senderTokens, own.address, 10n ** 17n)],
              [sender, own],
            );
          } else {
            // Between two accounts of the owner, nothing arrives or leaves.
            solana.send([sendTokens(account, second, own.address, 1n)], [own]);
          }
        }
        const after = await read(watch);
        const range = { from: before.height, to: after.height };
        const moved = await holdings.readMoved(node, range, watch);
        expect(moved.map(net)).toEqual(gains(before, after));
        const left = incoming[hidden % Math.max(1, incoming.length)];
        if (left === undefined) return;
        const shown = await holdings.readMoved(without(left.hash), range, watch);
        const unexplained = gains(before, after)[left.watched] ?? 0n;
        expect(unexplained).toBeGreaterThan(net(shown[left.watched]));
      },
    ),
    { numRuns: runs(30) },
  );
});
