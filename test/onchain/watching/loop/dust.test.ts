import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setAddress } from '#accounts/deposit-addresses.ts';
import { chainOf } from '#chains/chain-list.ts';
import { NodeFailure } from '#chains/nodes/node.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { findTransaction } from '#onchain/watching/operate/find-transaction.ts';
import { addNode } from '#onchain/watching/operate/manage-nodes.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { listDust } from '#storage/repositories/deposits/dust.ts';
import type { Loop } from '#worker/loop.ts';
import { watchChainLoop } from '#worker/watch-chains.ts';
import { addMerchant, operatorOf } from '../../../helpers/accounts.ts';
import { ANVIL_MISSING, hasAnvil } from '../../../helpers/anvil.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { type Evm, type EvmChain, RICH, startEvm, USDC_TEST } from '../../../helpers/evm.ts';
import type { NodeProxy } from '../../../helpers/node-proxy.ts';
import { addPaymentAt, forgetTransfers } from '../../../helpers/open-payment.ts';
import { addPayment, stateOfPayment } from '../../../helpers/payments.ts';
import { ModelChain } from '../model-chain.ts';
import { beginModel, FINAL_DEPTH, type ModelWatcher } from '../model-watcher.ts';

const MINUTE_MS = 60_000;

let service: TestApp;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service, { addresses: {} }));
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);
const deposits = () => service.db.selectFrom('deposits').selectAll().execute();
const events = () =>
  service.db
    .selectFrom('events')
    .select('id')
    .where('type', '=', 'payment_prompt.deposit_unmatched')
    .execute();
const statusOf = (id: string) => stateOfPayment(service.db, id);

