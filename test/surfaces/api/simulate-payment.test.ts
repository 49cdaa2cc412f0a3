import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { exampleAddress } from '#chains/example-address.ts';
import type { Credentials } from '#client/index.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { newToken } from '#crypto/token.ts';
import { advanceClock } from '#onchain/settlement/advance-clock.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { simulate } from '#onchain/settlement/simulate.ts';
import { ATTEMPTS_AUDITED } from '#payments/may-simulate.ts';
import { createSandboxProcessor } from '#payments/processors/sandbox-processor.ts';
import { simulateRegulated } from '#payments/processors/simulate-regulated.ts';
import { SIMULATION_CASES } from '#schemas/simulation-cases.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { allowSimulation, forbidSimulation } from '#storage/repositories/simulated-services.ts';
import { mpHere } from '../../cli/mp.ts';
import {
  ADDRESSES,
  addKey,
  addMerchant,
  addPartner,
  type MerchantWithKey,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';
import { addMerchantUser, open, submit } from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';
import { createPrompt, expectRefusal, requestPrompt } from '../../helpers/prompts.ts';
import { send } from '../../helpers/signed-request.ts';

/** What a service in production does for test merchants, and for nobody else. */

const PUBLIC_URL = 'https://pay.example.test';

let service: TestApp;
let shop: MerchantWithKey;
let live: MerchantWithKey;
const masterKey = randomBytes(32);
const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://not-used.test/eps',
  MASTER_KEY: masterKey.toString('base64'),
  PUBLIC_URL,
  PANEL_URL: PUBLIC_URL,
};
beforeAll(async () => {
  service = await startTestApp({ env: PRODUCTION, keyring: createKeyring([masterKey]) });
  await forbidSimulation(service.db);
  // As production ships them.
  await service.db
    .updateTable('networks')
    .set({ is_active: false })
    .where('environment', '=', 'test')
    .execute();
  shop = await addShop();
  live = await addMerchant(service, { addresses: { btc: ADDRESSES.btc } });
});
afterAll(() => service.close());
beforeEach(() => {
  service.clock.now += 60 * 60_000;
});

const now = () => new Date(service.clock());

const path = (id: string, what = 'simulate') => `/external/v1/test/payments/${id}/${what}`;

const play = (key: MerchantWithKey, id: string, body: Record<string, unknown>) =>
  send(service, key, { path: path(id), body });

/** A test merchant at addresses of its own, where nobody else waits. */
const addShop = () =>
  addMerchant(service, {
    environment: 'test',
    addresses: { 'eth-test': exampleAddress('ethereum'), 'btc-test': exampleAddress('bitcoin') },
  });

async function create(key = shop): Promise<string> {
  return (await createPrompt(service, key, { amount: 5000 })).prompt.id;
}

/** A payment of a live merchant that waits for its transfer. */
async function createLive(): Promise<Payment> {
  const payment = await addPayment(service.db, live.merchant, {
    created_at: now(),
    expires_at: new Date(service.clock() + 60 * 60_000),
    offered_blockchain_ids: ['btc'],
  });
  const choice = { payment, blockchainId: 'btc', offering: 'simulated' } as const;
  return selectNetwork(service.db, service.rates, choice, now());
}

