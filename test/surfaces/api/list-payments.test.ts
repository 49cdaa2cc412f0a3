import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { createPrompt, expectRefusal } from '../../helpers/prompts.ts';
import { send } from '../../helpers/signed-request.ts';

const BASE = '/external/v1/payments';
const FIRST = Date.UTC(2026, 0, 1);
const PAYMENTS = 25;

let service: TestApp;
let shop: MerchantWithKey;
let other: MerchantWithKey;
/** IDs of the shop's payments, newest first, a millisecond apart. */
let ids: string[];
let foreign: string;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
  other = await addMerchant(service);
  ids = [];
  for (let index = 0; index < PAYMENTS; index++) {
    const created_at = new Date(FIRST + index);
    const customer_reference_id = index % 5 === 0 ? `order-${index}` : null;
    ids.unshift(
      (await addPayment(service.db, shop.merchant, { created_at, customer_reference_id })).id,
    );
  }
  foreign = (await addPayment(service.db, other.merchant, { created_at: new Date(FIRST) })).id;
});
afterAll(() => service.close());

const get = (path: string, key = shop) => send(service, key, { path: BASE + path });

/** The IDs of a page, and whether there are more. */
async function page(query: Record<string, string | number>) {
  const parameters = new URLSearchParams(query as Record<string, string>);
  const response = await get(parameters.size === 0 ? '' : `?${parameters}`);
  expect(response.statusCode, response.body).toBe(200);
  const { object, data, hasMore } = response.json();
  expect(object).toBe('list');
  return { ids: data.map((payment: { id: string }) => payment.id), hasMore };
}

describe('pages and filters', () => {
  test('lists the ten newest, newest first', async () => {
    expect(await page({})).toEqual({ ids: ids.slice(0, 10), hasMore: true });
  });

  test('takes limits from 1 to 100', async () => {
    expect(await page({ limit: 1 })).toEqual({ ids: ids.slice(0, 1), hasMore: true });
    expect(await page({ limit: 24 })).toEqual({ ids: ids.slice(0, 24), hasMore: true });
    expect(await page({ limit: 25 })).toEqual({ ids, hasMore: false });
    expect(await page({ limit: 100 })).toEqual({ ids, hasMore: false });
  });

  test.each(['0', '101', '-1', '', '1.0', '1e1', '+5', '05', '5%20', 'ten', '2147483648'])(
    'refuses limit=%s',
    async limit => expectRefusal(await get(`?limit=${limit}`), 'E1001', 'limit'),
  );

  test('refuses repeated and unknown parameters', async () => {
    expectRefusal(await get('?limit=1&limit=2'), 'E1001', 'limit');
    expectRefusal(await get('?status=pending&status=expired'), 'E1001', 'status');
    expectRefusal(await get('?Limit=1'), 'E1002', 'Limit');
    expectRefusal(await get('?page=2'), 'E1002', 'page');
    expectRefusal(await get('?status=paid'), 'E1001', 'status');
    expectRefusal(await get('?status='), 'E1001', 'status');
  });

  test('is empty for a merchant without payments', async () => {
    const empty = await addMerchant(service);
    expect((await get('', empty)).json()).toEqual({ object: 'list', data: [], hasMore: false });
  });

  test('filters by reference, exactly', async () => {
    expect(await page({ customerReferenceId: 'order-5' })).toEqual({
      ids: [ids[PAYMENTS - 1 - 5]],
      hasMore: false,
    });
    for (const reference of ['order', 'ORDER-5', 'order-5 ', '%', '']) {
      expect((await page({ customerReferenceId: reference })).ids).toEqual([]);
    }
    expectRefusal(
      await get(`?customerReferenceId=${'a'.repeat(256)}`),
      'E1001',
      'customerReferenceId',
    );
    expect(
      (await get(`?customerReferenceId=${encodeURIComponent('😀').repeat(255)}`)).statusCode,
    ).toBe(200);
  });

  test('takes an echoed createdAt as a strict bound', async () => {
    const { prompt } = await createPrompt(service, other, { amount: 5000 });
    const at = prompt.createdAt;
    const listed = async (query: string) =>
      (await get(`?${query}`, other)).json().data.map((payment: { id: string }) => payment.id);
    expect(await listed(`createdAfter=${at}`)).not.toContain(prompt.id);
    expect(await listed(`createdBefore=${at}`)).not.toContain(prompt.id);
    const before = new Date(Date.parse(at) - 1).toISOString();
    const after = new Date(Date.parse(at) + 1).toISOString();
    expect(await listed(`createdAfter=${before}&createdBefore=${after}`)).toEqual([prompt.id]);
    expect(await listed(`createdAfter=${after}&createdBefore=${before}`)).toEqual([]);
  });

  test('takes a date alone as midnight UTC, and offsets', async () => {
    const all = { ids: ids.slice(0, -1), hasMore: false };
    expect(await page({ limit: 100, createdAfter: '2026-01-01' })).toEqual(all);
    expect(await page({ limit: 100, createdAfter: '2026-01-01T01:00:00+01:00' })).toEqual(all);
    expect(await page({ createdBefore: '2026-01-01' })).toEqual({ ids: [], hasMore: false });
    expect(await page({ limit: 100, createdBefore: '2026-01-02' })).toEqual({
      ids,
      hasMore: false,
    });
  });

  test.each([
    ...['2026-01-01T00:00', '2026-01-01T00:00:00', '2026-01-01T00:00:00,000', '20260101'],
    ...['20260101T000000Z', '20260101T0100+0100', '2026-01-01T01:00+0100', '2026-01-01T00:00Z'],
  ])('takes %s for the beginning of 2026', async createdAfter => {
    const all = { ids: ids.slice(0, -1), hasMore: false };
    expect(await page({ limit: 100, createdAfter })).toEqual(all);
  });

  test('takes every date that can be written', async () => {
    for (const createdAfter of ['0000-01-01', '0001-01-01', '0000-01-01T00:00:00+23:59']) {
      expect((await page({ limit: 100, createdAfter })).ids).toHaveLength(PAYMENTS);
    }
    for (const createdAfter of ['9999-12-31', '9999-12-31T23:59:59.999-23:59']) {
      expect((await page({ createdAfter })).ids).toEqual([]);
    }
  });

  test.each(['yesterday', '2026-02-30', '2026-W01-4', '2026-001', '2026-1-1', '1767225600', ''])(
    'refuses createdAfter=%s',
    async text => {
      const refused = await get(`?createdAfter=${text}`);
      expectRefusal(refused, 'E1001', 'createdAfter');
      expect(refused.json().error.message).toContain('2030-01-31T12:00:00Z');
    },
  );

  test('refuses an offset whose plus sign is not encoded, and says so', async () => {
    const response = await get('?createdBefore=2026-01-01T00:00:00+01:00');
    expectRefusal(response, 'E1001', 'createdBefore');
    expect(response.json().error.message).toContain('%2B');
  });
});

