import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { addMerchant, addPartner, type MerchantWithKey } from '../helpers/accounts.ts';
import { createPrompt } from '../helpers/prompts.ts';
import { send } from '../helpers/signed-request.ts';
import { addOlderMerchant, ask, BODY } from '../surfaces/legacy/older-contract.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

interface Simulated {
  expiresAt: string;
  status: string;
  sessionStatus: string;
  transactionHash: string | null;
  history: { at: string; from: string; to: string; actor: string; reason: string }[];
  simulation: {
    case: string;
    result: string;
    deposits: { outcome: string; paymentId: string | null }[];
  };
}

/** Addresses that no other merchant has. */
const ALONE = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
] as const;

let service: Operated;
let us: MerchantWithKey;
let partnerId: string;

beforeAll(async () => {
  service = await startOperated();
  partnerId = (await addPartner(service)).partner.id;
  us = await addMerchant(service, { kind: 'us', partnerId, addresses: {}, commissionBps: 100 });
});
afterAll(() => service.close());

const create = async (shop: MerchantWithKey) =>
  (await createPrompt(service, shop, { amount: 5000 })).prompt.id;
const simulate = (id: string, play: string, ...flags: string[]) =>
  service.ask<Simulated>('payment', 'simulate', id, '--case', play, ...flags);
const eventsOf = async (id: string) => {
  const rows = await service.db
    .selectFrom('events')
    .select('type')
    .where('payment_id', '=', id)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(({ type }) => type.replace('payment_prompt.', ''));
};

describe('on a US account', () => {
  test.each([
    ['confirm', 'successful/completed', ['created', 'detected', 'successful']],
    ['detect', 'pending/completed', ['created', 'detected']],
    ['fail', 'unsuccessful/completed', ['created', 'unsuccessful']],
    ['cancel', 'cancelled/cancelled', ['created', 'cancelled']],
  ])('%s is notified by the sandbox and leads to %s', async (play, state, events) => {
    const id = await create(us);
    const shown = await simulate(id, play);
    expect(`${shown.status}/${shown.sessionStatus}`).toBe(state);
    expect(shown.history.at(-1)).toMatchObject({
      to: state,
      actor: 'simulation',
      reason: expect.stringContaining('by notification'),
    });
    const read = await send(service, us, { path: `/external/v1/payments/${id}` });
    expect(read.json()).toMatchObject({
      status: shown.status,
      commissionAmount: play === 'confirm' ? 50 : null,
      transactionHash: play === 'confirm' ? expect.stringMatching(/^sandbox_transaction_/) : null,
    });
    expect(await eventsOf(id)).toEqual(events);
    expect(await service.ask('audit', '--object', id)).toMatchObject([
      { actor: 'alice', action: 'payment.simulate', detail: { case: play, status: shown.status } },
    ]);
  });

  test('a detected payment can be confirmed or fail, and an ended one stays as it is', async () => {
    const id = await create(us);
    expect((await simulate(id, 'detect')).simulation.result).toBe(
      'The payment is now pending, with its funds seen.',
    );
    expect((await simulate(id, 'confirm')).simulation.result).toBe(
      'The payment is now successful.',
    );
    expect((await simulate(id, 'cancel')).simulation.result).toBe(
      'The payment is still successful.',
    );
    expect((await simulate(id, 'fail')).status).toBe('successful');
    expect(await eventsOf(id)).toEqual(['created', 'detected', 'successful']);
    expect(await service.ask('partner', 'verify', partnerId)).toMatchObject({ exact: true });
  });

  test('refuses cases on chain, a network, and another processor', async () => {
    const id = await create(us);
    const play = ['payment', 'simulate', id, '--case'];
    expect(await service.refused(...play, 'reorg')).toBe(
      'A payment on a US account has confirm, detect, fail, cancel; "reorg" is played on chain alone.',
    );
    expect(await service.refused(...play, 'confirm', '--network', 'eth')).toContain('no network');
    await service.db
      .updateTable('payments')
      .set({ processor: 'stripe' })
      .where('id', '=', id)
      .execute();
    expect(await service.refused(...play, 'confirm')).toContain('processed by stripe');
    expect(await eventsOf(id)).toEqual(['created']);
    expect(await service.ask('audit', '--object', id)).toEqual([]);
  });
});

