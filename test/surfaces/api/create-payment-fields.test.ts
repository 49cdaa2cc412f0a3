import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { countWritten, createPrompt, expectRefusal, requestPrompt } from '../../helpers/prompts.ts';
import { send } from '../../helpers/signed-request.ts';

let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service, { domains: ['shop.example.com'] });
});
afterAll(() => service.close());

/** Expects a refusal that leaves nothing behind, with or without an idempotency key. */
async function refuses(body: unknown, errorCode: 'E1000' | 'E1001' | 'E1002', param?: string) {
  const before = await countWritten(service.db);
  expectRefusal(await requestPrompt(service, shop, body), errorCode, param);
  const keyed = await requestPrompt(service, shop, body, { 'idempotency-key': 'refused' });
  expectRefusal(keyed, errorCode, param);
  expect(await countWritten(service.db)).toEqual(before);
}

describe('amount', () => {
  test.each([
    ['50', 50],
    ['100000000', 100_000_000],
    ['50.0', 50],
    ['1e3', 1000],
    ['5.0E+2', 500],
  ])('%s is accepted', async (text, cents) => {
    const { prompt } = await createPrompt(service, shop, `{"amount":${text}}`);
    expect(prompt.amount).toBe(cents);
  });

  test.each([
    '49',
    '100000001',
    '50.5',
    '0.5',
    '-50',
    '0',
    '1e400',
    '9007199254740993',
    '99999999.999999999',
    '49.999999999999999999',
    '"50"',
    '"5000"',
    'true',
    'null',
    '[5000]',
    '{"cents":5000}',
  ])('%s is refused', text => refuses(`{"amount":${text}}`, 'E1001', 'amount'));

  test('is required', () => refuses({ note: 'free' }, 'E1001', 'amount'));
});

describe('text fields', () => {
  const fields = [
    ['note', 500],
    ['customerReferenceId', 255],
  ] as const;

  test.each(fields)('%s may have %i characters', async (field, maximum) => {
    for (const character of ['a', 'é', '漢', '😀']) {
      await createPrompt(service, shop, { amount: 5000, [field]: character.repeat(maximum) });
    }
    await createPrompt(service, shop, { amount: 5000, [field]: '' });
  });

  test.each(fields)('%s may have no more than %2$i', async (field, maximum) => {
    for (const character of ['a', '😀']) {
      const body = { amount: 5000, [field]: character.repeat(maximum + 1) };
      await refuses(body, 'E1001', field);
    }
  });

  test('redirectUrl may have 2048 characters and no more', async () => {
    const start = 'https://shop.example.com/';
    const longest = start.padEnd(2048, 'a');
    const { prompt } = await createPrompt(service, shop, { amount: 5000, redirectUrl: longest });
    expect(prompt.redirectUrl).toBe(longest);
    await refuses({ amount: 5000, redirectUrl: `${longest}a` }, 'E1001', 'redirectUrl');
  });

  test.each(['note', 'redirectUrl', 'customerReferenceId'])(
    '%s must be text that PostgreSQL and UTF-8 can hold',
    async field => {
      for (const value of ['12', 'null', 'true', '["a"]', '{}', '"a\\u0000b"', '"\\ud83d"']) {
        await refuses(`{"amount":5000,"${field}":${value}}`, 'E1001', field);
      }
    },
  );

  test.each([
    ['empty', ''],
    ['spaces kept', '  order 7 \t'],
    ['composed', 'caf\u00e9'],
    ['decomposed', 'cafe\u0301'],
    ['beyond the basic plane', '𝒪rder-😀-👩‍👩‍👧‍👦'],
    ['right to left', '\u202eabc\u200f שלום'],
    ['quotes and escapes', `'; drop table payments; -- "\\ \u2028`],
    ['noncharacters', '\uffff\u{10ffff}\ufeff'],
  ])('customerReferenceId is echoed byte for byte: %s', async (_name, reference) => {
    const body = { amount: 5000, customerReferenceId: reference };
    const { prompt } = await createPrompt(service, shop, body);
    expect(prompt.customerReferenceId).toBe(reference);
    const { body: read } = await send(service, shop, {
      path: `/external/v1/payments/${prompt.id}`,
    });
    expect(JSON.parse(read).customerReferenceId).toBe(reference);
    const query = new URLSearchParams({ customerReferenceId: reference });
    const list = await send(service, shop, { path: `/external/v1/payments?${query}` });
    expect(list.json().data).toContainEqual(prompt);
    const events = await service.db
      .selectFrom('events')
      .select('data')
      .where('payment_id', '=', prompt.id)
      .execute();
    expect(events[0]?.data).toMatchObject({ customerReferenceId: reference });
  });

  test('a composed and a decomposed reference are different', async () => {
    const query = new URLSearchParams({ customerReferenceId: 'cafe\u0301' });
    const list = await send(service, shop, { path: `/external/v1/payments?${query}` });
    expect(list.json().data).toHaveLength(1);
  });
});

describe('unknown fields', () => {
  test.each(['payer', 'Amount', 'amount ', 'currency', '', 'toString', 'a/b~c', 'süß'])(
    '"%s" is named',
    field => refuses({ amount: 5000, [field]: 1 }, 'E1002', field),
  );

  test('they are not accepted in the query either', async () => {
    const path = '/external/v1/payments/prompt?dry=1';
    expectRefusal(await send(service, shop, { path, body: { amount: 5000 } }), 'E1002', 'dry');
  });
});

test.each(['[]', '"text"', '5000', 'null', 'true'])('a body of %s is no object', body =>
  refuses(body, 'E1001'),
);

test('merchantId is not accepted from a merchant key, not even its own', async () => {
  await refuses({ amount: 5000, merchantId: shop.merchant.id }, 'E1001', 'merchantId');
  await refuses({ amount: 5000, merchantId: 'mine' }, 'E1001', 'merchantId');
});
