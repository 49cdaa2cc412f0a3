import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SIMULATION_CASES } from '#schemas/simulation-cases.ts';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { type OpenedCheckout, openCheckout } from '../../helpers/checkout.ts';
import { expectRefusal } from '../../helpers/refusal.ts';
import { watchNetworks } from '../../helpers/watch-networks.ts';

const PEOPLE = { accept: 'text/html,application/xhtml+xml' };
const SCRIPTS = { accept: 'application/json' };

let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
});

afterAll(() => service?.close());

const open = () => openCheckout(service, shop);

describe('a form is executed, and leads back to the page', () => {
  test('choosing a network, the same one again, and another one', async () => {
    const checkout = await open();
    for (const network of ['eth', 'eth', 'btc']) {
      const response = await checkout.post('network', { network }, PEOPLE);
      expect(response.statusCode).toBe(303);
      expect(response.headers.location).toBe(checkout.path);
      expect(await checkout.payment()).toMatchObject({ blockchain_id: network });
    }
  });

  test('cancelling, and cancelling again', async () => {
    const checkout = await open();
    for (const _press of [1, 2]) {
      const response = await checkout.post('cancel', {}, PEOPLE);
      expect(response.statusCode).toBe(303);
      expect(response.headers.location).toBe(checkout.path);
    }
    expect(await checkout.payment()).toMatchObject({
      status: 'cancelled',
      cancellation_reason: 'cancelled_by_customer',
    });
  });

  test('cancelling is refused once something has arrived, however little', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    await checkout.simulate('under');
    expect((await checkout.get()).body).not.toContain('Cancel payment');
    const response = await checkout.post('cancel', {}, PEOPLE);
    expect(response.statusCode).toBe(409);
    expect(response.body).toContain('not cancelled: a transfer has been seen already.');
    expect(await checkout.payment()).toMatchObject({ status: 'pending' });
  });

  test('cancelling by a form without fields sends no body', async () => {
    const checkout = await open();
    const response = await service.app.inject({ method: 'POST', url: `${checkout.path}/cancel` });
    expect(response.statusCode).toBe(303);
  });

  test.each(SIMULATION_CASES)('simulating %s', async play => {
    // With others open at the address, an amount would not identify the payment.
    await service.db
      .updateTable('reservations')
      .set({ released_at: new Date(0) })
      .execute();
    const checkout = await open();
    await checkout.pick('eth');
    const response = await checkout.post('simulate', { case: play }, PEOPLE);
    expect(response.statusCode, response.body).toBe(303);
  });

  test('simulating a case that an open payment at the same address makes ambiguous says so', async () => {
    const [other, checkout] = [await open(), await open()];
    await other.pick('eth');
    await checkout.pick('eth');
    const response = await checkout.post('simulate', { case: 'over' }, PEOPLE);
    expect(response.statusCode).toBe(200);
    expect(response.body).toMatch(
      /id="notice"[^>]*>The payment is still pending\. A transfer went to the inbox as ambiguous /,
    );
  });

  test('letting time pass until the payment expires', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    for (const [advance, status] of [
      ['1m', 'pending'],
      ['1d', 'expired'],
    ]) {
      const response = await checkout.post('clock', { advance: advance ?? '' }, PEOPLE);
      expect(response.statusCode).toBe(303);
      expect(await checkout.payment()).toMatchObject({ status });
    }
    const again = await checkout.post('clock', { advance: '1d' }, SCRIPTS);
    expectRefusal(again, 'E1040');
    const wrong = await checkout.post('clock', { advance: 'a day' }, SCRIPTS);
    expectRefusal(wrong, 'E1001', 'advance');
  });

  test('the URL of a form, opened by itself, leads to the page', async () => {
    const checkout = await open();
    for (const form of ['network', 'cancel', 'simulate', 'clock']) {
      const response = await checkout.get(`${checkout.path}/${form}`);
      expect(response.statusCode).toBe(303);
      expect(response.headers.location).toBe(checkout.path);
    }
  });
});

/** Sends a form like a person and like a script, and expects both to be refused. */
async function expectConflict(
  checkout: OpenedCheckout,
  part: string,
  fields: Record<string, string>,
  notice: string,
): Promise<void> {
  const page = await checkout.post(part, fields, PEOPLE);
  expect(page.statusCode).toBe(409);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.body).toContain(`<p class="notice" id="notice" role="alert">${notice}</p>`);
  expectRefusal(await checkout.post(part, fields, SCRIPTS), 'E1040');
}

