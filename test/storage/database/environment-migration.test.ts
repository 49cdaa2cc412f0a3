import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeAddress } from '#accounts/deposit-addresses.ts';
import { up } from '../../../migrations/0051_environments.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { makeAgain } from './make-again.ts';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const UNDO = [
  sql`drop function guard_environment, guard_test_address cascade`,
  sql`alter table merchants drop column environment cascade`,
];

test('a merchant is live unless all it ever had are addresses on test networks', async () => {
  const onTest = { 'btc-test': ADDRESSES['btc-test'] };
  const ids = {
    test: (await addMerchant(service, { addresses: onTest })).merchant.id,
    both: (await addMerchant(service, { addresses: { ...onTest, btc: ADDRESSES.btc } })).merchant
      .id,
    main: (await addMerchant(service)).merchant.id,
    once: (await addMerchant(service, { addresses: { ...onTest, eth: ADDRESSES.eth } })).merchant
      .id,
    none: (await addMerchant(service, { addresses: {} })).merchant.id,
    us: (await addMerchant(service, { kind: 'us', addresses: onTest })).merchant.id,
  };
  await removeAddress(operatorOf(service), { merchantId: ids.once }, 'eth');
  await makeAgain(service.db, up, UNDO);
  const rows = await service.db.selectFrom('merchants').select(['id', 'environment']).execute();
  const found = Object.entries(ids).map(([name, id]) => [
    name,
    rows.find(row => row.id === id)?.environment,
  ]);
  expect(Object.fromEntries(found)).toEqual({
    test: 'test',
    both: 'live',
    main: 'live',
    once: 'live',
    none: 'live',
    us: 'live',
  });
});
