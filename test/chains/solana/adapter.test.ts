import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChainAdapter } from '#chains/adapter.ts';
import { RpcError } from '#chains/nodes/node.ts';
import { createSolanaAdapter } from '#chains/solana/adapter.ts';
import { associatedAccount } from '#chains/solana/programs.ts';
import { solanaReference } from '#chains/solana-reference.ts';
import type { ChainTransfer, WatchedAddress } from '#chains/transfer.ts';
import { alteredNode } from '../../helpers/altered-node.ts';
import type { PlainNode } from '../../helpers/plain-node.ts';
import {
  closeAccount,
  createAssociated,
  sendLamports,
  sendTokens,
} from '../../helpers/solana-message.ts';
import { newWallet, type SolanaNode, USDC, type Wallet } from '../../helpers/solana-node.ts';
import { sol, startChain, usdc } from './chain.ts';
import recorded from './recorded.json' with { type: 'json' };

let solana: SolanaNode;
let node: PlainNode;
let stop: () => Promise<void>;
let adapter: ChainAdapter;
/** How far the block clock is ahead, in milliseconds. */
let ahead = 0;
/** The last scanned slot. */
let cursor: number;
let sender: Wallet;
let senderTokens: string;

beforeAll(async () => {
  ({ solana, node, sender, senderTokens, stop } = await startChain(() => Date.now() + ahead));
});
afterAll(() => stop());
beforeEach(() => {
  adapter = createSolanaAdapter();
  cursor = solana.slot;
});

/** One look, from where the last one ended. */
async function look(...watch: WatchedAddress[]): Promise<readonly ChainTransfer[]> {
  const { tip } = await adapter.readHeads(node, cursor);
  const request = { from: cursor + 1, to: tip.height, watch, undoableFrom: cursor + 1 };
  if (tip.height <= cursor) return [];
  const { transfers, through } = await adapter.scan(node, request);
  cursor = through.height;
  return transfers;
}

/** Starts watching earlier, as for an open payment. */
async function watched(...watch: WatchedAddress[]): Promise<void> {
  solana.mine();
  await look(...watch);
}

