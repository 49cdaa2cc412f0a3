import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChainAdapter, TransactionReport } from '#chains/adapter.ts';
import { createBitcoinAdapter } from '#chains/bitcoin/adapter.ts';
import type { WatchedAddress } from '#chains/transfer.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { newId } from '#crypto/new-id.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { lookUpOnChain } from '#onchain/watching/look-up/look-up.ts';
import { openLookUps } from '#onchain/watching/look-up/open-look-ups.ts';
import { addNode } from '#onchain/watching/operate/manage-nodes.ts';
import type { NodeAbilities } from '#storage/database/watching-tables.ts';
import { updateChain } from '#storage/repositories/chains/chains.ts';
import { addFinding } from '#storage/repositories/chains/findings.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import {
  BITCOIND,
  BITCOIND_MISSING,
  type Bitcoind,
  startBitcoind,
} from '../../../helpers/bitcoind.ts';
import { cloneDatabase, type TestDatabase } from '../../../helpers/database.ts';
import { plainNode } from '../../../helpers/plain-node.ts';
import { watchNetworks } from '../../../helpers/watch-networks.ts';

const NOW = new Date();
/** Earlier than any block that a test makes. */
const BEFORE = new Date(NOW.getTime() - 3_600_000);

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
  await watchNetworks(database.db);
});
afterAll(() => database?.drop());
beforeEach(() => database.db.deleteFrom('rescans').execute());

const rescans = () =>
  database.db
    .selectFrom('rescans')
    .select(['blockchain_id', 'from_height', 'to_height', 'asked_by'])
    .orderBy('blockchain_id')
    .execute();

async function questionOf(id: string, transactionHash: string, watch: readonly WatchedAddress[]) {
  const network = await findNetwork(database.db, id);
  if (network === undefined) throw new Error(`there is no network ${id}`);
  const about = { network, transactionHash, watch, cents: 1_000_000, since: BEFORE };
  return { ...about, askedBy: 'payment 1', now: NOW };
}

describe.skipIf(BITCOIND === undefined)(
  BITCOIND === undefined ? `Bitcoin ${BITCOIND_MISSING}` : 'a transaction of Bitcoin',
  () => {
    let bitcoin: Bitcoind;
    let adapter: ChainAdapter;
    let own: string;
    beforeAll(async () => {
      bitcoin = await startBitcoind();
      adapter = createBitcoinAdapter();
      own = await bitcoin.rpc('getnewaddress');
    });
    afterAll(() => bitcoin?.stop());

    async function lookUp(hash: string, since: Date | null = BEFORE) {
      const watch = [{ network: { id: 'btc-test', contract: null }, address: own }];
      const head = await bitcoin.rpc('getblockcount');
      await updateChain(database.db, 'btc-test', { head_height: head });
      const question = await questionOf('btc-test', hash, watch);
      return lookUpOnChain(database.db, { adapter, node: bitcoin.node }, { ...question, since });
    }

    test('is followed from the mempool to its last block, and its block is scanned again once', async () => {
      const hash: string = await bitcoin.rpc('sendtoaddress', own, 0.5);
      expect(await lookUp(hash)).toMatchObject({
        verdict: 'pending',
        confirmations: 0,
        required: 6,
        occurredAt: null,
        transfers: [{ blockchainId: 'btc-test', address: own, tokenAmount: 50_000_000n }],
      });
      expect(await rescans()).toEqual([]);
      await bitcoin.mine(1);
      const height = await bitcoin.rpc('getblockcount');
      expect(await lookUp(hash)).toMatchObject({
        verdict: 'included',
        confirmations: 1,
        required: 6,
        occurredAt: expect.any(Date),
        transfers: [{ depositId: null, paymentId: null, outcome: null }],
      });
      await bitcoin.mine(5);
      expect(await lookUp(hash)).toMatchObject({ verdict: 'final', confirmations: 6 });
      const block = { from_height: height, to_height: height, asked_by: 'payment 1' };
      expect(await rescans()).toEqual([{ blockchain_id: 'btc-test', ...block }]);
    });

    test('that the ledger has is answered with its deposit, and not scanned again', async () => {
      const hash: string = await bitcoin.rpc('sendtoaddress', own, 0.25);
      await bitcoin.mine(1);
      const found = await lookUp(hash);
      await database.db.deleteFrom('rescans').execute();
      const [transfer] = found.transfers;
      if (transfer === undefined) throw new Error('there is no transfer');
      const deposit = await observeTransfer(
        database.db,
        {
          ...transfer,
          transactionHash: hash,
          blockHeight: 1,
          blockHash: null,
          occurredAt: NOW,
          source: 'chain',
          finality: 'seen',
        },
        NOW,
      );
      expect((await lookUp(hash)).transfers).toEqual([
        { ...transfer, depositId: deposit.id, outcome: 'unknown', state: 'seen' },
      ]);
      expect(await rescans()).toEqual([]);
    });

    test('older than the period in question is not scanned again', async () => {
      const hash: string = await bitcoin.rpc('sendtoaddress', own, 0.1);
      await bitcoin.mine(1);
      expect(await lookUp(hash, new Date(Date.now() + 7_200_000))).toMatchObject({
        verdict: 'included',
      });
      expect(await rescans()).toEqual([]);
    });

    test('is looked up at the node that an operator has configured, in time', async () => {
      const hash: string = await bitcoin.rpc('sendtoaddress', own, 0.3);
      await bitcoin.mine(1);
      const keyring = createKeyring([randomBytes(32)]);
      const { db } = database;
      const ask = async () => {
        const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
        const options = { db, keyring, clock: Date.now, logger, isProduction: false };
        const lookUps = openLookUps(options);
        const watch = [{ network: { id: 'btc-test', contract: null }, address: own }];
        const answer = await lookUps.ask(await questionOf('btc-test', hash, watch), '192.0.2.1');
        await lookUps.close();
        return answer;
      };
      expect(await ask()).toBeNull();
      const operator = { db, clock: Date.now, actor: 'test' };
      const settings = { chain: 'btc-test', url: bitcoin.url };
      await addNode(operator, { keyring, isProduction: false }, settings);
      expect(await ask()).toMatchObject({ verdict: 'included' });
    });

    test('to no address here, and one that no node knows', async () => {
      const other = await bitcoin.rpc('getnewaddress');
      const hash: string = await bitcoin.rpc('sendtoaddress', other, 0.1);
      expect(await lookUp(hash)).toMatchObject({ verdict: 'other_address', transfers: [] });
      await bitcoin.mine(1);
      expect(await lookUp(hash)).toMatchObject({ verdict: 'other_address', transfers: [] });
      expect(await lookUp('ab'.repeat(32))).toMatchObject({ verdict: 'unknown' });
      expect(await rescans()).toEqual([]);
    });
  },
);

