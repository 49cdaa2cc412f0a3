import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Merchant } from '../../src/database/account-tables.ts';
import { listPaymentReports } from '../../src/partners/payment-reports.ts';
import { foldPartnerDeltas } from '../../src/repositories/partners/deltas.ts';
import { ADDRESSES, addMerchant, addPartner, type PartnerWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPayment } from '../helpers/payments.ts';

const PAYMENTS = 120;
const REFERENCES = ['a%b', 'A_b', 'ab\\', 'order-1', 'order-10', 'abab', 'ä🧾ä', '', null];

let service: TestApp;
let partner: PartnerWithKey;
let merchants: Merchant[];

beforeAll(async () => {
  service = await startTestApp();
  partner = await addPartner(service);
  const partnerId = partner.partner.id;
  merchants = [];
  for (const name of ['abba', 'Order House', '%', 'zzz']) {
    merchants.push((await addMerchant(service, { partnerId, name })).merchant);
  }
  for (let index = 0; index < PAYMENTS; index++) {
    const merchant = merchants[index % merchants.length];
    if (merchant === undefined) throw new Error('no merchant');
    const chosen = index % 3 === 0;
    await addPayment(service.db, merchant, {
      // Several at each instant, so that the ID decides as well.
      created_at: new Date(service.clock.now + Math.floor(index / 4) * 1000),
      customer_reference_id: REFERENCES[index % REFERENCES.length] ?? null,
      ...(chosen ? { blockchain_id: 'btc', address: ADDRESSES.btc } : {}),
      transaction_hash: chosen ? `${index}ab0rder`.padEnd(64, 'Ab') : null,
    });
  }
  await foldPartnerDeltas(service.db, PAYMENTS - 10);
});
afterAll(() => service.close());

const term = fc.oneof(
  fc.constantFrom(
    'a',
    'ab',
    'order',
    'ORDER-1',
    '%',
    '_',
    '\\',
    'bc1q',
    'ä',
    '🧾',
    '-7',
    '0rder',
    'zz',
  ),
  fc
    .array(fc.constantFrom('a', 'b', '%', '_', 'o', '-', '1', '0', '9'), {
      minLength: 1,
      maxLength: 15,
    })
    .map(characters => characters.join('')),
);

test('search, names, addresses and hashes match as a plain scan does, on every page', async () => {
  await fc.assert(
    fc.asyncProperty(
      term,
      fc.constantFrom('search', 'merchantName', 'addressSearch', 'txHash', 'transactionId'),
      fc.constantFrom(undefined, 'btc'),
      fc.integer({ min: 1, max: 30 }),
      async (text, filter, blockchainId, limit) => {
        const expected = await scan(filter, text, blockchainId);
        const seen: string[] = [];
        for (let page = 1; seen.length < expected.length || page === 1; page++) {
          const { data, total } = await listPaymentReports(service.db, partner.partner.id, {
            [filter]: text,
            ...(blockchainId === 'btc' && { blockchainId }),
            limit,
            page,
          });
          expect(total).toBe(expected.length);
          seen.push(...data.map(row => row.id));
          if (data.length === 0) break;
        }
        expect(seen).toEqual(expected);
      },
    ),
    { numRuns: 120 },
  );
});

test.each([
  ['an ID', '01890000-0000-7000-8000-000000000abc'],
  ['a hash', `0x${'ab'.repeat(32)}`],
  ['a reference', 'subscription-2026-1'],
])('%s is found where it is the whole, and where it is part of a reference', async (_, text) => {
  const [merchant] = merchants;
  if (merchant === undefined) throw new Error('no merchant');
  const created_at = new Date(service.clock.now + 3_600_000);
  const add = async (values: object) =>
    (await addPayment(service.db, merchant, { created_at, ...values })).id;
  const expected = [
    await add({ customer_reference_id: text }),
    await add({ customer_reference_id: `renewal of ${text.toUpperCase()}.` }),
    ...(text.startsWith('0x') ? [await add({ transaction_hash: text })] : []),
    ...(text.startsWith('0189') ? [await add({ id: text })] : []),
  ];
  const { data, total } = await listPaymentReports(service.db, partner.partner.id, {
    search: text,
  });
  expect(data.map(row => row.id).sort()).toEqual(expected.sort());
  expect(total).toBe(expected.length);
});

/** What the filter means, said in the plainest SQL. */
async function scan(
  filter: string,
  text: string,
  blockchainId: string | undefined,
): Promise<string[]> {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  const columns: Record<string, string[]> = {
    search: [
      'm.name',
      'm.id::text',
      'p.id::text',
      'address',
      'transaction_hash',
      'customer_reference_id',
    ],
    merchantName: ['m.name'],
    addressSearch: ['address'],
    txHash: ['transaction_hash'],
    transactionId: ['p.id::text'],
  };
  const matches = (columns[filter] ?? []).map(column => sql`${sql.raw(column)} ilike ${pattern}`);
  const { rows } = await sql<{ id: string }>`
    select p.id from payments p join merchants m on m.id = p.merchant_id
    where p.partner_id = ${partner.partner.id} and (${sql.join(matches, sql` or `)})
      and ${blockchainId ?? null}::text is not distinct from
          case when ${blockchainId ?? null}::text is null then null else p.blockchain_id end
    order by p.created_at desc, p.id desc`.execute(service.db);
  return rows.map(row => row.id);
}
