import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setAddress } from '#accounts/deposit-addresses.ts';
import { chainOf } from '#chains/chain-list.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { addNode } from '#onchain/watching/operate/manage-nodes.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { listPaymentDeposits } from '#storage/repositories/deposits/deposits.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { watchChainLoop } from '#worker/watch-chains.ts';
import { addMerchant, operatorOf } from '../../../helpers/accounts.ts';
import { ANVIL_MISSING, hasAnvil } from '../../../helpers/anvil.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { type Evm, type EvmChain, RICH, someAddress, startEvm } from '../../../helpers/evm.ts';
import { type NodeProxy, RpcRefusal } from '../../../helpers/node-proxy.ts';
import { addPayment } from '../../../helpers/payments.ts';

const CHAIN = 'eth-test';
const LOG = pino({ level: 'silent' });

describe.skipIf(!hasAnvil)(`anvil (${hasAnvil ? 'a real node' : ANVIL_MISSING})`, () => {
  const address = RICH[1];
  let service: TestApp;
  let merchant: Merchant;
  let chain: EvmChain;
  let evm: Evm;
  let proxy: NodeProxy;
  let payer: string;

  beforeAll(async () => {
    service = await startTestApp();
    ({ merchant } = await addMerchant(service, { addresses: {} }));
    chain = await startEvm();
    ({ evm, proxy } = chain);
    payer = await evm.deploy('payer');
    await evm.mine(8);
    const { keyring, clock } = service;
    clock.now = Date.now();
    const tools = { keyring, isProduction: false };
    const node = { chain: CHAIN, url: proxy.url, requestsPerSecond: 1_000 } as const;
    await addNode(operatorOf(service), tools, node);
    await setAddress(operatorOf(service), { merchantId: merchant.id }, CHAIN, address);
    await look();
  });
  afterAll(async () => {
    await chain?.stop();
    await service?.close();
  });

  /** One look by a worker that has just started, and therefore compares balances at once. */
  async function look(): Promise<void> {
    const { db, keyring, clock } = service;
    clock.now = Date.now();
    const watching = {
      db,
      clock,
      keyring,
      logger: LOG,
      isProduction: false,
      watchIntervalMs: null,
    };
    const loop = watchChainLoop(watching, chainOf(CHAIN));
    await loop?.run(AbortSignal.timeout(15_000), () => undefined);
    await loop?.end?.();
  }

  async function ask(cents: number): Promise<Payment> {
    const { db, rates, clock } = service;
    const now = new Date(clock.now);
    const payment = await addPayment(db, merchant, {
      amount: cents,
      created_at: now,
      offered_blockchain_ids: [CHAIN],
    });
    const choice = { payment, blockchainId: CHAIN, offering: 'watched' } as const;
    const selected = await selectNetwork(db, rates, choice, now);
    // The watcher has to know the address's initial balance.
    await look();
    return selected;
  }

  const amountOf = ({ token_amount: amount }: Payment) => BigInt(amount ?? 0);
  const payByContract = (payment: Payment, value = amountOf(payment)) =>
    evm.call(payer, {
      signature: 'pay(address)',
      value,
      arguments: [address],
    });
  const sessionOf = async ({ id }: Payment) => (await findPayment(service.db, id))?.session_status;
  const findings = () => listOpenFindings(service.db, 10);
  const depositsOf = async ({ id }: Payment) =>
    (await listPaymentDeposits(service.db, id)).map(({ state, position }) => [state, position]);

  /** Makes the node refuse to trace from now on, or trace again. */
  function refuseTraces(refuse: boolean): void {
    proxy.alter((method, _params, result) => {
      if (refuse && /trace/.test(method)) throw new RpcRefusal(-32_601, 'no such method');
      return result;
    });
  }

  test('a transfer by a contract completes a payment, also next to other transfers and fees', async () => {
    const payment = await ask(1_000);
    await evm.transferNative(someAddress(1), 10n ** 18n, address);
    await evm.transferNative(address, 10n ** 17n, RICH[2]);
    await payByContract(payment);
    await evm.mine();
    await evm.transferNative(someAddress(1), 10n ** 18n, address);
    await evm.mine(3);
    await look();
    expect(await sessionOf(payment)).toBe('completed');
    expect(await depositsOf(payment)).toEqual([['seen', 1]]);
    await evm.mine(12);
    await look();
    expect(await depositsOf(payment)).toEqual([['final', 1]]);
    expect(await findings()).toEqual([]);
  });

  test('a node that stops tracing does not hold it up', async () => {
    const payment = await ask(2_000);
    await payByContract(payment);
    await evm.mine();
    await look();
    expect(await depositsOf(payment)).toEqual([['seen', 1]]);
    refuseTraces(true);
    await evm.mine(12);
    await look();
    refuseTraces(false);
    expect(await depositsOf(payment)).toEqual([['final', 1]]);
  });

  test('a node that stops tracing does not undo it when it moves to another block', async () => {
    const { rpc } = evm.anvil;
    const payment = await ask(2_500);
    const raw = await rpc('eth_getRawTransactionByHash', [await payByContract(payment)]);
    await evm.mine();
    await look();
    refuseTraces(true);
    await rpc('anvil_reorg', [1, []]);
    await evm.transferNative(someAddress(2), 1n, RICH[3]);
    await rpc('eth_sendRawTransaction', [raw]);
    await evm.mine();
    await look();
    expect(await depositsOf(payment)).toEqual([['seen', 1]]);
    refuseTraces(false);
    await look();
    expect(await depositsOf(payment)).toEqual([['seen', 1]]);
    await evm.mine(12);
    await look();
    expect(await depositsOf(payment)).toEqual([['final', 1]]);
  });

  test('without a trace it becomes a finding, with the block and the amount', async () => {
    refuseTraces(true);
    const payment = await ask(3_000);
    await evm.mine();
    await payByContract(payment);
    await evm.mine();
    const height = await evm.height();
    await evm.mine(5);
    await look();
    refuseTraces(false);
    expect(await sessionOf(payment)).toBe('pending');
    const amount = amountOf(payment).toString();
    const finding = { kind: 'unexplained_inflow', address, height, amount };
    const found = (await findings()).at(-1);
    expect(found).toMatchObject(finding);
    await look();
    const events = await service.db
      .selectFrom('events')
      .select(['merchant_id', 'data'])
      .where('type', '=', 'payment_prompt.deposit_unmatched')
      .execute();
    const told = { id: found?.id, transactionHash: null, outcome: 'untraceable' };
    expect(events.filter(({ data }) => JSON.stringify(data).includes(found?.id ?? ''))).toEqual([
      {
        merchant_id: merchant.id,
        data: expect.objectContaining({
          ...told,
          payments: [expect.objectContaining({ id: payment.id })],
        }),
      },
    ]);
  });

  test('dust that cannot be traced is no finding, even if funds leave in the same block', async () => {
    refuseTraces(true);
    const payment = await ask(3_500);
    const before = await findings();
    await payByContract(payment, amountOf(payment) / 500n);
    await evm.transferNative(RICH[2], 10n ** 16n, address);
    await evm.mine(5);
    await look();
    refuseTraces(false);
    expect(await findings()).toEqual(before);
  });
});
