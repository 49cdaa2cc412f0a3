import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type EventsQuery, type PaymentsClient } from '#client/index.ts';
import { newEvent } from '#payments/new-event.ts';
import { insertEvent } from '#storage/repositories/payments/events.ts';
import { addMerchant, addPartner, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';

let service: TestApp;
let shop: MerchantWithKey;
let baseUrl: string;
let client: PaymentsClient;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service, { domains: ['shop.example.com'] });
  baseUrl = await service.app.listen({ host: '127.0.0.1', port: 0 });
  client = createClient({ ...shop, baseUrl, now: service.clock });
});
afterAll(() => service.close());

test('creates, reads and lists a payment', async () => {
  const { prompt, checkoutUrl } = await client.createPayment({
    amount: 5000,
    customerReferenceId: 'Bestellung №7 & 😀 + 100 %',
    redirectUrl: 'https://shop.example.com/?a=b c'.replace(' ', '%20'),
    note: 'ä',
  });
  expect(prompt).toMatchObject({ object: 'payment_prompt', amount: 5000, status: 'pending' });
  expect(checkoutUrl).toMatch(/^https:/);
  expect(await client.getPayment(prompt.id)).toEqual(prompt);
  const page = await client.listPayments({
    customerReferenceId: 'Bestellung №7 & 😀 + 100 %',
    createdBefore: '2027-01-01T00:00:00+02:00',
    status: 'pending',
    limit: 1,
  });
  expect(page).toEqual({ object: 'list', data: [prompt], hasMore: false });
});

test('repeats a create with the same idempotency key without creating again', async () => {
  const create = () => client.createPayment({ amount: 6000 }, { idempotencyKey: 'order, "6" é' });
  const first = await create();
  expect(await create()).toEqual(first);
  const conflict = await client
    .createPayment({ amount: 6001 }, { idempotencyKey: 'order, "6" é' })
    .catch(error => error);
  expect(conflict).toMatchObject({ status: 409, errorCode: 'E4002', retryable: false });
});

test('lists the active networks', async () => {
  const blockchains = await client.activeBlockchains();
  expect(blockchains).toHaveLength(23);
  expect(blockchains[0]).toMatchObject({ object: 'blockchain', id: 'avax', isActive: true });
});

test('iterates over every page', async () => {
  const other = await addMerchant(service);
  const ids: string[] = [];
  for (let index = 0; index < 7; index++) {
    const created_at = new Date(service.clock.now - (index % 3));
    ids.push((await addPayment(service.db, other.merchant, { created_at })).id);
  }
  const walked: string[] = [];
  const theirs = createClient({ ...other, baseUrl, now: service.clock });
  for await (const payment of theirs.payments({ limit: 2 })) walked.push(payment.id);
  expect(walked.toSorted()).toEqual(ids.toSorted());
});

describe('events', () => {
  const SECOND = 1_000;
  let theirs: PaymentsClient;
  let ids: string[];
  const at = (index: number) => new Date(service.clock.now - (7 - index) * 25 * SECOND);
  beforeAll(async () => {
    const other = await addMerchant(service);
    theirs = createClient({ ...other, baseUrl, now: service.clock });
    const payment = await addPayment(service.db, other.merchant, { created_at: at(0) });
    ids = [];
    for (let index = 0; index < 7; index++) {
      const event = newEvent('payment_prompt.created', payment, at(index));
      await insertEvent(service.db, event);
      ids.push(event.id);
    }
  });

  async function walk(query: EventsQuery): Promise<string[]> {
    const walked: string[] = [];
    for await (const { id } of theirs.events({ limit: 2, ...query })) walked.push(id);
    return walked;
  }

  test('are iterated, the oldest first, from a minute before a time or an event', async () => {
    expect(await walk({})).toEqual(ids);
    const four = ids[4] ?? '';
    const { createdAt } = await theirs.getEvent(four);
    expect(createdAt).toBe(at(4).toISOString());
    expect(await walk({ after: createdAt })).toEqual(ids.slice(2));
    expect(await walk({ after: at(4) })).toEqual(ids.slice(2));
    // All but the event itself, which was already processed.
    expect(await walk({ after: four })).toEqual(ids.slice(2).filter(id => id !== four));
    expect(await walk({ after: four.toUpperCase() })).toHaveLength(4);
    expect(await walk({ endDate: at(1).toISOString() })).toEqual(ids.slice(0, 2));
    expect(await walk({ type: 'payment_prompt.expired' })).toEqual([]);
  });

  test('are listed and read', async () => {
    const page = await theirs.listEvents({ limit: 1 });
    const last = ids.at(-1) ?? '';
    expect(page).toMatchObject({ object: 'list', data: [{ id: last, deliveries: [] }] });
    expect(await theirs.getEvent(last)).toEqual(page.data[0]);
    expect((await theirs.listEvents({ delivered: false })).data).toEqual([]);
  });

  test('after an unknown one, or an invalid time, end with the reason', async () => {
    const missing = '01890000-0000-7000-8000-000000000000';
    await expect(walk({ after: missing })).rejects.toMatchObject({ errorCode: 'E3001' });
    for (const after of ['yesterday', '', '2026-05-17T12:00:00', 'T12:00Z', new Date(NaN)]) {
      await expect(walk({ after })).rejects.toThrow(TypeError);
    }
  });
});

test('distinguishes refusals', async () => {
  const refusal = (promise: Promise<unknown>) => promise.catch(error => error);
  expect(await refusal(client.createPayment({ amount: 1 }))).toMatchObject({
    status: 400,
    code: 'parameter_invalid',
    errorCode: 'E1001',
    param: 'amount',
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    docUrl: 'https://pay.example.test/docs/errors/E1001',
  });
  for (const id of ['01890000-0000-7000-8000-000000000000', '..']) {
    expect(await refusal(client.getPayment(id))).toMatchObject({ errorCode: 'E3001' });
  }
  for (const id of ['no-uuid', '.', '']) {
    expect(await refusal(client.getPayment(id))).toMatchObject({ errorCode: 'E1001', param: 'id' });
  }
  const partner = createClient({ ...(await addPartner(service)), baseUrl, now: service.clock });
  expect(await refusal(partner.listPayments())).toMatchObject({ errorCode: 'E2008' });
  const wrong = createClient({ ...shop, secret: 'mps_0', baseUrl, now: service.clock });
  expect(await refusal(wrong.activeBlockchains())).toMatchObject({ errorCode: 'E2007' });
});

test('waits as long as the rate limit says', async () => {
  const limited = await startTestApp({ beside: service, env: { RATE_LIMIT_MAX: '1' } });
  try {
    const pauses: number[] = [];
    const impatient = createClient({
      ...shop,
      baseUrl: await limited.app.listen({ host: '127.0.0.1', port: 0 }),
      now: service.clock,
      maxAttempts: 2,
      sleep: async milliseconds => pauses.push(milliseconds),
    });
    await impatient.activeBlockchains();
    const error = await impatient.activeBlockchains().catch(thrown => thrown);
    expect(error).toMatchObject({ status: 429, errorCode: 'E9001', retryable: true });
    expect(pauses).toEqual([error.retryAfterSeconds * 1000]);
  } finally {
    await limited.close();
  }
});