describe('on chain', () => {
  test('an underpayment among several open payments is ambiguous, and the result says so', async () => {
    const shop = await addMerchant(service);
    const [first, second] = [await create(shop), await create(shop)];
    await simulate(first, 'reorg', '--network', 'btc');
    await simulate(second, 'reorg', '--network', 'btc');
    const { status, simulation } = await simulate(second, 'under');
    expect(status).toBe('pending');
    expect(simulation).toMatchObject({
      case: 'under',
      deposits: [{ outcome: 'ambiguous', paymentId: null }],
    });
    expect(simulation.result).toMatch(
      /^The payment is still pending\.\nA transfer went to the inbox as ambiguous \([0-9a-f-]{36}\): several payments wait at the address/,
    );
    // In text, the result is the last thing printed.
    const { out } = await mpHere(['payment', 'simulate', second, '--case', 'under'], service.env);
    expect(out).toMatch(/\n\nThe payment is still pending\.\nA transfer went to the inbox as/);
  });

  test('a slight overpayment settles the only open payment, and otherwise says why it waits', async () => {
    const shop = await addMerchant(service, { addresses: { eth: ALONE[0] } });
    const [first, second] = [await create(shop), await create(shop)];
    await simulate(first, 'reorg', '--network', 'eth');
    await simulate(second, 'reorg', '--network', 'eth');
    const waiting = await simulate(second, 'over');
    expect(waiting.status).toBe('pending');
    expect(waiting.simulation.result).toMatch(
      /^The payment is still pending\.\nA transfer went to the inbox as ambiguous .*several payments wait at the address/,
    );
    expect((await simulate(first, 'expire')).status).toBe('expired');
    expect((await simulate(second, 'over')).status).toBe('successful');
  });

  test('time runs out for a payment that is open, underpaid or without a network, and for no other', async () => {
    const shop = await addMerchant(service, { addresses: { eth: ALONE[1] } });
    expect((await simulate(await create(shop), 'expire')).status).toBe('expired');
    const underpaid = await create(shop);
    await simulate(underpaid, 'under', '--network', 'eth');
    expect(await simulate(underpaid, 'expire')).toMatchObject({
      status: 'unsuccessful',
      sessionStatus: 'expired',
      simulation: { result: 'The payment is now unsuccessful.' },
    });
    const seen = await create(shop);
    await simulate(seen, 'detect', '--network', 'eth');
    expect((await simulate(seen, 'expire')).simulation.result).toBe(
      'The payment is still pending, with its funds seen.',
    );
    expect(await eventsOf(underpaid)).toEqual(['created', 'unsuccessful']);
  });

  test('an end in the future comes at once, in event and history, even if it is fixed', async () => {
    const older = await ask(service, await addOlderMerchant(service), { body: BODY });
    const ids: string[] = [await create(await addMerchant(service)), older.json().prompt.id];
    for (const id of ids) {
      const ahead = (await findPayment(service.db, id))?.expires_at.getTime();
      expect(ahead).toBeGreaterThan(Date.now());
      const { expiresAt, history } = await simulate(id, 'expire');
      expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now());
      expect(history.at(-1)).toMatchObject({ to: 'expired/expired', at: expiresAt });
      const told = await service.db
        .selectFrom('events')
        .select(['data', 'created_at'])
        .where('payment_id', '=', id)
        .where('type', '=', 'payment_prompt.expired')
        .executeTakeFirstOrThrow();
      expect(told).toMatchObject({ data: { expiresAt }, created_at: new Date(expiresAt) });
    }
  });

  test('a payment that is not ended keeps its expiry', async () => {
    const seen = await create(await addMerchant(service));
    await simulate(seen, 'detect', '--network', 'eth');
    const before = (await findPayment(service.db, seen))?.expires_at;
    await simulate(seen, 'expire');
    expect((await findPayment(service.db, seen))?.expires_at).toEqual(before);
  });

  test('reports what became of the payment, and of transfers that it did not take', async () => {
    const shop = await addMerchant(service);
    const play = async (name: string) =>
      (await simulate(await create(shop), name, '--network', 'eth')).simulation.result;
    expect(await play('confirm')).toBe('The payment is now successful.');
    expect(await play('late')).toMatch(
      /^The payment is now expired\.\nA transfer went to the inbox as late .* had ended\.$/,
    );
    expect(await play('duplicate')).toMatch(
      /^The payment is now successful\.\nA transfer went to the inbox as duplicate /,
    );
    expect(await play('over')).toBe('The payment is now successful.');
    expect(await play('expire')).toBe('The payment is now expired.');
    expect(await play('under')).toMatch(
      /^The payment is still pending\.\nReceived 0\.\d+ ETH of 0\.\d+ ETH by the transfer 0x\w+, remaining 0\.\d+ ETH\. Exactly/,
    );
  });

  test('transfers on a chain with a node cannot be simulated', async () => {
    const shop = await addMerchant(service);
    const settle = (settled_by: 'chain' | 'simulation', ...ids: string[]) =>
      service.db.updateTable('networks').set({ settled_by }).where('id', 'in', ids).execute();
    const [chosen, open] = [await create(shop), await create(shop)];
    const [first = '', ...others] =
      (await findPayment(service.db, open))?.offered_blockchain_ids ?? [];
    await simulate(chosen, 'under', '--network', first);
    try {
      await settle('chain', first);
      const refusal = `Transfers on ${first} cannot be simulated`;
      for (const flags of [[chosen], [open, '--network', first]]) {
        const play = ['payment', 'simulate', ...flags, '--case', 'confirm'];
        expect(await service.refused(...play)).toContain(refusal);
      }
      const expire = ['payment', 'simulate', chosen, '--case', 'expire'];
      expect(await service.refused(...expire)).toContain(refusal);
      expect((await findPayment(service.db, open))?.blockchain_id).toBeNull();
      // The customer may still cancel it.
      expect((await simulate(chosen, 'cancel')).status).toBe('cancelled');
      expect((await simulate(open, 'confirm')).status).toBe('successful');
      expect((await findPayment(service.db, open))?.blockchain_id).toBe(others[0]);
      await settle('chain', ...others);
      const play = ['payment', 'simulate', await create(shop), '--case', 'confirm'];
      expect(await service.refused(...play)).toContain('have nodes');
    } finally {
      await settle('simulation', first, ...others);
    }
  });

  test('every move has the simulation as its actor, and every case is in the audit log', async () => {
    const shop = await addMerchant(service);
    const id = await create(shop);
    await simulate(id, 'reorg', '--network', 'eth');
    const { history } = await simulate(id, 'confirm');
    expect(history.map(({ to, actor }) => [to, actor])).toEqual([
      ['pending/completed', 'simulation'],
      ['pending/pending', 'simulation'],
      ['pending/completed', 'simulation'],
      ['successful/completed', 'simulation'],
    ]);
    const log = await service.ask<{ detail: object }[]>('audit', '--object', shop.merchant.id);
    expect(log.slice(0, 2).map(({ detail }) => detail)).toEqual([
      { case: 'confirm', status: 'successful' },
      { case: 'reorg', status: 'pending' },
    ]);
  });
});
