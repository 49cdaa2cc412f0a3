import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '#cli/run.ts';
import { ADDRESSES, addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { addPayment } from '../helpers/payments.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

const UNKNOWN = '01890a5d-ac96-774b-bcce-b302099a8057';
const TITLES =
  'id,createdAt,merchantId,branchId,partnerId,flow,status,sessionStatus,amount,commissionAmount,' +
  'commissionPayer,settlementModel,blockchainId,tokenAmount,address,transactionHash,processor,' +
  'externalId,paidAt,expiresAt,customerReferenceId,note,cancellationReason,lastErrorCode,lastErrorMessage';
const HEADER = `"${TITLES.replaceAll(',', '","')}"`;

let service: Operated;
let shop: MerchantWithKey;
let other: MerchantWithKey;
const ids: Record<string, string> = {};

beforeAll(async () => {
  service = await startOperated();
  [shop, other] = [await addMerchant(service), await addMerchant(service)];
  const add = async (
    name: string,
    { merchant }: MerchantWithKey,
    at: string,
    columns: Omit<Parameters<typeof addPayment>[2], 'created_at'> = {},
  ) => {
    ids[name] = (
      await addPayment(service.db, merchant, { created_at: new Date(at), ...columns })
    ).id;
  };
  await add('oldest', shop, '2026-05-01T00:00:00Z', {
    customer_reference_id: '=1+1',
    note: 'with "quotes", and a comma',
    last_error_code: 'amount_underpaid',
    last_error_message: 'Too little.',
    last_error_at: new Date('2026-05-01T00:10:00Z'),
  });
  await add('theirs', other, '2026-05-02T00:00:00Z');
  await add('paid', shop, '2026-05-31T23:59:59.999Z', {
    status: 'successful',
    session_status: 'completed',
    paid_at: new Date('2026-06-01'),
    blockchain_id: 'btc',
    address: ADDRESSES.btc,
    token_amount: 150_000n,
    token_decimals: 8,
    transaction_hash: 'f00d',
    commission_amount: 12,
  });
  await add('newest', shop, '2026-06-01T00:00:00Z', { customer_reference_id: 'order-1' });
});
afterAll(() => service.close());

async function listed(...flags: string[]): Promise<string[]> {
  const rows = await service.ask<{ id: string }[]>('payment', 'list', ...flags);
  return rows.map(({ id }) => Object.keys(ids).find(name => ids[name] === id) ?? id);
}

async function csv(...flags: string[]): Promise<string[]> {
  const { status, out, err } = await mpHere(['payment', 'list', '--csv', ...flags], service.env);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out.endsWith('\r\n')).toBe(true);
  return out.slice(0, -2).split('\r\n');
}

describe('mp payment list', () => {
  test.each<[string[], string[]]>([
    [[], ['newest', 'paid', 'theirs', 'oldest']],
    [
      ['--limit', '2'],
      ['newest', 'paid'],
    ],
    [['--status', 'successful'], ['paid']],
    [['--blockchain', 'btc'], ['paid']],
    [['--reference', 'order-1'], ['newest']],
    [['--reference', 'order'], []],
    [
      ['--since', '2026-05-01', '--until', '2026-05-31'],
      ['paid', 'theirs', 'oldest'],
    ],
    [['--since', '2026-05-01T00:00:00.001Z', '--until', '2026-05-31T00:00:00Z'], ['theirs']],
  ])('%j', async (flags, names) => {
    expect(await listed(...flags)).toEqual(names);
  });

  test('of a merchant, page by page', async () => {
    const own = ['--merchant', shop.merchant.id];
    expect(await listed(...own)).toEqual(['newest', 'paid', 'oldest']);
    expect(await listed(...own, '--status', 'pending')).toEqual(['newest', 'oldest']);
    expect(await listed(...own, '--before', ids.paid ?? '')).toEqual(['oldest']);
    expect(await listed('--before', ids.paid ?? '')).toEqual(['theirs', 'oldest']);
    const { out } = await mpHere(['payment', 'list', ...own, '--limit', '2'], service.env);
    expect(out).toMatch(/^id +createdAt +merchantId +status +amount +blockchainId +customerRef/);
    expect(out).toContain(`\n\nThere may be more: --before ${ids.paid}\n`);
  });

  test('shows the API’s payment, and what only operators see', async () => {
    const [payment] = await service.ask<object[]>('payment', 'list', '--blockchain', 'btc');
    expect(payment).toMatchObject({
      id: ids.paid,
      merchantId: shop.merchant.id,
      amount: 1000,
      commissionAmount: 12,
      tokenAmount: '0.0015',
      address: ADDRESSES.btc,
      transactionHash: 'f00d',
      flow: 'crypto',
    });
    expect(payment).not.toHaveProperty('history');
  });

  test('as CSV has one line each, quoted, without formulas', async () => {
    const [header, newest, paid, oldest, ...rest] = await csv('--merchant', shop.merchant.id);
    expect(header).toBe(HEADER);
    expect(rest).toEqual([]);
    expect(newest).toContain(`"${ids.newest}","2026-06-01T00:00:00.000Z","${shop.merchant.id}",`);
    expect(paid).toContain(',"successful","completed",1000,12,"merchant","split","btc","0.0015",');
    expect(oldest).toContain(
      `,"'=1+1","with ""quotes"", and a comma",,"amount_underpaid","Too little."`,
    );
    expect(await csv('--reference', 'nothing')).toEqual([HEADER]);
    expect(await csv('--limit', '1')).toEqual([HEADER, newest]);
    expect(await csv('--merchant', shop.merchant.id, '--before', ids.paid ?? '')).toEqual([
      HEADER,
      oldest,
    ]);
  });

  test('as CSV has all, however many, and stops when its reader is gone', async () => {
    const { merchant } = await addMerchant(service);
    const { id } = await addPayment(service.db, merchant, { created_at: new Date('2026-04-01') });
    await sql`
      insert into payments
      select (jsonb_populate_record(payments, jsonb_build_object(
               'id', gen_random_uuid(), 'created_at', created_at + number * interval '1 second'))).*
      from payments, generate_series(1, 2100) as number where id = ${id}`.execute(service.db);
    const [, ...lines] = await csv('--merchant', merchant.id);
    const times = lines.map(line => line.split(',')[1] ?? '');
    expect(new Set(lines).size).toBe(2101);
    expect(times).toEqual(times.toSorted().reverse());

    const out: string[] = [];
    const env = { ...service.env, NODE_ENV: 'test', MP_ACTOR: 'alice' };
    const terminal = { env, out: (text: string) => void out.push(text), err: () => undefined };
    const args = ['payment', 'list', '--csv', '--merchant', merchant.id];
    expect(await run(args, { ...terminal, isRead: () => false })).toBe(0);
    expect(out.join('').trimEnd().split('\r\n')).toHaveLength(1 + 1000);
  });

  test('refuses what does not exist', async () => {
    expect(await service.refused('payment', 'list', '--merchant', UNKNOWN)).toBe(
      `There is no merchant ${UNKNOWN}.`,
    );
    expect(await service.refused('payment', 'list', '--before', UNKNOWN)).toBe(
      `There is no payment ${UNKNOWN}.`,
    );
    expect(await service.refused('payment', 'list', '--blockchain', 'doge')).toBe(
      'There is no network doge.',
    );
  });
});