describe('an outdated tab shows what happened', () => {
  test('when the payment is paid', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    await checkout.simulate('confirm');
    const before = await checkout.payment();
    await expectConflict(
      checkout,
      'network',
      { network: 'btc' },
      'The network was not chosen: it is paid.',
    );
    await expectConflict(checkout, 'cancel', {}, 'The payment was not cancelled: it is paid.');
    expect(await checkout.payment()).toEqual(before);
  });

  test('when a transfer has been seen', async () => {
    const checkout = await open();
    await checkout.pick('eth');
    await checkout.simulate('detect');
    const seen = 'a transfer has been seen already.';
    await expectConflict(
      checkout,
      'network',
      { network: 'btc' },
      `The network was not chosen: ${seen}`,
    );
    await expectConflict(checkout, 'cancel', {}, `The payment was not cancelled: ${seen}`);
  });

  test('when it is cancelled', async () => {
    const checkout = await open();
    await checkout.post('cancel');
    await expectConflict(
      checkout,
      'network',
      { network: 'eth' },
      'The network was not chosen: it has been cancelled.',
    );
  });

  test('when its time is up', async () => {
    const checkout = await open();
    const before = service.clock.now;
    service.clock.now = (await checkout.payment()).expires_at.getTime();
    await expectConflict(
      checkout,
      'network',
      { network: 'eth' },
      'The network was not chosen: its time is up.',
    );
    service.clock.now = before;
  });

  test.each(['eth-usdc', 'sol', 'nonsense', ''])('when %j is not offered', async network => {
    await expectConflict(
      await open(),
      'network',
      { network },
      'The network was not chosen: it is not offered for this payment.',
    );
  });

  test('when the network has no price by then', async () => {
    const checkout = await open();
    service.rates.switchOff('ETH');
    const page = await checkout.post('network', { network: 'eth' }, PEOPLE);
    const json = await checkout.post('network', { network: 'eth' }, SCRIPTS);
    service.rates.switchOn('ETH');
    expect(page.statusCode).toBe(503);
    expect(page.body).toContain('This network is not available just now.');
    expect(page.body).toContain('name="network" value="btc">');
    expectRefusal(json, 'E5002');
    expect(await checkout.payment()).toMatchObject({ blockchain_id: null });
  });
});

describe('a body that none of our forms sends is refused', () => {
  test.each([
    ['an unknown field', 'network=eth&other=1', 'E1002'],
    ['a field twice', 'network=eth&network=btc', 'E1001'],
    ['no field', '', 'E1001'],
    ['another field', 'case=confirm', 'E1002'],
    ['a field named like a method', '__proto__=1', 'E1002'],
  ] as const)('%s', async (_what, body, code) => {
    const checkout = await open();
    expect((await checkout.post('network', body, PEOPLE)).statusCode).toBe(400);
    const answer = await checkout.post('network', body, SCRIPTS);
    expect(answer.json().error.errorCode).toBe(code);
    expect(await checkout.payment()).toMatchObject({ blockchain_id: null });
  });

  test('above 4 KiB, and just below', async () => {
    const checkout = await open();
    const large = await checkout.post('network', `network=${'x'.repeat(4089)}`, SCRIPTS);
    expectRefusal(large, 'E1000');
    const fitting = await checkout.post('network', `network=${'x'.repeat(4088)}`, SCRIPTS);
    expectRefusal(fitting, 'E1040');
    const huge = await checkout.post('network', 'x'.repeat(500_000), PEOPLE);
    expect(huge.statusCode).toBe(400);
    expect(huge.headers['content-type']).toBe('text/html; charset=utf-8');
  });

  test.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x'])(
    'as %s',
    async type => {
      const checkout = await open();
      const answer = await checkout.post('network', '{"network":"eth"}', {
        'content-type': type,
        ...SCRIPTS,
      });
      expectRefusal(answer, 'E1000');
    },
  );

  test('to a checkout that does not exist', async () => {
    const answer = await service.app.inject({
      method: 'POST',
      url: `/checkout/${'x'.repeat(43)}/network`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...PEOPLE },
      payload: 'network=eth',
    });
    expect(answer.statusCode).toBe(404);
    expect(answer.body).toContain('There is no such payment page');
  });
});

test('simulation of an unknown case is refused', async () => {
  const checkout = await open();
  const answer = await checkout.post('simulate', { case: 'toString' }, SCRIPTS);
  expectRefusal(answer, 'E1001', 'case');
});

test.each([
  ['in production', { NODE_ENV: 'production' }],
  ['on a database of its own, with NODE_ENV forgotten', { NODE_ENV: '' }],
])('neither the simulation panel nor its route exists %s', async (_name, env) => {
  const production = await startTestApp({
    beside: service,
    env: {
      ...env,
      DATABASE_URL: service.databaseUrl,
      MASTER_KEY: randomBytes(32).toString('base64'),
    },
  });
  const checkout = await open();
  await checkout.pick('eth');
  const page = await production.app.inject({ url: checkout.path });
  expect(page.statusCode).toBe(200);
  expect(page.body).not.toMatch(/simulat/i);
  for (const [method, form] of [
    ['POST', 'simulate'],
    ['GET', 'simulate'],
    ['POST', 'clock'],
    ['GET', 'clock'],
  ] as const) {
    const answer = await production.app.inject({
      method,
      url: `${checkout.path}/${form}`,
      ...(method === 'POST' ? { payload: 'case=confirm&advance=1d' } : {}),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(answer.statusCode).toBe(404);
  }
  expect(await checkout.payment()).toMatchObject({ status: 'pending' });
  await production.close();
});

test('if a chain has a node, its transfers cannot be simulated', async () => {
  const simulated = await startTestApp();
  try {
    const merchant = await addMerchant(simulated);
    await watchNetworks(simulated.db, ['eth'], new Date(simulated.clock.now));
    const checkout = await openCheckout(simulated, merchant);
    expect((await checkout.get()).body).toContain('Simulate');
    await checkout.pick('eth');
    expect((await checkout.get()).body).not.toContain('Simulate');
    await checkout.pick('btc');
    expect((await checkout.get()).body).toContain('Simulate');
  } finally {
    await simulated.close();
  }
});