describe('a payment of a test merchant in production', () => {
  test.each([
    ['confirm', 'successful', 'completed'],
    ['detect', 'pending', 'completed'],
    ['under', 'pending', 'pending'],
    ['rest', 'successful', 'completed'],
    ['over', 'successful', 'completed'],
    ['late', 'expired', 'expired'],
    ['duplicate', 'successful', 'completed'],
    ['revert', 'unsuccessful', 'completed'],
    ['reorg', 'pending', 'pending'],
    ['fail', 'unsuccessful', 'completed'],
    ['cancel', 'cancelled', 'cancelled'],
    ['expire', 'expired', 'expired'],
  ] as const)('plays %s', async (name, status, sessionStatus) => {
    const own = await addShop();
    const id = await create(own);
    const response = await play(own, id, { case: name });
    expect(response.statusCode, response.body).toBe(200);
    const { object, payment } = response.json();
    expect(object).toBe('simulation');
    expect(payment).toMatchObject({ id, status, sessionStatus });
    const read = await send(service, own, { path: `/external/v1/payments/${id}` });
    expect(read.json()).toEqual(payment);
  });

  test('has every case of the schema played above', () => {
    expect(SIMULATION_CASES).toHaveLength(12);
  });

  test('chooses the network that is named, and its events are those of a real one', async () => {
    const id = await create();
    const response = await play(shop, id, { case: 'confirm', blockchainId: 'btc-test' });
    expect(response.json().payment).toMatchObject({ blockchainId: 'btc-test' });
    const events = await send(service, shop, {
      path: `/external/v1/events?paymentId=${id}&order=oldest`,
    });
    expect(events.json().data.map((event: { type: string }) => event.type)).toEqual([
      'payment_prompt.created',
      'payment_prompt.detected',
      'payment_prompt.successful',
    ]);
  });

  test('needs no price of a market', async () => {
    service.rates.switchOff('ETH');
    const body = { case: 'confirm', blockchainId: 'eth-test' };
    const response = await play(shop, await create(), body);
    service.rates.switchOn('ETH');
    expect(response.json().payment).toMatchObject({ status: 'successful' });
  });

  test('ends when its clock is advanced', async () => {
    const id = await create();
    const response = await send(service, shop, {
      path: path(id, 'clock'),
      body: { seconds: 86_400 },
    });
    expect(response.statusCode, response.body).toBe(200);
    expect(response.json().payment).toMatchObject({ id, status: 'expired' });
  });

  test('says why it waits for a transfer that it did not take', async () => {
    const own = await addShop();
    const ids = [await create(own), await create(own)];
    // Two that wait at one address.
    for (const id of ids) await play(own, id, { case: 'reorg', blockchainId: 'eth-test' });
    const { payment, waits } = (await play(own, ids[1] ?? '', { case: 'over' })).json();
    expect(payment.status).toBe('pending');
    expect(waits).toMatch(/\w{10}/);
  });

  test('is refused what its state does not allow', async () => {
    const id = await create();
    await play(shop, id, { case: 'cancel' });
    expectRefusal(await play(shop, id, { case: 'confirm' }), 'E1040');
    const body = { seconds: 60 };
    expectRefusal(await send(service, shop, { path: path(id, 'clock'), body }), 'E1040');
  });

  test.each([
    [{ case: 'bribe' }, 'E1001', 'case'],
    [{}, 'E1001', 'case'],
    [{ case: 'confirm', blockchainId: 'doge' }, 'E1001', 'blockchainId'],
    [{ case: 'confirm', amount: 1 }, 'E1002', 'amount'],
  ] as const)('is refused %j', async (body, code, param) => {
    expectRefusal(await play(shop, await create(), body), code, param);
  });

  test('is found by its own merchant alone', async () => {
    const other = await addMerchant(service, { environment: 'test', addresses: {} });
    expectRefusal(await play(other, await create(), { case: 'confirm' }), 'E3001');
    expectRefusal(await play(shop, uuidv7(), { case: 'confirm' }), 'E3001');
  });

  test('is audited, and its history names the simulation', async () => {
    const id = await create();
    await play(shop, id, { case: 'confirm' });
    const entry = await service.db
      .selectFrom('audit_log')
      .select(['action', 'actor', 'origin', 'detail'])
      .where('object_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(entry).toEqual({
      action: 'payment.simulate',
      actor: shop.keyId,
      origin: 'api',
      detail: { case: 'confirm' },
    });
    const moves = await service.db
      .selectFrom('payment_transitions')
      .select('actor')
      .where('payment_id', '=', id)
      .where('to_status', '=', 'successful')
      .execute();
    expect(moves).toEqual([{ actor: 'simulation' }]);
  });

  test('is simulated on its checkout, which a live one’s does not offer', async () => {
    const checkout = await openCheckout(service, shop);
    expect((await checkout.get()).body).toContain('value="confirm"');
    expect((await checkout.post('simulate', { case: 'confirm' })).statusCode).toBe(303);
    expect((await checkout.payment()).status).toBe('successful');
  });

  test('on a US account is collected by the sandbox', async () => {
    const us = await addMerchant(service, { kind: 'us', environment: 'test', addresses: {} });
    const { prompt, checkoutUrl } = await createPrompt(service, us, { amount: 5000 });
    expect(checkoutUrl).toMatch(/^https:\/\/pay\.example\.test\/processor\/sandbox\//);
    const page = await service.app.inject({ url: new URL(checkoutUrl).pathname });
    expect(page.statusCode).toBe(200);
    const response = await play(us, prompt.id, { case: 'confirm' });
    expect(response.json().payment).toMatchObject({ status: 'successful', blockchainId: null });
    expectRefusal(await play(us, prompt.id, { case: 'under' }), 'E1040');
    const liveUs = await addMerchant(service, { kind: 'us', addresses: {} });
    expectRefusal(await requestPrompt(service, liveUs, { amount: 5000 }), 'E1030');
  });

  test('is offered test networks without a node, which nobody else is', async () => {
    const listed = async (key: MerchantWithKey) => {
      const response = await send(service, key, { path: '/external/v1/blockchains/active' });
      return response.json().map(({ id }: { id: string }) => id);
    };
    expect(await listed(shop)).toContain('eth-test');
    expect((await listed(shop)).every((id: string) => /-(test|dev)$/.test(id))).toBe(true);
    expect(await listed(live)).toEqual([]);
    expectRefusal(await requestPrompt(service, live, { amount: 5000 }), 'E1020');
  });
});

