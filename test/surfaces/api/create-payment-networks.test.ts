import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBranch } from '#accounts/branches.ts';
import { setNetwork } from '#accounts/networks.ts';
import { BLOCKCHAIN_IDS } from '#schemas/blockchain.ts';
import {
  ADDRESSES,
  addMerchant,
  type MerchantWithKey,
  operatorOf,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { countWritten, createPrompt, expectRefusal, requestPrompt } from '../../helpers/prompts.ts';

let service: TestApp;
let shop: MerchantWithKey;
let us: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  const { btc, eth, 'tron-usdc': tron } = ADDRESSES;
  shop = await addMerchant(service, { addresses: { btc, eth, 'tron-usdc': tron } });
  us = await addMerchant(service, { kind: 'us', addresses: {} });
});
afterAll(() => service.close());

async function offered(blockchainIds: unknown): Promise<string[]> {
  const { prompt } = await createPrompt(service, shop, { amount: 5000, blockchainIds });
  const row = await service.db
    .selectFrom('payments')
    .select('offered_blockchain_ids')
    .where('id', '=', prompt.id)
    .executeTakeFirstOrThrow();
  return row.offered_blockchain_ids;
}

async function refuses(
  key: MerchantWithKey,
  blockchainIds: unknown,
  errorCode: 'E1001' | 'E1020' | 'E1030',
  param?: string,
) {
  const before = await countWritten(service.db);
  const body = { amount: 5000, blockchainIds };
  expectRefusal(await requestPrompt(service, key, body), errorCode, param);
  const keyed = await requestPrompt(service, key, body, { 'idempotency-key': 'refused' });
  expectRefusal(keyed, errorCode, param);
  expect(await countWritten(service.db)).toEqual(before);
}

describe('an explicit list', () => {
  test('offers what it names, in the documented order', async () => {
    expect(await offered(['eth'])).toEqual(['eth']);
    expect(await offered(['eth', 'btc'])).toEqual(['btc', 'eth']);
  });

  test('keeps a repeated entry once', async () => {
    expect(await offered(['eth', 'btc', 'eth', 'eth'])).toEqual(['btc', 'eth']);
    expect(await offered(Array(24).fill('btc'))).toEqual(['btc']);
  });

  test('may name an inactive network that has an address', async () => {
    expect(await offered(['tron-usdc'])).toEqual(['tron-usdc']);
    expect(await offered(['tron-usdc', 'btc'])).toEqual(['btc', 'tron-usdc']);
  });

  const malformed: [string, unknown][] = [
    ['empty', []],
    ['25 entries', Array(25).fill('btc')],
    ['an unsupported network', ['btc', 'doge']],
    ['another spelling', ['BTC']],
    ['something else than text', ['btc', 7]],
    ['null', ['btc', null]],
    ['a nested list', [['btc']]],
    ['text', 'btc'],
    ['an object', { 0: 'btc' }],
    ['nothing but null', null],
  ];
  test.each(malformed)('is refused: %s', (_name, list) =>
    refuses(shop, list, 'E1001', 'blockchainIds'),
  );
  test.each(malformed)('is refused on US accounts too: %s', (_name, list) =>
    refuses(us, list, 'E1001', 'blockchainIds'),
  );

  test('needs an address for every entry', async () => {
    await refuses(shop, ['sol'], 'E1020', 'blockchainIds');
    await refuses(shop, ['btc', 'eth', 'avax'], 'E1020', 'blockchainIds');
    await refuses(shop, [...BLOCKCHAIN_IDS], 'E1020', 'blockchainIds');
  });

  test('is valid with all 24 networks, which US accounts ignore', () =>
    createPrompt(service, us, { amount: 5000, blockchainIds: [...BLOCKCHAIN_IDS] }));

  test('counts addresses of the main branch only', async () => {
    const merchant = await addMerchant(service);
    await createBranch(operatorOf(service), {
      merchantId: merchant.merchant.id,
      name: 'New main',
      main: true,
    });
    await refuses(merchant, ['btc'], 'E1020', 'blockchainIds');
    await refuses(merchant, undefined, 'E1020');
  });
});

describe('without a list', () => {
  test('a merchant without addresses is refused', async () => {
    await refuses(await addMerchant(service, { addresses: {} }), undefined, 'E1020');
  });

  test('a merchant with addresses on inactive networks only is refused', async () => {
    const { 'tron-usdc': tron } = ADDRESSES;
    const merchant = await addMerchant(service, { addresses: { 'tron-usdc': tron } });
    await refuses(merchant, undefined, 'E1020');
  });

  test('switching a network takes effect on the very next payment', async () => {
    const operator = operatorOf(service);
    expect(await offered(undefined)).toEqual(['btc', 'eth']);
    await setNetwork(operator, 'tron-usdc', { active: true });
    await setNetwork(operator, 'btc', { active: false });
    expect(await offered(undefined)).toEqual(['eth', 'tron-usdc']);
    await setNetwork(operator, 'tron-usdc', { active: false });
    await setNetwork(operator, 'btc', { active: true });
    expect(await offered(undefined)).toEqual(['btc', 'eth']);
  });
});

test('a merchant without a main branch is not configured', async () => {
  for (const kind of ['standard', 'us'] as const) {
    const merchant = await addMerchant(service, { kind, withoutMainBranch: true });
    await refuses(merchant, undefined, 'E1030');
    await refuses(merchant, ['btc'], 'E1030');
  }
});