describe('cursors', () => {
  const at = (index: number) => ids[index] ?? '';

  test('startingAfter continues with older ones and excludes itself', async () => {
    expect(await page({ limit: 5, startingAfter: at(4) })).toEqual({
      ids: ids.slice(5, 10),
      hasMore: true,
    });
    expect(await page({ limit: 5, startingAfter: at(19) })).toEqual({
      ids: ids.slice(20),
      hasMore: false,
    });
    expect(await page({ startingAfter: at(24) })).toEqual({ ids: [], hasMore: false });
  });

  test('endingBefore returns the nearest newer ones, still newest first', async () => {
    expect(await page({ limit: 5, endingBefore: at(20) })).toEqual({
      ids: ids.slice(15, 20),
      hasMore: true,
    });
    expect(await page({ limit: 5, endingBefore: at(5) })).toEqual({
      ids: ids.slice(0, 5),
      hasMore: false,
    });
    expect(await page({ endingBefore: at(0) })).toEqual({ ids: [], hasMore: false });
  });

  test('a cursor that the filters exclude still marks a place', async () => {
    const filters = { customerReferenceId: 'order-5', limit: 5 };
    expect((await page({ ...filters, startingAfter: at(0) })).ids).toEqual([at(19)]);
    expect((await page({ ...filters, endingBefore: at(24) })).ids).toEqual([at(19)]);
    expect((await page({ ...filters, startingAfter: at(20) })).ids).toEqual([]);
  });

  test('both together are refused', async () => {
    const response = await get(`?startingAfter=${at(1)}&endingBefore=${at(3)}`);
    expectRefusal(response, 'E1001', 'endingBefore');
  });

  test('an unknown and a foreign cursor get the same response', async () => {
    for (const param of ['startingAfter', 'endingBefore']) {
      const unknown = await get(`?${param}=${uuidv7()}`);
      const others = await get(`?${param}=${foreign}`);
      for (const response of [unknown, others]) expectRefusal(response, 'E3001', param);
      expect({ ...unknown.json().error, requestId: '' }).toEqual({
        ...others.json().error,
        requestId: '',
      });
      expectRefusal(await get(`?${param}=latest`), 'E1001', param);
      expectRefusal(await get(`?${param}=`), 'E1001', param);
    }
  });
});