describe('a payment of a live merchant is never simulated', () => {
  const unchanged = async (id: string) => {
    const { status, session_status: session } = (await findPayment(service.db, id)) ?? {};
    expect([status, session]).toEqual(['pending', 'pending']);
    const deposits = await service.db
      .selectFrom('deposits')
      .select('id')
      .where('payment_id', '=', id)
      .execute();
    expect(deposits).toEqual([]);
  };
  const transferFor = (address: string, tokenAmount: bigint) => ({
    blockchainId: 'btc',
    transactionHash: uuidv7().replaceAll('-', '').repeat(2),
    position: 0,
    address,
    tokenAmount,
    blockHeight: 1,
    blockHash: null,
    occurredAt: now(),
    source: 'simulation' as const,
    finality: 'final' as const,
  });
  const REFUSED = 'are not simulated';
  const setSettledBy = (by: 'chain' | 'simulation') =>
    service.db.updateTable('networks').set({ settled_by: by }).where('id', '=', 'btc').execute();

  test.each(['simulate', 'clock'])('by its own key at %s, nor by a partner', async what => {
    const { id } = await createLive();
    const body = what === 'clock' ? { seconds: 60 } : { case: 'confirm' };
    const { partner: _, ...partner } = await addPartner(service);
    for (const key of [live, partner]) {
      const response = await send(service, key, { path: path(id, what), body });
      expectRefusal(response, 'E2008');
    }
    expect((await send(service, live, { path: path(id, what), body })).json().error.message).toBe(
      'This route takes keys of test merchants: payments of a live one are never simulated.',
    );
    expectRefusal(await send(service, shop, { path: path(id, what), body }), 'E3001');
    await unchanged(id);
  });

  test('on its page in the panel', async () => {
    const { id } = await createLive();
    const admin = await addMerchantUser(service, live.merchant.id, 'admin');
    const page = `/panel/merchants/${live.merchant.id}/payments/${id}`;
    expect((await open(service, page, admin)).body).not.toContain('/simulate"');
    const sent = await submit(service, `${page}/simulate`, { case: 'confirm' }, admin);
    expect(sent.statusCode).toBe(404);
    await unchanged(id);
    const entries = service.db.selectFrom('audit_log').select(['action', 'actor', 'address']);
    expect(await entries.where('object_id', '=', id).execute()).toEqual([
      { action: 'payment.refuse-simulation', actor: admin.email, address: expect.any(String) },
    ]);
  });

  /** Its checkout, as if its network had lost the last node since. */
  const openLive = async () => {
    await setSettledBy('chain');
    const checkout = await openCheckout(service, live);
    await setSettledBy('simulation');
    return checkout;
  };

  test('on its checkout', async () => {
    const checkout = await openLive();
    expect((await checkout.get()).body).not.toContain('value="confirm"');
    expect((await checkout.post('simulate', { case: 'confirm' })).statusCode).toBe(404);
    expect((await checkout.post('clock', { advance: '1h' })).statusCode).toBe(404);
    await unchanged(checkout.paymentId);
  });

  test('in ten attempts by those who could try, each refused and in the audit log', async () => {
    const { paymentId: id, post } = await openLive();
    const { id: merchantId } = live.merchant;
    const admin = await addMerchantUser(service, merchantId, 'admin');
    const member = await addMerchantUser(service, merchantId, 'member');
    const other = await addKey(service, { merchantId });
    const page = `/panel/merchants/${merchantId}/payments/${id}/simulate`;
    const byKey = (key: Credentials, what: string, body: object) =>
      send(service, key, { path: path(id, what), body });
    const mp = async (...args: string[]) => {
      const env = { ...PRODUCTION, DATABASE_URL: service.databaseUrl };
      return { statusCode: (await mpHere(args, env)).status };
    };
    // A US payment that began before the service was one of production.
    const us = await addMerchant(service, { kind: 'us', addresses: {} });
    const token = newToken();
    const sandbox = createSandboxProcessor(service.keyring, PUBLIC_URL);
    await allowSimulation(service.db, now());
    const regulated = await addPayment(service.db, us.merchant, {
      created_at: now(),
      processor: 'sandbox',
      external_id: sandbox.externalIdOf(token),
    });
    await forbidSimulation(service.db);
    const pay = () =>
      service.app.inject({
        method: 'POST',
        url: `/processor/sandbox/${token}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: 'action=pay',
      });
    const attempts: readonly [string, number, () => Promise<{ statusCode: number }>][] = [
      [live.keyId, 401, () => byKey(live, 'simulate', { case: 'confirm' })],
      [live.keyId, 401, () => byKey(live, 'clock', { seconds: 60 })],
      [other.keyId, 401, () => byKey(other, 'simulate', { case: 'cancel' })],
      [admin.email, 404, () => submit(service, page, { case: 'confirm' }, admin)],
      [member.email, 404, () => submit(service, page, { case: 'expire' }, member)],
      ['customer', 404, () => post('simulate', { case: 'confirm' })],
      ['customer', 404, () => post('clock', { advance: '1h' })],
      ['customer', 404, pay],
      ['alice', 1, () => mp('payment', 'simulate', id, '--case', 'confirm')],
      ['alice', 1, () => mp('clock', id, '--advance', '1h')],
    ];
    for (const [, status, attempt] of attempts) {
      expect((await attempt()).statusCode).toBe(status);
      service.clock.now += 1_000;
    }
    await unchanged(id);
    await unchanged(regulated.id);
    const entries = service.db
      .selectFrom('audit_log')
      .select(['actor', 'account_id'])
      .where('action', '=', 'payment.refuse-simulation')
      .where('object_id', 'in', [id, regulated.id])
      .orderBy('id');
    expect((await entries.execute()).map(({ actor }) => actor).sort()).toEqual(
      attempts.map(([actor]) => actor).sort(),
    );
  });

  test('and whoever repeats it does not fill the audit log', async () => {
    const { id } = await createLive();
    for (let attempt = 0; attempt < ATTEMPTS_AUDITED + 2; attempt++) {
      const response = await send(service, live, { path: path(id), body: { case: 'confirm' } });
      expectRefusal(response, 'E2008');
    }
    // Payments that are not its own, and no payments, tell nothing.
    for (const wrong of [await create(), uuidv7(), 'none']) {
      const response = await send(service, live, { path: path(wrong), body: { case: 'confirm' } });
      expectRefusal(response, 'E2008');
    }
    const entries = service.db.selectFrom('audit_log').select(['object_id', 'origin']);
    const made = entries.where('action', '=', 'payment.refuse-simulation').where('at', '=', now());
    expect(await made.execute()).toEqual(
      Array(ATTEMPTS_AUDITED).fill({ object_id: id, origin: 'api' }),
    );
  });

  test('by the functions that do it', async () => {
    const payment = await createLive();
    const { id } = payment;
    const off = { ...service, simulation: false };
    for (const name of SIMULATION_CASES) {
      await expect(simulate(off, id, name, now())).rejects.toThrow('live merchant');
    }
    const sandbox = createSandboxProcessor(service.keyring, PUBLIC_URL);
    await expect(simulateRegulated(off, sandbox, payment, 'confirm')).rejects.toThrow(
      'live merchant',
    );
    const advance = { paymentId: id, milliseconds: 1, simulation: false };
    await expect(transact(service.db, tx => advanceClock(tx, advance, now()))).rejects.toThrow(
      'live merchant',
    );
    await unchanged(id);
  });

  test('by the database, if code should forget', async () => {
    const { id, address, token_amount: amount } = await createLive();
    const on = { ...service, simulation: true };
    await expect(simulate(on, id, 'confirm', now())).rejects.toThrow(REFUSED);
    const transfer = transferFor(address ?? '', BigInt(amount ?? 0));
    await expect(observeTransfer(service.db, transfer, now())).rejects.toThrow(REFUSED);
    await unchanged(id);
    // One that no payment takes may arrive, and is given to none by hand either.
    const stray = await observeTransfer(service.db, transferFor(address ?? '', 9n), now());
    const assigned = service.db
      .updateTable('deposits')
      .set({ payment_id: id })
      .where('id', '=', stray.id)
      .execute();
    await expect(assigned).rejects.toThrow(REFUSED);
    const created_at = now();
    const sandbox = { created_at, flow: 'regulated', processor: 'sandbox' } as const;
    await expect(addPayment(service.db, live.merchant, sandbox)).rejects.toThrow(REFUSED);
  });

  test('nor does anybody become a test merchant', async () => {
    const change = service.db
      .updateTable('merchants')
      .set({ environment: 'test' })
      .where('id', '=', live.merchant.id)
      .execute();
    await expect(change).rejects.toThrow('never changes');
  });
});
