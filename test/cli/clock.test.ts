import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { MOVES } from '#payments/moves.ts';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import { SIMULATION_CASES } from '#schemas/simulation-cases.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { addMerchant, addPartner, type MerchantWithKey } from '../helpers/accounts.ts';
import { addEndpoint } from '../helpers/deliveries.ts';
import { addPayment } from '../helpers/payments.ts';
import { createPrompt } from '../helpers/prompts.ts';
import { watchNetworks } from '../helpers/watch-networks.ts';
import { createRandom } from '../onchain/settlement/truth/random.ts';
import { type Receiver, startReceiver, status } from '../payments/webhooks/receiver.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

interface Advanced {
  status: string;
  sessionStatus: string;
  createdAt: string;
  expiresAt: string;
  blockchainId: string | null;
  history: { from: string; to: string; actor: string; reason: string }[];
  clock: { result: string; deliveries: { eventType: string; status: string; attempts: number }[] };
}

/** An address that no other merchant has. */
const ALONE = '0x52908400098527886E0F7030069857D2E4169EE7';
const ALLOWED = Object.values(MOVES).flatMap(({ from, to }) =>
  from.map(state => `${state.status}/${state.session} ${to.status}/${to.session}`),
);

let service: Operated;
let shop: MerchantWithKey;
let receiver: Receiver;
let partnerId: string;

beforeAll(async () => {
  [service, receiver] = await Promise.all([startOperated(), startReceiver()]);
  partnerId = (await addPartner(service)).partner.id;
  shop = await addMerchant(service, { partnerId });
});
afterAll(() => Promise.all([service.close(), receiver.close()]));

const create = async (merchant = shop) =>
  (await createPrompt(service, merchant, { amount: 5000 })).prompt.id;
const advance = (id: string, duration: string) =>
  service.ask<Advanced>('clock', id, '--advance', duration);
const simulate = (id: string, play: string) =>
  service.ask('payment', 'simulate', id, '--case', play);
const read = async (id: string): Promise<Payment> => {
  const payment = await findPayment(service.db, id);
  if (payment === undefined) throw new Error('no payment');
  return payment;
};

test('one command expires a payment and notifies the merchant, and a failed delivery is due again', async () => {
  const merchant = await addMerchant(service);
  await addEndpoint(service, merchant.merchant.id, receiver.url);
  const id = await create(merchant);
  receiver.answer = status(503);
  const early = await advance(id, '1m');
  expect(early).toMatchObject({ status: 'pending', history: [] });
  expect(early.clock.deliveries).toMatchObject([{ status: 'pending', attempts: 1 }]);
  receiver.answer = status(200);

  const ended = await advance(id, '2h');
  expect(ended).toMatchObject({
    status: 'expired',
    sessionStatus: 'expired',
    expiresAt: ended.createdAt,
    history: [{ actor: 'simulation', reason: 'expired without payment' }],
  });
  expect(ended.clock.deliveries).toMatchObject([
    { eventType: 'payment_prompt.created', status: 'succeeded', attempts: 2 },
    { eventType: 'payment_prompt.expired', status: 'succeeded', attempts: 1 },
  ]);
  expect(receiver.requests.map(({ event }) => event.type)).toEqual(
    expect.arrayContaining(['payment_prompt.created', 'payment_prompt.expired']),
  );
  expect(ended.clock.result).toMatch(
    /^The payment is now expired\.\npayment_prompt\.created to http:.*: succeeded, HTTP 200\npayment_prompt\.expired to .*: succeeded, HTTP 200$/,
  );
  expect(await service.refused('clock', id, '--advance', '2h')).toBe(
    'The payment is expired, and nothing waits to be delivered: its clock has nothing to move.',
  );
  expect(await service.ask('audit', '--object', id)).toMatchObject([
    { actor: 'alice', action: 'payment.clock', detail: { seconds: 7200, status: 'expired' } },
    { actor: 'alice', action: 'payment.clock', detail: { seconds: 60, status: 'pending' } },
  ]);
});

