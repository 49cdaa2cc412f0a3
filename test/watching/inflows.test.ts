import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { setAddress } from '../../src/accounts/deposit-addresses.ts';
import { chainOf } from '../../src/chains/chain-list.ts';
import type { Merchant, Payment } from '../../src/database/tables.ts';
import { listOpenFindings } from '../../src/repositories/findings.ts';
import { findPayment } from '../../src/repositories/payments.ts';
import { selectNetwork } from '../../src/settlement/select-network.ts';
import { addNode } from '../../src/watching/manage-nodes.ts';
import type { Loop } from '../../src/worker/loop.ts';
import { watchChainLoop } from '../../src/worker/watch-chains.ts';
import { addMerchant, operatorOf } from '../helpers/accounts.ts';
import { ANVIL_MISSING, hasAnvil, startAnvil } from '../helpers/anvil.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { createEvm, type Evm, RICH } from '../helpers/evm.ts';
import { type NodeProxy, RpcRefusal, startNodeProxy } from '../helpers/node-proxy.ts';
import { addPayment } from '../helpers/payments.ts';

const CHAIN = 'eth-test';
const MINUTE_MS = 60_000;
const LOG = pino({ level: 'silent' });

let service: TestApp;
let merchant: Merchant;
let evm: Evm;
let proxy: NodeProxy;
let loop: Loop;
let payer: string;

describe.skipIf(!hasAnvil)(`what contracts send (${hasAnvil ? 'anvil' : ANVIL_MISSING})`, () => {
  beforeEach(async () => {
    service = await startTestApp();
    ({ merchant } = await addMerchant(service, { addresses: {} }));
    evm = createEvm(await startAnvil());
    proxy = await startNodeProxy(evm.anvil.url);
    payer = await evm.deploy('payer');
    await evm.mine(8);
    await setAddress(operatorOf(service), { merchantId: merchant.id }, CHAIN, RICH[2]);
  });
  afterEach(async () => {
    await loop.end?.();
    await proxy.stop();
    await evm.anvil.stop();
    await service.close();
  });

  async function watch(): Promise<void> {
    const { db, keyring, clock } = service;
    clock.now = Date.now();
    await addNode(
      operatorOf(service),
      { keyring, isProduction: false },
      { chain: CHAIN, url: proxy.url, requestsPerSecond: 1_000 },
    );
    const watching = {
      db,
      clock,
      keyring,
      logger: LOG,
      isProduction: false,
      watchIntervalMs: null,
    };
    const made = watchChainLoop(watching, chainOf(CHAIN));
    if (made === null) throw new Error('the chain cannot be watched');
    loop = made;
    await look();
  }

  /** One look at the chain, so much later that balances are due. */
  async function look(): Promise<void> {
    service.clock.now = Math.max(service.clock.now + MINUTE_MS, Date.now());
    await loop.run(AbortSignal.timeout(15_000), () => undefined);
  }

  async function ask(): Promise<Payment> {
    const { db, rates, clock } = service;
    const now = new Date(clock.now);
    const payment = await addPayment(db, merchant, {
      amount: 1_000,
      created_at: now,
      offered_blockchain_ids: [CHAIN],
    });
    const choice = { payment, blockchainId: CHAIN, simulation: false };
    const selected = await selectNetwork(db, rates, choice, now);
    await look();
    return selected;
  }

  async function payByContract(payment: Payment): Promise<void> {
    const amount = BigInt(payment.token_amount ?? 0);
    await evm.payMany(payer, [{ to: payment.address ?? '', amount }]);
    await evm.mine();
  }

  const statusOf = async ({ id }: Payment) => {
    const payment = await findPayment(service.db, id);
    return `${payment?.status}/${payment?.session_status}`;
  };

  test('settles its payment where the node traces, beside a sweep in the same minute', async () => {
    await watch();
    const payment = await ask();
    await payByContract(payment);
    // The merchant moves everything that the balance gained, and more.
    await evm.transferNative(RICH[3], 10n ** 18n, RICH[2]);
    await evm.mine();
    await look();
    expect(await statusOf(payment)).toBe('pending/completed');
    await evm.mine(12);
    await look();
    expect(await statusOf(payment)).toBe('successful/completed');
    expect(await listOpenFindings(service.db, 10)).toEqual([]);
  });

  test('is a finding where it does not, and the merchant is told once', async () => {
    proxy.alter((method, _params, result) => {
      if (/trace/.test(method)) throw new RpcRefusal(-32601, 'the method does not exist');
      return result;
    });
    await watch();
    const payment = await ask();
    await payByContract(payment);
    await look();
    await look();
    expect(await statusOf(payment)).toBe('pending/pending');
    const { token_amount: amount, address } = payment;
    const found = await listOpenFindings(service.db, 10);
    expect(found).toMatchObject([{ kind: 'unexplained_inflow', address, amount }]);
    const events = await service.db
      .selectFrom('events')
      .select(['merchant_id', 'data'])
      .where('type', '=', 'payment_prompt.deposit_unmatched')
      .execute();
    expect(events).toMatchObject([
      {
        merchant_id: merchant.id,
        data: {
          id: found[0]?.id,
          transactionHash: null,
          outcome: 'untraceable',
          payments: [{ id: payment.id }],
        },
      },
    ]);
  });
});
