import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { foldPartnerDeltas } from '#storage/repositories/partners/deltas.ts';
import {
  ADDRESSES,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  type PartnerWithKey,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { send } from '../../helpers/signed-request.ts';

const HASH = `0x${'5af3'.repeat(16)}`;
const DAY_MS = 24 * 60 * 60 * 1000;

let service: TestApp;
let partner: PartnerWithKey;
let developer: PartnerWithKey;
let other: PartnerWithKey;
let coffee: MerchantWithKey;
let books: MerchantWithKey;
let waiting: MerchantWithKey;
let foreign: MerchantWithKey;
const ids: Record<string, string> = {};

const get = (path: string, key: PartnerWithKey | MerchantWithKey = partner) =>
  send(service, key, { path: `/external/partner${path}` });
const list = async (query: string) => (await get(`/payments${query}`)).json();
const found = async (query: string) =>
  (await list(query)).data.map((row: { id: string }) =>
    Object.keys(ids).find(name => ids[name] === row.id),
  );

beforeAll(async () => {
  service = await startTestApp();
  partner = await addPartner(service);
  developer = await addPartner(service, { role: 'developer' });
  other = await addPartner(service);
  const partnerId = partner.partner.id;
  coffee = await addMerchant(service, {
    partnerId,
    name: 'Blue Coffee',
    email: 'hi@coffee.example',
  });
  service.clock.now += 1000;
  books = await addMerchant(service, { partnerId, name: '100%_Books\\', settlement: 'direct' });
  service.clock.now += 1000;
  waiting = await addMerchant(service, { partnerId, name: 'Waiting', kind: 'us', approved: false });
  foreign = await addMerchant(service, { partnerId: other.partner.id, name: 'Foreign' });

  const at = (minutes: number) => new Date(service.clock.now + minutes * 60_000);
  const add = async (
    name: string,
    { merchant }: MerchantWithKey,
    columns: Parameters<typeof addPayment>[2],
  ) => {
    ids[name] = (await addPayment(service.db, merchant, columns)).id;
  };
  await add('paid', coffee, {
    created_at: at(1),
    amount: 1234,
    commission_amount: 12,
    status: 'successful',
    session_status: 'completed',
    paid_at: at(5),
    blockchain_id: 'btc',
    address: ADDRESSES.btc,
    token_amount: 150_000n,
    token_decimals: 8,
    transaction_hash: HASH,
    customer_reference_id: 'order-1',
    note: 'no sugar',
  });
  await add('pending', coffee, {
    created_at: at(2),
    amount: 50,
    customer_reference_id: 'order-10',
  });
  await add('old', books, {
    created_at: new Date(service.clock.now - 40 * DAY_MS),
    amount: 100,
    status: 'successful',
    session_status: 'completed',
    paid_at: new Date(service.clock.now - 40 * DAY_MS),
    blockchain_id: 'eth',
    address: ADDRESSES.eth,
  });
  await add('odd', books, { created_at: at(3), amount: 999, customer_reference_id: '50%_of\\it' });
  await add('theirs', foreign, {
    created_at: at(4),
    amount: 777,
    customer_reference_id: 'order-1',
  });
  // Some figures come from the rollups, others from deltas that are not folded yet.
  await foldPartnerDeltas(service.db, 3);
});
afterAll(() => service.close());

describe('overview', () => {
  test('adds up to the cent', async () => {
    const response = await get('/overview');
    expect(response.statusCode).toBe(200);
    const { metrics, attention, volumeTrend, ...rest } = response.json();
    expect(rest.partner).toEqual({
      id: partner.partner.id,
      name: 'Partner',
      status: 'active',
      selfServiceApiPayments: true,
      createdAt: partner.partner.created_at.toISOString(),
    });
    expect(metrics).toEqual({
      totalMerchants: 3,
      approvedMerchants: 2,
      actionRequired: 1,
      volume30d: 12.34,
      totalVolume: 13.34,
      totalCommission: 0.12,
      totalPayments: 4,
    });
    expect(attention).toEqual([
      {
        type: 'onboarding_pending',
        merchantId: waiting.merchant.id,
        merchantName: 'Waiting',
        since: waiting.merchant.created_at.toISOString(),
      },
    ]);
    expect(volumeTrend).toHaveLength(30);
    expect(volumeTrend[29]).toEqual({ date: '2026-05-17', volume: 12.34, payments: 1 });
    expect(volumeTrend[0]).toEqual({ date: '2026-04-18', volume: 0, payments: 0 });
  });

  test('is all a developer key may read', async () => {
    expect((await get('/overview', developer)).statusCode).toBe(200);
    for (const path of ['/merchants', '/payments', '/payment-filters', '/team']) {
      expect((await get(path, developer)).json().error.errorCode).toBe('E2101');
    }
  });
});

describe('merchants', () => {
  test('are listed newest first with their figures', async () => {
    const page = (await get('/merchants')).json();
    expect(page).toMatchObject({ total: 3, page: 1, limit: 20 });
    expect(page.data.map((row: { name: string }) => row.name)).toEqual([
      'Waiting',
      '100%_Books\\',
      'Blue Coffee',
    ]);
    expect(page.data[2]).toEqual({
      id: coffee.merchant.id,
      name: 'Blue Coffee',
      email: 'hi@coffee.example',
      status: 'active',
      accountKind: 'standard',
      onboardingStatus: 'approved',
      actionRequired: false,
      createdAt: coffee.merchant.created_at.toISOString(),
      totalPayments: 2,
      totalVolume: 12.34,
      volume30d: 12.34,
      lastPaymentAt: expect.stringMatching(/^2026-05-17T12:02/),
    });
  });

  test.each([
    ['search=blue', ['Blue Coffee']],
    ['search=COFFEE.example', ['Blue Coffee']],
    ['search=%25_b', ['100%_Books\\']],
    ['search=%5C', ['100%_Books\\']],
    ['search=nothing', []],
    ['actionRequired=true', ['Waiting']],
    ['actionRequired=false&limit=1', ['Waiting']],
    ['page=3&limit=1', ['Blue Coffee']],
    ['page=2147483647', []],
  ])('%s', async (query, names) => {
    const page = (await get(`/merchants?${query}`)).json();
    expect(page.data.map((row: { name: string }) => row.name)).toEqual(names);
  });

  test('are found by a part of their ID', async () => {
    const page = (await get(`/merchants?search=${books.merchant.id.slice(4, 30)}`)).json();
    expect(page.total).toBe(1);
  });

  test('detail has branches, aggregates and recent payments', async () => {
    const detail = (await get(`/merchants/${coffee.merchant.id.toUpperCase()}`)).json();
    expect(detail.merchant.name).toBe('Blue Coffee');
    expect(detail.branches).toEqual([{ id: expect.any(String), name: 'Main', isMain: true }]);
    expect(detail.aggregates).toEqual({
      totalPayments: 2,
      successfulPayments: 1,
      totalVolume: 12.34,
      volume30d: 12.34,
      totalCommission: 0.12,
    });
    expect(detail.recentPayments.map((row: { id: string }) => row.id)).toEqual([
      ids.pending,
      ids.paid,
    ]);
  });

  test('of others look like missing ones', async () => {
    const missing = (await get('/merchants/01900000-0000-7000-8000-000000000000')).json().error;
    const theirs = (await get(`/merchants/${foreign.merchant.id}`)).json().error;
    expect({ ...theirs, requestId: '' }).toEqual({ ...missing, requestId: '' });
    expect(missing.errorCode).toBe('E3001');
  });
});

describe('payments', () => {
  test('are shown in dollars with address, branch and merchant', async () => {
    const row = (await get(`/payments/${ids.paid}`)).json();
    expect(row).toEqual({
      id: ids.paid,
      amount: 12.34,
      commissionAmount: 0.12,
      tokenAmount: '0.0015',
      status: 'successful',
      sessionStatus: 'completed',
      flow: 'crypto',
      paymentSystem: 'bitcoin',
      blockchainId: 'btc',
      address: ADDRESSES.btc,
      transactionHash: HASH,
      customerReferenceId: 'order-1',
      note: 'no sugar',
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      paidAt: expect.any(String),
      branchId: expect.any(String),
      branchName: 'Main',
      merchantId: coffee.merchant.id,
      merchantName: 'Blue Coffee',
    });
    expect((await list('?search=order-10')).data[0]).toMatchObject({ id: ids.pending });
  });

  test.each<[string, string[]]>([
    ['', ['odd', 'pending', 'paid', 'old']],
    ['?status=successful', ['paid', 'old']],
    ['?status=cancelled', []],
    ['?blockchainId=eth', ['old']],
    ['?blockchainId=eth&status=pending', []],
    ['?merchantName=COFF', ['pending', 'paid']],
    ['?merchantName=o', ['odd', 'pending', 'paid', 'old']],
    ['?merchantName=%25_', ['odd', 'old']],
    ['?addressSearch=BC1QW5', ['paid']],
    ['?addressSearch=zzzz', []],
    ['?txHash=5AF35', ['paid']],
    [`?search=${HASH}`, ['paid']],
    [`?search=${ADDRESSES.eth.toLowerCase()}`, ['old']],
    ['?search=order-1', ['pending', 'paid']],
    ['?search=ORDER-10', ['pending']],
    ['?search=coffee', ['pending', 'paid']],
    ['?search=coffee&status=successful', ['paid']],
    ['?search=%25_', ['odd', 'old']],
    ['?search=%25_of%5C', ['odd']],
    [`?search=${'%25'.repeat(255)}`, []],
    [`?search=${encodeURIComponent('🧾'.repeat(255))}`, []],
    ['?search=', ['odd', 'pending', 'paid', 'old']],
    ['?actionRequired=true', ['odd', 'pending', 'paid', 'old']],
    ['?startDate=2026-05-17', ['odd', 'pending', 'paid']],
    ['?endDate=2026-05-16', ['old']],
    ['?endDate=2026-05-17T00:00:00Z', ['old']],
    ['?endDate=2026-05-17', ['odd', 'pending', 'paid', 'old']],
    ['?startDate=2026-05-17&endDate=2026-05-17', ['odd', 'pending', 'paid']],
    ['?startDate=2026-05-17&search=books', ['odd']],
    ['?limit=2', ['odd', 'pending']],
    ['?limit=2&page=2', ['paid', 'old']],
    ['?limit=2&page=2&search=o', ['paid', 'old']],
    ['?page=99', []],
    ['?page=2147483647&limit=100', []],
    ['?page=99&search=coffee', []],
  ])('%s', async (query, names) => {
    expect(await found(query)).toEqual(names);
  });

  test.each([
    ['?limit=1', 4],
    ['?page=77', 4],
    ['?search=order', 2],
    ['?page=77&search=order', 2],
    ['?merchantName=o&status=pending', 2],
    ['?startDate=2026-05-17', 3],
  ])('%s has the exact total', async (query, total) => {
    expect((await list(query)).total).toBe(total);
  });

  test('are found by IDs, whole and in part', async () => {
    expect(await found(`?search=${ids.odd}`)).toEqual(['odd']);
    expect(await found(`?search=${ids.odd?.toUpperCase()}`)).toEqual(['odd']);
    expect(await found(`?transactionId=${ids.odd?.slice(3, 33)}`)).toEqual(['odd']);
    expect(await found(`?search=${ids.odd?.slice(3, 33)}`)).toEqual(['odd']);
    expect(await found(`?search=${coffee.merchant.id}`)).toEqual(['pending', 'paid']);
    expect(await found(`?merchantId=${coffee.merchant.id.toUpperCase()}`)).toEqual([
      'pending',
      'paid',
    ]);
    expect(await found(`?merchantId=${foreign.merchant.id}`)).toEqual([]);
    expect(await found(`?search=${ids.theirs}`)).toEqual([]);
  });

  test('bounds are inclusive', async () => {
    const { createdAt } = (await get(`/payments/${ids.pending}`)).json();
    expect(await found(`?startDate=${createdAt}&endDate=${createdAt}`)).toEqual(['pending']);
    const basic = createdAt.replaceAll(/[:-]/g, '').replace('Z', '%2B0000');
    expect(await found(`?startDate=${basic}&endDate=${basic}`)).toEqual(['pending']);
  });

  test('of others look like missing ones', async () => {
    const missing = (await get('/payments/01900000-0000-7000-8000-000000000000')).json().error;
    const theirs = (await get(`/payments/${ids.theirs}`)).json().error;
    expect({ ...theirs, requestId: '' }).toEqual({ ...missing, requestId: '' });
    expect(missing.errorCode).toBe('E3001');
  });

  test.each([
    ['page=0', 'E1001', 'page'],
    ['page=2147483648', 'E1001', 'page'],
    ['page=1e1', 'E1001', 'page'],
    ['page=', 'E1001', 'page'],
    ['limit=101', 'E1001', 'limit'],
    ['limit=0', 'E1001', 'limit'],
    ['limit=5&limit=6', 'E1001', 'limit'],
    ['status=done', 'E1001', 'status'],
    ['blockchainId=doge', 'E1001', 'blockchainId'],
    ['merchantId=7', 'E1001', 'merchantId'],
    ['startDate=yesterday', 'E1001', 'startDate'],
    ['endDate=2026-02-30', 'E1001', 'endDate'],
    ['startDate=2026-W20-7', 'E1001', 'startDate'],
    ['actionRequired=yes', 'E1001', 'actionRequired'],
    [`search=${'x'.repeat(256)}`, 'E1001', 'search'],
    ['search=%00', 'E1001', 'search'],
    ['search=%ff', 'E1001', 'search'],
    ['sort=amount', 'E1002', 'sort'],
    ['paidFrom=2026-05-17', 'E1002', 'paidFrom'],
    ['paidTo=2026-05-17', 'E1002', 'paidTo'],
    ['paidFrom=2026-05-01&paidTo=2026-05-17&status=successful', 'E1002', 'paidFrom'],
  ])('%s is refused', async (query, errorCode, param) => {
    const response = await get(`/payments?${query}`);
    expect(response.statusCode).toBe(400);
    expect(response.json().error).toMatchObject({ errorCode, param });
  });
});

test('payment filters name merchants and networks of the history', async () => {
  const filters = (await get('/payment-filters')).json();
  expect(filters.merchants.map((row: { name: string }) => row.name)).toEqual([
    '100%_Books\\',
    'Blue Coffee',
    'Waiting',
  ]);
  expect(filters.blockchainIds).toEqual(['btc', 'eth']);
});

test('team lists the members', async () => {
  expect((await get('/team')).json()).toEqual({
    data: [
      {
        id: partner.member.id,
        name: 'Member',
        email: 'member@example.com',
        role: 'owner',
        status: 'active',
        createdAt: partner.member.created_at.toISOString(),
      },
    ],
  });
});

test('a list of payments has these four members', async () => {
  expect(Object.keys(await list('?search=o'))).toEqual(['data', 'total', 'page', 'limit']);
});

test('a report that takes too long is refused with E5002 and leaves creations alone', async () => {
  const slow = await startTestApp({ beside: service, reportTimeoutMs: 300 });
  await service.db.transaction().execute(async tx => {
    await tx.schema.alterTable('partner_totals').addColumn('held', 'integer').execute();
    const report = send(slow, partner, { path: '/external/partner/overview' });
    const created = await send(slow, coffee, {
      path: '/external/v1/payments/prompt',
      body: { amount: 50, customerReferenceId: 'while a report waits' },
    });
    expect(created.statusCode).toBe(201);
    expect((await report).json().error.errorCode).toBe('E5002');
    // If counting takes too long, there is no total.
    const list = await send(slow, partner, { path: '/external/partner/payments' });
    expect(list.json().error.errorCode).toBe('E5002');
    expect(list.headers['retry-after']).toBe('5');
    await tx.schema.alterTable('partner_totals').dropColumn('held').execute();
  });
  await slow.close();
});