describe('a model of a chain', () => {
  const CHAIN = 'bnb-test';
  let model: ModelChain;
  let watcher: ModelWatcher;

  beforeEach(async () => {
    ({ model, watcher } = await beginModel(service, CHAIN));
  });

  async function ask(tokenAmount: bigint): Promise<string> {
    const slot = { blockchainId: CHAIN, address: 'A', tokenAmount };
    const expires_at = new Date(service.clock.now + 15 * MINUTE_MS);
    return (await addPaymentAt(service, merchant, slot, { amount: 1_000, expires_at })).id;
  }

  const send = (tokenAmount: bigint) =>
    model.send({ blockchainId: CHAIN, address: 'A', tokenAmount });

  async function tick(): Promise<void> {
    service.clock.now += 3_000;
    while ((await watcher.tick()) === 'more');
  }

  /** The second look at the scanned blocks, some time after the first; it counts dust. */
  async function lookAgain(): Promise<void> {
    service.clock.now += chainOf(CHAIN).secondLookAfterMs;
    await tick();
  }

  async function mineAndTick(empty = 0): Promise<void> {
    service.clock.now += 1_000;
    model.mine();
    for (let mined = 0; mined < empty; mined++) model.mine([]);
    await tick();
  }

  test('counts thousands of worthless transfers in one row, and adds no event for them', async () => {
    const [paid, other] = [await ask(100_000n), await ask(100_100n)];
    await tick();
    const hashes = Array.from({ length: 5_600 }, (_, index) => send(BigInt(index % 900) + 1n).hash);
    send(100_000n);
    await mineAndTick();
    expect(await statusOf(paid)).toBe('pending/completed');
    expect(await statusOf(other)).toBe('pending/pending');
    await mineAndTick(FINAL_DEPTH);
    await lookAgain();
    expect(await statusOf(paid)).toBe('successful/completed');
    expect(await deposits()).toMatchObject([{ outcome: 'exact', state: 'final' }]);
    expect(await events()).toEqual([]);
    const sum = hashes.reduce((total, _, index) => total + BigInt(index % 900) + 1n, 0n);
    expect(await listDust(service.db, 10)).toMatchObject([
      {
        blockchainId: CHAIN,
        address: 'A',
        transfers: 5_600,
        tokenAmount: `${sum}`,
        firstHash: hashes[0],
        lastHash: hashes.at(-1),
        day: now().toISOString().slice(0, 10),
      },
    ]);
    await mineAndTick(FINAL_DEPTH);
    send(3n);
    await mineAndTick(FINAL_DEPTH);
    await lookAgain();
    expect(await listDust(service.db, 10)).toMatchObject([{ transfers: 5_601 }]);
  });

  test('a part larger than dust waits for a person, also while another payment is open', async () => {
    await ask(100_000n);
    await ask(100_100n);
    await tick();
    send(1_000n);
    await mineAndTick(FINAL_DEPTH);
    expect(await deposits()).toMatchObject([{ outcome: 'ambiguous', state: 'final' }]);
    expect(await listDust(service.db, 10)).toEqual([]);
  });

  test('a rest as small as dust completes its payment', async () => {
    const whole = 10n ** 18n;
    const id = await ask(whole);
    await tick();
    send(whole - whole / 200n);
    await mineAndTick(FINAL_DEPTH);
    const { token_amount: rest } = await service.db
      .selectFrom('reservations')
      .select('token_amount')
      .where('rest_of', 'is not', null)
      .executeTakeFirstOrThrow();
    expect(BigInt(rest)).toBeLessThan(whole / 100n);
    send(BigInt(rest));
    for (let sent = 0; sent < 50; sent++) send(BigInt(rest) + 1n);
    send(2n);
    await mineAndTick(FINAL_DEPTH);
    await lookAgain();
    expect(await statusOf(id)).toBe('successful/completed');
    // The part, the rest, a transfer close to the rest, and one close to what was missing.
    expect(await deposits()).toHaveLength(4);
    expect(await listDust(service.db, 10)).toMatchObject([{ transfers: 49 }]);
  });

  test('dust is counted once if the check node fails in the middle of the second look', async () => {
    await ask(100_000n);
    await tick();
    const check = new ModelChain(service.clock, FINAL_DEPTH);
    check.blocks.splice(0, check.blocks.length, ...model.blocks);
    for (let mined = 0; mined < 9; mined++) {
      send(5n);
      model.mine();
    }
    for (let mined = 0; mined < FINAL_DEPTH; mined++) model.mine([]);
    check.blocks.splice(0, check.blocks.length, ...model.blocks);
    const { scan } = check.adapter;
    let looks = 0;
    Object.assign(check.adapter, {
      scan: (...args: Parameters<typeof scan>) => {
        looks += 1;
        if (looks === 2) throw new NodeFailure('the check node is away');
        return scan(...args);
      },
    });
    watcher.check = check;
    await tick();
    await lookAgain();
    expect(looks).toBe(2);
    expect(await listDust(service.db, 10)).toMatchObject([{ transfers: 9 }]);
  });
});