test('for an ended payment, failed deliveries are retried, and nothing else changes', async () => {
  const merchant = await addMerchant(service);
  await addEndpoint(service, merchant.merchant.id, receiver.url);
  const id = await create(merchant);
  await simulate(id, 'confirm');
  const before = await read(id);
  receiver.answer = status(500);
  await advance(id, '1s');
  receiver.answer = status(200);
  const { clock } = await advance(id, '10s');
  expect(clock.deliveries.map(({ status, attempts }) => [status, attempts])).toEqual([
    ...[
      ['succeeded', 2],
      ['succeeded', 2],
      ['succeeded', 2],
    ],
  ]);
  expect(await read(id)).toEqual(before);
});

test('a price lapses while the payment stays open, and the next one is current', async () => {
  const payment = await addPayment(service.db, shop.merchant, {
    created_at: new Date(),
    expires_at: new Date(Date.now() + 24 * 3_600_000),
    expiry_fixed: true,
    amount: 5000,
    offered_blockchain_ids: ['btc'],
  });
  const select = (btc?: string) =>
    selectNetwork(
      service.db,
      createFixedRates(btc === undefined ? {} : { BTC: btc }),
      { payment, blockchainId: 'btc', offering: 'simulated' },
      new Date(),
    );
  const { token_amount: first } = await select();
  expect(await advance(payment.id, '59m')).toMatchObject({ blockchainId: 'btc' });
  expect(await advance(payment.id, '1m')).toMatchObject({
    status: 'pending',
    blockchainId: null,
    clock: { result: expect.stringContaining('pending.\nIts price has lapsed') },
  });
  const { token_amount: second } = await select('50000');
  expect(Number(second) / Number(first)).toBeCloseTo(2, 2);
  expect(await advance(payment.id, '22h')).toMatchObject({ status: 'pending' });
  expect(await advance(payment.id, '1h')).toMatchObject({ status: 'expired' });
});

test('an underpaid payment ends as unsuccessful, and a seen one does not end', async () => {
  const merchant = await addMerchant(service, { addresses: { eth: ALONE } });
  const [underpaid, seen] = [await create(merchant), await create(merchant)];
  await simulate(seen, 'detect');
  expect(await advance(seen, '3d')).toMatchObject({
    status: 'pending',
    sessionStatus: 'completed',
  });
  await simulate(seen, 'confirm');
  expect((await read(seen)).status).toBe('successful');
  await simulate(underpaid, 'under');
  expect(await advance(underpaid, '3h')).toMatchObject({
    status: 'unsuccessful',
    sessionStatus: 'expired',
    history: [{ actor: 'simulation', reason: 'expired while underpaid' }],
  });
});

test('a payment of the sandbox expires, and one of another processor is refused', async () => {
  const us = await addMerchant(service, { kind: 'us', addresses: {} });
  const [own, other] = [await create(us), await create(us)];
  expect(await advance(own, '1m')).toMatchObject({ status: 'pending' });
  expect(await advance(own, '30d')).toMatchObject({
    status: 'expired',
    history: [{ actor: 'simulation' }],
  });
  const stripe = service.db.updateTable('payments').set({ processor: 'stripe' });
  await stripe.where('id', '=', other).execute();
  expect(await service.refused('clock', other, '--advance', '1m')).toContain('processed by stripe');
});

test('another payment is unaffected, even if it is due', async () => {
  const merchant = await addMerchant(service);
  await addEndpoint(service, merchant.merchant.id, receiver.url);
  const [other, id] = [await create(merchant), await create(merchant)];
  const { created_at: overdue } = await read(other);
  const columns = { expires_at: overdue, quoted_until: overdue };
  await service.db.updateTable('payments').set(columns).where('id', '=', other).execute();
  receiver.requests.length = 0;
  expect(await advance(id, '2h')).toMatchObject({ status: 'expired' });
  expect(await read(other)).toMatchObject({ status: 'pending', ...columns });
  expect(new Set(receiver.requests.map(({ event }) => event.data.id))).toEqual(new Set([id]));
});