test('identity is the hash of the first block, and a mint has decimals', async () => {
  expect(await adapter.identify(node)).toBe('EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG');
  expect(await adapter.readDecimals(node, USDC)).toBe(6);
  expect(await adapter.readDecimals(node, newWallet().address)).toBeUndefined();
  const other = newWallet().address;
  solana.setMint(other, 6, 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
  expect(await adapter.readDecimals(node, other)).toBeUndefined();
});

test('heads are the confirmed and the finalized slot', async () => {
  const { tip, finalHeight, cursorHash } = await adapter.readHeads(node, cursor);
  expect(await adapter.readHeight(node)).toBe(tip.height);
  expect(tip.height).toBe(solana.slot);
  expect(finalHeight).toBe(solana.finalSlot);
  expect(cursorHash).toBe((await adapter.readBlock(node, cursor))?.hash);
});

test('the time of a newest slot far above the cursor is not estimated', async () => {
  const before = solana.slot;
  solana.mine(200);
  const { tip } = await adapter.readHeads(node, before);
  expect(tip.time).toEqual((await adapter.readBlock(node, tip.height))?.time);
});

test('a slot without a block is treated as the block before it', async () => {
  const before = solana.slot;
  solana.skipSlots(3);
  solana.mine();
  expect((await adapter.readBlock(node, before + 2))?.height).toBe(before);
  expect(await adapter.readBlock(node, solana.slot + 100_000)).toBeNull();
});

describe('SOL', () => {
  test('counts by the difference of the owner’s balance', async () => {
    const own = newWallet().address;
    await watched(sol(own));
    const reference = solanaReference('01890a5d-ac96-774b-bcce-b302099a8057');
    const transactionHash = solana.send(
      [sendLamports(sender.address, own, 2_000_000_000n, [reference])],
      [sender],
    );
    const [transfer, ...others] = await look(sol(own));
    expect(others).toEqual([]);
    expect(transfer).toMatchObject({
      blockchainId: 'sol-dev',
      transactionHash,
      address: own,
      tokenAmount: 2_000_000_000n,
      block: { height: solana.slot, hash: (await adapter.readBlock(node, solana.slot))?.hash },
    });
    expect(transfer?.references).toContain(reference);
  });

  test('of a failed transaction does not count', async () => {
    const own = newWallet().address;
    await watched(sol(own));
    solana.send([sendLamports(sender.address, own, 10n ** 18n)], [sender]);
    expect(await look(sol(own))).toEqual([]);
  });

  test('of a failed transaction does not count, even if lists do not show the failure and balances have changed', async () => {
    const own = newWallet().address;
    await watched(sol(own));
    const hash = solana.send([sendLamports(sender.address, own, 2_000_000_000n)], [sender]);
    const failed = alteredNode(node, (method, params, result) => {
      if (method === 'getSignaturesForAddress') {
        return (result as object[]).map(each => ({ ...each, err: undefined }));
      }
      if (method !== 'getTransaction' || params[0] !== hash) return result;
      const { meta, ...rest } = result as { meta: object };
      return { ...rest, meta: { ...meta, err: { InstructionError: [0, { Custom: 1 }] } } };
    });
    const request = { from: cursor + 1, to: solana.slot, watch: [sol(own)] };
    const scanned = await adapter.scan(failed, { ...request, undoableFrom: cursor + 1 });
    expect(scanned).toMatchObject({ transfers: [], unreadable: [] });
  });

  test('of a transaction that is listed as failed is not even read', async () => {
    const own = newWallet().address;
    solana.send([sendLamports(sender.address, own, 10n ** 18n)], [sender]);
    const before = node.asked.length;
    expect(await look(sol(own))).toEqual([]);
    // A new account is listed, whether or not it has changed.
    expect(node.asked.slice(before)).toContain('getSignaturesForAddress');
    expect(node.asked.slice(before)).not.toContain('getTransaction');
  });

  test('counts once if owner and payer are the same: what it gained', async () => {
    const own = newWallet();
    solana.airdrop(own.address, 10_000_000_000n);
    await watched(sol(own.address));
    solana.send(
      [
        sendLamports(own.address, sender.address, 1_000_000_000n),
        sendLamports(sender.address, own.address, 3_000_000_000n),
      ],
      [own, sender],
    );
    expect(await look(sol(own.address))).toMatchObject([{ tokenAmount: 2_000_000_000n }]);
  });

  test('to two owners in one transaction is two transfers', async () => {
    const [one, other] = [newWallet().address, newWallet().address];
    await watched(sol(one), sol(other));
    solana.send(
      [
        sendLamports(sender.address, one, 1_000_000_000n),
        sendLamports(sender.address, other, 2_000_000_000n),
      ],
      [sender],
    );
    const transfers = await look(sol(one), sol(other));
    expect(transfers.map(({ address, tokenAmount }) => [address, tokenAmount])).toEqual([
      [one, 1_000_000_000n],
      [other, 2_000_000_000n],
    ]);
  });

  test('that is swept again before the next look is found within a minute', async () => {
    const own = newWallet();
    for (let looks = 0; looks < 7; looks++) await watched(sol(own.address));
    solana.send([sendLamports(sender.address, own.address, 1_000_000_000n)], [sender]);
    solana.send([sendLamports(own.address, sender.address, 1_000_000_000n)], [own]);
    const found: ChainTransfer[] = [];
    for (let looks = 0; looks < 20; looks++) {
      found.push(...(await look(sol(own.address))));
      solana.mine();
    }
    expect(found).toMatchObject([{ tokenAmount: 1_000_000_000n }]);
  });

  test('that is swept again during a pause is found at once', async () => {
    const own = newWallet();
    for (let looks = 0; looks < 7; looks++) await watched(sol(own.address));
    solana.send([sendLamports(sender.address, own.address, 1_000_000_000n)], [sender]);
    solana.send([sendLamports(own.address, sender.address, 1_000_000_000n)], [own]);
    // More than the two minutes after which a look lists every account, and more slots than whose time is estimated.
    ahead += 121_000;
    solana.mine(160);
    expect(await look(sol(own.address))).toMatchObject([{ tokenAmount: 1_000_000_000n }]);
  });
});

describe('tokens', () => {
  test('count in an account that is created in the same transaction', async () => {
    const own = newWallet().address;
    await watched(usdc(own));
    const account = associatedAccount(own, USDC);
    const transactionHash = solana.send(
      [
        createAssociated(solana.payer.address, account, own, USDC),
        sendTokens(senderTokens, account, sender.address, 5_000_000n),
      ],
      [sender],
    );
    expect(await look(usdc(own))).toMatchObject([
      { blockchainId: 'sol-usdc-dev', transactionHash, address: own, tokenAmount: 5_000_000n },
    ]);
  });

  test('count in an existing account, even if the transfer does not name the owner', async () => {
    const own = newWallet().address;
    const account = solana.fund(own, 7n);
    await watched(usdc(own));
    solana.send([sendTokens(senderTokens, account, sender.address, 4_000_000n)], [sender]);
    expect(await look(usdc(own))).toMatchObject([{ tokenAmount: 4_000_000n }]);
  });

  test('count in a second account of the owner, all accounts together', async () => {
    const own = newWallet().address;
    const [first, second] = [solana.fund(own, 0n), newWallet().address];
    solana.setTokens(second, own, 0n);
    await watched(usdc(own));
    solana.send(
      [
        sendTokens(senderTokens, second, sender.address, 3_000_000n),
        sendTokens(senderTokens, first, sender.address, 1_000_000n),
      ],
      [sender],
    );
    expect(await look(usdc(own))).toMatchObject([{ tokenAmount: 4_000_000n }]);
  });

  test('count in a second account of the owner, even if the first request for it failed', async () => {
    const [own, second] = [newWallet().address, newWallet().address];
    solana.setTokens(second, own, 0n);
    const refusing = alteredNode(node, (method, _, result) =>
      method === 'getTokenAccountsByOwner' ? new RpcError(-32_603, 'internal error') : result,
    );
    solana.mine();
    const request = { from: cursor + 1, to: solana.slot, watch: [usdc(own)] };
    const refused = await adapter.scan(refusing, { ...request, undoableFrom: request.from });
    expect(refused).toMatchObject({ transfers: [], unreadable: [] });
    await watched(usdc(own));
    solana.send([sendTokens(senderTokens, second, sender.address, 3_000_000n)], [sender]);
    expect(await look(usdc(own))).toMatchObject([{ tokenAmount: 3_000_000n }]);
  });

  test('count in an account that was closed and reopened', async () => {
    const own = newWallet();
    solana.airdrop(own.address, 1_000_000_000n);
    const account = solana.fund(own.address, 0n);
    await watched(usdc(own.address));
    solana.send([closeAccount(account, own.address)], [own]);
    expect(await look(usdc(own.address))).toEqual([]);
    solana.send(
      [
        createAssociated(solana.payer.address, account, own.address, USDC),
        sendTokens(senderTokens, account, sender.address, 6_000_000n),
      ],
      [sender],
    );
    expect(await look(usdc(own.address))).toMatchObject([{ tokenAmount: 6_000_000n }]);
  });

  test('count if the account comes from a lookup table (version 0)', async () => {
    const own = newWallet().address;
    const account = solana.fund(own, 0n);
    const table = solana.addTable([account, own]);
    await watched(usdc(own));
    const lookup = { table, addresses: [account] };
    solana.send([sendTokens(senderTokens, account, sender.address, 8_000_000n)], [sender], lookup);
    expect(await look(usdc(own))).toMatchObject([{ tokenAmount: 8_000_000n }]);
  });

  test('and SOL count in a transaction of version 1', async () => {
    const own = newWallet().address;
    const account = solana.fund(own, 0n);
    await watched(sol(own), usdc(own));
    const reference = solanaReference('01890a5d-ac96-774b-bcce-b302099a8057');
    const transactionHash = solana.send(
      [
        sendLamports(sender.address, own, 2_000_000_000n, [reference]),
        sendTokens(senderTokens, account, sender.address, 9_000_000n),
      ],
      [sender],
      undefined,
      1,
    );
    const expected = [
      { blockchainId: 'sol-dev', transactionHash, tokenAmount: 2_000_000_000n },
      { blockchainId: 'sol-usdc-dev', transactionHash, tokenAmount: 9_000_000n },
    ];
    const transfers = await look(sol(own), usdc(own));
    expect(transfers).toMatchObject(expected);
    for (const { references } of transfers) expect(references).toContain(reference);
    const watch = [sol(own), usdc(own)];
    const lookUp = { transactionHash, watch, inputs: null, blockHash: null };
    expect(await adapter.lookUp(node, lookUp)).toMatchObject({ transfers: expected });
  });

  test('of another mint do not count', async () => {
    const [own, mint] = [newWallet().address, newWallet().address];
    solana.setMint(mint);
    const account = solana.fund(own, 0n, mint);
    const from = solana.fund(sender.address, 9_000_000n, mint);
    await watched(usdc(own));
    const sent = sendTokens(from, account, sender.address, 4_000_000n);
    const transactionHash = solana.send([sent], [sender]);
    expect(await look(usdc(own))).toEqual([]);
    const lookUp = { transactionHash, watch: [usdc(own)], inputs: null, blockHash: null };
    expect(await adapter.lookUp(node, lookUp)).toMatchObject({ transfers: [] });
    // Nor in a transaction with some that count.
    const counting = sendTokens(senderTokens, solana.fund(own, 0n), sender.address, 1_000_000n);
    solana.send([counting, sent], [sender]);
    expect(await look(usdc(own))).toMatchObject([{ tokenAmount: 1_000_000n }]);
  });
});

test('more than a thousand signatures are all read', async () => {
  const own = newWallet().address;
  await watched(sol(own));
  solana.mine();
  for (let sent = 0; sent < 1_005; sent++) {
    solana.sendInSlot([sendLamports(sender.address, own, 1_000_000n + BigInt(sent))], [sender]);
  }
  const transfers = await look(sol(own));
  expect(new Set(transfers.map(({ transactionHash }) => transactionHash)).size).toBe(1_005);
});

test('a list that lags behind the balance is requested again', async () => {
  const own = newWallet().address;
  await watched(sol(own));
  solana.hidesNewest = true;
  solana.send([sendLamports(sender.address, own, 1_000_000_000n)], [sender]);
  expect(await look(sol(own))).toEqual([]);
  solana.hidesNewest = false;
  solana.mine();
  expect(await look(sol(own))).toMatchObject([{ tokenAmount: 1_000_000_000n }]);
  solana.mine();
  expect(await look(sol(own))).toEqual([]);
});

test('a transfer to a new address after the newest block was read is found at the next look', async () => {
  const own = newWallet().address;
  solana.mine();
  const { tip } = await adapter.readHeads(node, cursor);
  solana.send([sendLamports(sender.address, own, 1_000_000_000n)], [sender]);
  const request = { from: cursor + 1, to: tip.height, undoableFrom: cursor + 1 };
  expect((await adapter.scan(node, { ...request, watch: [sol(own)] })).transfers).toEqual([]);
  cursor = tip.height;
  expect(await look(sol(own))).toMatchObject([{ tokenAmount: 1_000_000_000n }]);
});

test('a transfer that was found but not recorded is found again', async () => {
  const own = newWallet().address;
  await watched(sol(own));
  const before = cursor;
  solana.send([sendLamports(sender.address, own, 1_000_000_000n)], [sender]);
  expect(await look(sol(own))).toHaveLength(1);
  cursor = before;
  expect(await look(sol(own))).toHaveLength(1);
});

test('a node that has not come as far is not believed', async () => {
  const own = newWallet().address;
  const request = { from: cursor, to: solana.slot + 5, watch: [sol(own)], undoableFrom: cursor };
  await expect(adapter.scan(node, request)).rejects.toThrow();
});

describe('a look-up reports', () => {
  const lookUp = (transactionHash: string, ...watch: WatchedAddress[]) =>
    adapter.lookUp(node, { transactionHash, watch, inputs: null, blockHash: null });

  test('nothing, and one that a fork has undone', async () => {
    const own = newWallet().address;
    const hash = solana.send([sendLamports(sender.address, own, 1_000_000_000n)], [sender]);
    expect(await lookUp(hash, sol(own))).toMatchObject({ status: 'included' });
    solana.undo(1);
    solana.mine(2);
    expect(await lookUp(hash, sol(own))).toEqual({ status: 'unknown' });
  });

  test('a transfer in its block, and worthless assets', async () => {
    const own = newWallet().address;
    const hash = solana.send([sendLamports(sender.address, own, 1_000_000_000n)], [sender]);
    expect(await lookUp(hash, sol(own))).toMatchObject({
      status: 'included',
      block: { height: solana.slot },
      transfers: [{ tokenAmount: 1_000_000_000n, address: own }],
      foreign: [],
    });
    expect(await lookUp(hash, usdc(own))).toMatchObject({
      status: 'included',
      transfers: [],
      foreign: [{ address: own, contract: null }],
    });
  });

  test('one as final as soon as it is', async () => {
    const own = newWallet().address;
    const transactionHash = solana.send(
      [sendLamports(sender.address, own, 1_000_000_000n)],
      [sender],
    );
    const request = { transactionHash, watch: [sol(own)], inputs: null, blockHash: null };
    const lookUpFinal = () => adapter.lookUp(node, { ...request, isFinal: true });
    expect(await lookUpFinal()).toEqual({ status: 'pending', transfers: [] });
    solana.mine(32);
    expect(await lookUpFinal()).toEqual(await adapter.lookUp(node, request));
  });

  test('one that is final and that the node does not show', async () => {
    const own = newWallet().address;
    const hash = solana.send([sendLamports(sender.address, own, 1_000_000_000n)], [sender]);
    const leavesOut = alteredNode(node, (method, _params, result) =>
      method === 'getTransaction' ? null : result,
    );
    const request = { transactionHash: hash, watch: [sol(own)], inputs: null, blockHash: null };
    expect(await adapter.lookUp(leavesOut, request)).toMatchObject({ status: 'pending' });
    solana.mine(32);
    expect(await adapter.lookUp(leavesOut, request)).toMatchObject({ status: 'unreadable' });
  });

  test('one that failed', async () => {
    const own = newWallet().address;
    const hash = solana.send([sendLamports(sender.address, own, 10n ** 18n)], [sender]);
    expect(await lookUp(hash, sol(own))).toMatchObject({ status: 'failed' });
  });
});

test('a hundred watched addresses cost two requests per look', async () => {
  const owners = Array.from({ length: 100 }, () => sol(newWallet().address));
  await watched(...owners);
  for (let looks = 0; looks < 6; looks++) await watched(...owners);
  const before = solana.requests;
  await watched(...owners);
  expect(solana.requests - before).toBe(2);
});

/** The names and kinds of all fields; of a list, those of its first element. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (value === null) return 'null';
  // JSON has one kind of numbers.
  if (typeof value === 'bigint') return 'number';
  if (typeof value !== 'object') return typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, shapeOf(member)] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

test('the test node responds in the documented formats, field by field', async () => {
  const own = newWallet().address;
  const account = associatedAccount(own, USDC);
  const table = solana.addTable([account]);
  const hash = solana.send(
    [
      createAssociated(solana.payer.address, account, own, USDC),
      sendTokens(senderTokens, account, sender.address, 5_000_000n),
    ],
    [sender],
    { table, addresses: [account] },
  );
  solana.mine(40);
  const answers = {
    getLatestBlockhash: await node.call('getLatestBlockhash', []),
    getBlock: await node.call('getBlock', [solana.slot, {}]),
    getMultipleAccounts: await node.call('getMultipleAccounts', [[sender.address], {}]),
    getTokenAccountsByOwner: await node.call('getTokenAccountsByOwner', [own, { mint: USDC }, {}]),
    getSignaturesForAddress: await node.call('getSignaturesForAddress', [account, {}]),
    getSignatureStatuses: await node.call('getSignatureStatuses', [[hash], {}]),
  };
  for (const [method, answer] of Object.entries(answers)) {
    const documented = recorded[method as keyof typeof answers];
    expect({ method, shape: shapeOf(answer) }).toEqual({ method, shape: shapeOf(documented) });
  }
  const options = { maxSupportedTransactionVersion: 0 };
  const { meta, ...rest } = (await node.call('getTransaction', [hash, options])) as never as {
    meta: Record<string, unknown>;
  };
  const { meta: documentedMeta, ...documented } = recorded.getTransaction;
  expect(shapeOf(rest)).toEqual(shapeOf(documented));
  expect(Object.keys(meta).sort()).toEqual(Object.keys(documentedMeta).sort());
  expect(shapeOf(meta.postTokenBalances)).toEqual(shapeOf(documentedMeta.postTokenBalances));
});