describe.skipIf(!hasAnvil)(`Ethereum (${hasAnvil ? 'anvil' : ANVIL_MISSING})`, () => {
  const TOKEN = 'eth-usdc-test';
  const address = RICH[1];
  const FLOOD = 400;
  let chain: EvmChain;
  let evm: Evm;
  let proxy: NodeProxy;
  let loop: Loop;

  beforeAll(async () => {
    const { db, keyring, clock } = service;
    await forgetTransfers(db);
    await sql`update networks set settled_by = 'simulation' where settled_by = 'chain'`.execute(db);
    chain = await startEvm();
    ({ evm, proxy } = chain);
    await evm.place('token', USDC_TEST);
    await evm.mint(USDC_TEST, RICH[0], 10n ** 12n);
    await evm.mine(8);
    clock.now = Date.now();
    const tools = { keyring, isProduction: false };
    const node = { chain: 'eth-test', url: proxy.url, requestsPerSecond: 1_000 } as const;
    await addNode(operatorOf(service), tools, node);
    for (const id of [TOKEN, 'eth-test'] as const) {
      await setAddress(operatorOf(service), { merchantId: merchant.id }, id, address);
    }
    const watching = { db, clock, keyring, logger: pino({ level: 'silent' }), isProduction: false };
    loop = watchChainLoop({ ...watching, watchIntervalMs: null }, chainOf('eth-test'));
    await look();
  });
  afterAll(async () => {
    await loop?.end?.();
    await chain?.stop();
  });

  async function look(later = 0): Promise<void> {
    service.clock.now = Date.now() + later;
    await loop.run(AbortSignal.timeout(30_000), () => undefined);
  }

  async function ask(blockchainId: string) {
    const { db, rates } = service;
    service.clock.now = Date.now();
    const payment = await addPayment(db, merchant, {
      amount: 1_000,
      created_at: now(),
      offered_blockchain_ids: [blockchainId],
    });
    return selectNetwork(db, rates, { payment, blockchainId, offering: 'watched' }, now());
  }

  const receipts = () => proxy.calls.filter(({ method }) => method === 'eth_getTransactionReceipt');

  test('worthless transfers cost no receipt, and others one in each look', async () => {
    const [payment, native] = [await ask(TOKEN), await ask('eth-test')];
    await look();
    // The parts sum up to more than the payment asks for.
    const part = BigInt(native.token_amount ?? 0) / 101n;
    for (let sent = 0; sent < FLOOD; sent++) {
      await evm.transferToken(USDC_TEST, address, BigInt(sent % 2));
      if (sent % 4 === 0) await evm.transferNative(address, part);
    }
    const exact = await evm.transferToken(USDC_TEST, address, BigInt(payment.token_amount ?? 0));
    await evm.mine();
    while (Number(await evm.anvil.rpc('txpool_status').then(({ pending }) => pending)) > 0) {
      await evm.mine();
    }
    proxy.calls.length = 0;
    await look();
    expect(await statusOf(payment.id)).toBe('pending/completed');
    expect(receipts().map(({ params }) => params[0])).toEqual([exact]);
    // At ten calls a second, all of them take less than 15 s.
    expect(proxy.calls.length).toBeLessThan(100);
    await evm.mine(16);
    await look();
    await look(chainOf('eth-test').secondLookAfterMs);
    expect(await statusOf(payment.id)).toBe('successful/completed');
    expect(await statusOf(native.id)).toBe('pending/pending');
    // The second look makes the deposit final.
    expect(receipts().map(({ params }) => params[0])).toEqual([exact, exact]);
    const rows = await listDust(service.db, 10);
    expect(rows.map(row => [row.blockchainId, row.transfers, row.tokenAmount]).toSorted()).toEqual([
      ['eth-test', FLOOD / 4, `${(BigInt(FLOOD) / 4n) * part}`],
      [TOKEN, FLOOD, `${FLOOD / 2}`],
    ]);
    expect(await deposits()).toMatchObject([{ transaction_hash: exact, outcome: 'exact' }]);

    // Balances are compared each minute, which must not scan the blocks again to explain them.
    const before = proxy.calls.length;
    await look(61_000);
    const methods = proxy.calls.slice(before).map(({ method }) => method);
    expect(methods).toContain('eth_call');
    expect(methods).not.toContain('eth_getTransactionReceipt');
    expect(await listOpenFindings(service.db, 10)).toEqual([]);

    const { db, keyring } = service;
    const tools = { keyring, isProduction: false };
    const operator = { ...operatorOf(service), db };
    const late = await evm.transferToken(USDC_TEST, address, 1n);
    await evm.mine();
    const found = await findTransaction(operator, tools, TOKEN, late);
    expect(found).toMatchObject({ missing: 0, transfers: [{ outcome: 'dust', depositId: null }] });
    expect(await db.selectFrom('rescans').selectAll().execute()).toEqual([]);
  }, 60_000);
});