describe('a report of an adapter', () => {
  const HASH = `0x${'1'.repeat(64)}`;
  const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
  const block = { height: 90, hash: '0x90', parentHash: '0x89', time: NOW };
  const transfer = {
    blockchainId: 'eth',
    transactionHash: HASH,
    position: 0,
    address: ADDRESS,
    tokenAmount: 5n,
    block,
    inputs: null,
    maturity: 1,
  };
  const included = { status: 'included', block, transfers: [], foreign: [] } as const;

  /** The answer about a payment in ether to an address that also takes USDC. */
  async function judge(
    report: TransactionReport,
    trace: NodeAbilities['trace'] = null,
    readMempool?: ChainAdapter['readMempool'],
  ) {
    await updateChain(database.db, 'eth', { head_height: 100, final_height: 80 });
    const adapter = { lookUp: async () => report, ...(readMempool && { readMempool }) };
    const usdc = (await findNetwork(database.db, 'eth-usdc'))?.contract ?? '';
    const question = await questionOf('eth', HASH, [
      { network: { id: 'eth', contract: null }, address: ADDRESS },
      { network: { id: 'eth-usdc', contract: usdc }, address: ADDRESS },
    ]);
    const node = plainNode('http://127.0.0.1:1', {}, { trace });
    return lookUpOnChain(database.db, { adapter, node }, question);
  }

  test('is checked for dust unless it is older than the period in question', async () => {
    const weighed = async (time: Date) => {
      const own = { ...block, time };
      const nothing = { ...transfer, block: own, tokenAmount: 0n };
      const { transfers } = await judge({ ...included, block: own, transfers: [nothing] });
      return transfers.map(({ outcome }) => outcome);
    };
    expect(await weighed(BEFORE)).toEqual(['dust']);
    expect(await weighed(new Date(BEFORE.getTime() - 1))).toEqual([null]);
    expect(await rescans()).toEqual([]);
  });

  test('pending, before the adapter can tell what it pays', async () => {
    const pending = { status: 'pending', transfers: [] } as const;
    expect((await judge(pending)).verdict).toBe('pending');
    const readMempool = () => Promise.reject(new Error('nobody asks'));
    expect((await judge(pending, null, readMempool)).verdict).toBe('other_address');
  });

  test('failed and replaced', async () => {
    expect(await judge({ status: 'failed', block })).toMatchObject({
      verdict: 'failed',
      confirmations: 11,
      required: 'final',
      transfers: [],
    });
    expect((await judge({ status: 'replaced' })).verdict).toBe('replaced');
    expect(await rescans()).toEqual([]);
  });

  test('final by the chain’s own finality only', async () => {
    const report = { ...included, transfers: [transfer] };
    expect((await judge(report)).verdict).toBe('included');
    const early = { ...report, block: { ...block, height: 80 } };
    expect((await judge(early)).verdict).toBe('final');
    const next = { ...report, block: { ...block, height: 81 } };
    expect((await judge(next)).verdict).toBe('included');
  });

  test('of another token: one of the chain’s networks, or any other contract', async () => {
    const usdc = { ...transfer, blockchainId: 'eth-usdc' };
    const found = await judge({ ...included, transfers: [usdc] });
    expect(found).toMatchObject({ verdict: 'other_asset', transfers: [{ depositId: null }] });
    // It arrived all the same, so the merchant should get an event.
    expect(await rescans()).toMatchObject([{ blockchain_id: 'eth-usdc', from_height: 90 }]);
    const foreign = [{ address: ADDRESS, contract: '0x0000000000000000000000000000000000000001' }];
    expect((await judge({ ...included, foreign })).verdict).toBe('other_asset');
  });

  test('that a contract may have sent funds by, where the balance rose and the node traces nothing', async () => {
    expect((await judge(included)).verdict).toBe('other_address');
    const inflow = (height: number, id = newId()) =>
      addFinding(
        database.db,
        {
          id,
          chain: 'eth',
          kind: 'unexplained_inflow',
          blockchainId: 'eth',
          address: ADDRESS,
          height,
          amount: 5n,
          detail: 'a test',
        },
        NOW,
      );
    await inflow(89);
    expect((await judge(included)).verdict).toBe('other_address');
    await inflow(90);
    expect((await judge(included)).verdict).toBe('untraceable');
    expect((await judge(included, 'trace_block')).verdict).toBe('other_address');
    await sql`update findings set resolved_at = now()`.execute(database.db);
    expect((await judge(included)).verdict).toBe('other_address');
  });
});
