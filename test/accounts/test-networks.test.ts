import { afterAll, beforeAll, expect, test } from 'vitest';
import { setNetwork, switchOffTestNetworks } from '#accounts/networks.ts';
import { type Environment, mpHere } from '../cli/mp.ts';
import { addMerchant, type MerchantWithKey, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { send } from '../helpers/signed-request.ts';
import { watchNetworks } from '../helpers/watch-networks.ts';

interface Listed {
  readonly id: string;
  readonly environment: string;
  readonly isActive: boolean;
}

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');

let service: TestApp;
let shop: MerchantWithKey;
let development: Environment;
let production: Environment;
beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
  development = { DATABASE_URL: service.databaseUrl, MASTER_KEY };
  const PUBLIC_URL = 'https://pay.example.test';
  production = { ...development, NODE_ENV: 'production', PUBLIC_URL };
});
afterAll(() => service.close());

/** The test networks that `mp network list` shows as active. */
async function listed(env: Environment): Promise<string[]> {
  const { status, out, err } = await mpHere(['network', 'list', '--json'], env);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  return JSON.parse(out)
    .filter(({ environment, isActive }: Listed) => environment === 'test' && isActive)
    .map(({ id }: Listed) => id);
}

/** All networks that the API offers. */
async function offered(): Promise<string[]> {
  const response = await send(service, shop, { path: '/external/v1/blockchains/active' });
  return response.json().map(({ id }: { id: string }) => id);
}

test('test networks are off in production unless an operator has switched them on', async () => {
  await mpHere(['network', 'set', 'eth', '--active', 'off'], development);
  expect(await listed(development)).toHaveLength(11);
  expect(await offered()).toHaveLength(12 - 1 + 11);

  expect(await listed(production)).toEqual([]);
  const mainnets = await offered();
  expect(mainnets).toHaveLength(12 - 1);
  expect(mainnets).not.toContain('btc-test');

  const on = ['network', 'set', 'btc-test', '--active', 'on'];
  expect(await mpHere(on, production)).toMatchObject({ status: 1 });
  await watchNetworks(service.db, ['btc-test']);
  await mpHere(on, production);
  expect(await listed(production)).toEqual(['btc-test']);
  expect(await offered()).toContain('btc-test');
  await mpHere(['network', 'set', 'btc-test', '--active', 'off'], production);
  expect(await listed(production)).toEqual([]);
  // Nothing is switched on again by itself.
  expect(await listed(development)).toEqual([]);
});

test('switching them off is in the audit log', async () => {
  const { out } = await mpHere(['audit', '--object', 'sol-dev', '--json'], development);
  expect(JSON.parse(out)).toEqual([
    expect.objectContaining({
      actor: 'service',
      action: 'network.set',
      detail: { is_active: false },
    }),
  ]);
});

test('several processes may start concurrently', async () => {
  await service.db
    .updateTable('networks')
    .set({ is_active: true, switched_at: null })
    .where('environment', '=', 'test')
    .execute();
  await setNetwork(operatorOf(service), 'eth-test', { active: true });
  const operator = { ...operatorOf(service), db: service.db };
  const switched = await Promise.all([1, 2, 3].map(() => switchOffTestNetworks(operator)));
  expect(switched.flat().length).toBe(10);
  expect(await listed(production)).toEqual(['eth-test']);
});