test('of two concurrent commands, one expires it', async () => {
  const id = await create();
  const command = ['clock', id, '--advance', '2h', '--json'];
  const outcomes = await Promise.all([1, 2, 3].map(() => mpHere(command, service.env)));
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual([0, 1, 1]);
  const events = service.db.selectFrom('events').select('type').where('payment_id', '=', id);
  expect((await events.execute()).map(({ type }) => type).toSorted()).toEqual([
    ...['payment_prompt.created', 'payment_prompt.expired'],
  ]);
});

describe('is refused', () => {
  test('in production and without simulation, in the words of mp payment simulate', async () => {
    const id = await create();
    const without = { ...service.env, SIMULATION: undefined };
    for (const env of [{ ...without, NODE_ENV: 'production' }, without]) {
      const [clock, played] = await Promise.all([
        mpHere(['clock', id, '--advance', '2h'], env),
        mpHere(['payment', 'simulate', id, '--case', 'expire'], env),
      ]);
      expect(clock).toEqual(played);
      expect(clock).toMatchObject({ status: 1, out: '' });
    }
    expect((await read(id)).status).toBe('pending');
  });

  test('on a chain with a node, and for an unknown payment or duration', async () => {
    const id = await create();
    await simulate(id, 'reorg');
    const { blockchain_id: network, expires_at: end } = await read(id);
    await watchNetworks(service.db, [network ?? ''], new Date());
    try {
      expect(await service.refused('clock', id, '--advance', '2h')).toContain('has a node');
      expect(await read(id)).toMatchObject({ status: 'pending', expires_at: end });
    } finally {
      await service.db.updateTable('networks').set({ settled_by: 'simulation' }).execute();
    }
    const unknown = '01890a5d-ac96-774b-bcce-b302099a8057';
    expect(await service.refused('clock', unknown, '--advance', '1s')).toBe(
      `There is no payment ${unknown}.`,
    );
    for (const duration of ['0s', '20', '1.5h', '-1m', '31d', '999999999d', 'm']) {
      const { status } = await mpHere(['clock', id, `--advance=${duration}`], service.env);
      expect(status, duration).toBe(2);
    }
  });
});

test.each([1, 2])('whatever is simulated and advanced, in any order (%i)', async seed => {
  const random = createRandom('clock', seed);
  const ids = [await create(), await create()];
  for (let step = 0; step < 12; step++) {
    const id = random.pick(ids);
    // Refusals are results too: an ended payment has no clock, and takes no more transfers.
    await (random.chance(50)
      ? mpHere(['clock', id, '--advance', random.pick(['30s', '5m', '20m', '2h'])], service.env)
      : mpHere(['payment', 'simulate', id, '--case', random.pick(SIMULATION_CASES)], service.env));
  }
  for (const id of ids) {
    const { status, session_status: session, created_at, expires_at } = await read(id);
    expect(expires_at.getTime()).toBeGreaterThanOrEqual(created_at.getTime());
    const { history } = await service.ask<Advanced>('payment', 'show', id);
    for (const { from, to } of history) expect(ALLOWED).toContain(`${from} ${to}`);
    expect(history.at(-1)?.to ?? 'pending/pending').toBe(`${status}/${session}`);
    const { rows } = await sql<{ ends: number; told: number; live: number; credited: number }>`
      select (select count(*)::integer from payment_transitions
              where payment_id = ${id} and to_status <> 'pending') as ends,
             (select count(*)::integer from events where payment_id = ${id} and type not in
              ('payment_prompt.created', 'payment_prompt.detected')) as told,
             (select count(*)::integer from reservations
              where payment_id = ${id} and released_at is null) as live,
             (select count(*)::integer from deposits where payment_id = ${id}
              and state = 'final' and outcome in ('exact', 'over', 'rest')) as credited`.execute(
      service.db,
    );
    const ends = status === 'pending' ? 0 : 1;
    expect(rows[0]).toMatchObject({ ends, told: ends, credited: status === 'successful' ? 1 : 0 });
    if (ends === 1) expect(rows[0]?.live).toBe(0);
  }
  expect(await service.ask('partner', 'verify', partnerId)).toMatchObject({ exact: true });
});
