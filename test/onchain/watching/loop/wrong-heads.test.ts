import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setAddress } from '#accounts/deposit-addresses.ts';
import { chainOf } from '#chains/chain-list.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { addNode } from '#onchain/watching/operate/manage-nodes.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { listSeenNodes } from '#storage/repositories/chains/nodes.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import type { Loop } from '#worker/loop.ts';
import { watchChainLoop } from '#worker/watch-chains.ts';
import { addMerchant, operatorOf } from '../../../helpers/accounts.ts';
import { ANVIL_MISSING, type Anvil, hasAnvil, startAnvil } from '../../../helpers/anvil.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { type NodeProxy, startNodeProxy } from '../../../helpers/node-proxy.ts';
import { addPayment } from '../../../helpers/payments.ts';

const CHAIN = 'eth-test';
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const FAR = 9e15;

describe.skipIf(!hasAnvil)(`heads of a wrong node (${hasAnvil ? 'anvil' : ANVIL_MISSING})`, () => {
  let service: TestApp;
  let merchant: Merchant;
  let anvil: Anvil;
  let other: Anvil;
  let proxy: NodeProxy;
  let loop: Loop;
  let payer: string;

  beforeAll(async () => {
    service = await startTestApp();
    ({ merchant } = await addMerchant(service, { addresses: {} }));
    [anvil, other] = await Promise.all([startAnvil(), startAnvil({ chainId: 1 })]);
    proxy = await startNodeProxy(anvil.url);
    const [from, to] = await anvil.rpc('eth_accounts');
    payer = from;
    await anvil.rpc('anvil_mine', ['0x8']);
    const { db, keyring, clock } = service;
    clock.now = Date.now();
    const tools = { keyring, isProduction: false };
    await addNode(operatorOf(service), tools, {
      chain: CHAIN,
      url: proxy.url,
      requestsPerSecond: 1_000,
    });
    await setAddress(operatorOf(service), { merchantId: merchant.id }, CHAIN, to);
    const logger = pino({ level: 'silent' });
    const watching = { db, clock, keyring, logger, isProduction: false, watchIntervalMs: null };
    loop = watchChainLoop(watching, chainOf(CHAIN));
  });
  afterAll(async () => {
    await loop.end?.();
    await proxy.stop();
    await Promise.all([anvil.stop(), other.stop(), service.close()]);
  });

  /** Passes time, here and on the chain; then one look. */
  async function look(afterMs: number, blocks = 0): Promise<void> {
    service.clock.now += afterMs;
    await anvil.rpc('evm_increaseTime', [Math.ceil(afterMs / SECOND_MS)]);
    if (blocks > 0) await anvil.rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
    await loop.run(AbortSignal.timeout(15_000), () => undefined);
  }

  /** Alters responses: the newest block gets the number of another one. */
  const numberNewest = (number: number) =>
    proxy.alter((method, [tag], result) =>
      method === 'eth_getBlockByNumber' && tag === 'latest'
        ? { ...(result as object), number: `0x${number.toString(16)}` }
        : result,
    );

  async function expectPaymentSeen(): Promise<void> {
    const payment = await ask();
    const value = `0x${BigInt(payment.token_amount ?? 0).toString(16)}`;
    await anvil.rpc('eth_sendTransaction', [{ from: payer, to: payment.address, value }]);
    await look(12_000, 1);
    const { status, session_status: session } = (await findPayment(service.db, payment.id)) ?? {};
    expect(`${status}/${session}`).toBe('pending/completed');
    await look(12_000, 12);
    expect((await findPayment(service.db, payment.id))?.status).toBe('successful');
  }

  async function ask(): Promise<Payment> {
    const { db, rates, clock } = service;
    const now = new Date(clock.now);
    const payment = await addPayment(db, merchant, {
      amount: 1_000,
      created_at: now,
      offered_blockchain_ids: [CHAIN],
    });
    const choice = { payment, blockchainId: CHAIN, offering: 'watched' } as const;
    return selectNetwork(db, rates, choice, now);
  }

  /** Ends everything that is watched for, so that nothing is. */
  const forgetPayments = () => service.db.deleteFrom('reservations').execute();
  const heights = async () => {
    const { cursor_height: cursor, head_height: head } = (await findChain(service.db, CHAIN)) ?? {};
    return [cursor, head];
  };
  const newest = async () => Number(await anvil.rpc('eth_blockNumber'));
  const lastError = async () => (await listSeenNodes(service.db))[0]?.lastError;

  test('the first look puts the cursor at no block that does not exist', async () => {
    numberNewest(FAR);
    await look(MINUTE_MS);
    expect(await heights()).toEqual([null, null]);
    proxy.alter(null);
    await look(MINUTE_MS, 5);
    const [cursor, head] = await heights();
    expect(head).toBe(await newest());
    expect(cursor).toBeLessThanOrEqual(await newest());
    await expectPaymentSeen();
  });

  test('a look after an outage puts the cursor at no such block either', async () => {
    const payment = await ask();
    await look(12_000, 1);
    numberNewest(FAR);
    await look(20 * MINUTE_MS, 1);
    proxy.alter(null);
    expect((await heights())[0]).toBe((await newest()) - 1);
    expect((await findPayment(service.db, payment.id))?.status).toBe('pending');
    await look(MINUTE_MS, 1);
    await expectPaymentSeen();
  });

  test.each([
    ['just above', 3],
    ['far above', 500],
  ])(
    'another chain whose height is %s moves no cursor while no payment is open',
    async (_, more) => {
      await forgetPayments();
      await look(30_000, 1);
      await look(30_000, 1);
      const [cursor] = await heights();
      const missing = (await newest()) + more - Number(await other.rpc('eth_blockNumber'));
      await other.rpc('anvil_mine', [`0x${missing.toString(16)}`]);
      proxy.redirect(other.url);
      for (let looks = 0; looks < 3; looks++) await look(35_000);
      expect((await heights())[0]).toBeLessThanOrEqual((cursor ?? 0) + 1);
      await loop.run(AbortSignal.timeout(15_000), () => undefined);
      expect(await lastError()).toMatch(/Ethereum mainnet|serves the chain 1/);
      proxy.redirect(anvil.url);
      await look(61_000, 5);
      await look(30_000, 2);
      expect((await findChain(service.db, CHAIN))?.halted).toBeNull();
      await expectPaymentSeen();
    },
  );
});
