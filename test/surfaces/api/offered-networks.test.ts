import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ADDRESSES } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';
import { createPrompt, expectRefusal, requestPrompt } from '../../helpers/prompts.ts';
import { send } from '../../helpers/signed-request.ts';
import { SOON } from '../../helpers/soon.ts';
import { watchNetworks } from '../../helpers/watch-networks.ts';
import { ACTIVE, addOlderMerchant, ask, type OlderMerchant } from '../legacy/older-contract.ts';

/** Caches what it has read, as in production, and does not simulate. */
let service: TestApp;
let simulating: TestApp;
let shop: OlderMerchant;

beforeAll(async () => {
  service = await startTestApp({ env: { SIMULATION: 'off' }, remembers: true });
  simulating = await startTestApp({ beside: service });
  const { btc, eth, 'tron-usdc': tron } = ADDRESSES;
  shop = await addOlderMerchant(service, { addresses: { btc, eth, 'tron-usdc': tron } });
});
afterAll(async () => {
  await simulating.close();
  await service.close();
});

const idsOf = (networks: readonly { readonly id: string }[]) => networks.map(({ id }) => id);

/** IDs of the networks that the API lists. */
async function listed(by = service): Promise<string[]> {
  const answer = await send(by, shop, { path: '/external/v1/blockchains/active' });
  // The older contract caches nothing, so it may be ahead.
  if (by === simulating)
    expect((await ask(by, shop, { path: ACTIVE })).json()).toEqual(answer.json());
  return idsOf(answer.json());
}

/** The networks that a creation without a list offers, or the code of its refusal. */
async function offered(by = service): Promise<string> {
  const answer = (await requestPrompt(by, shop, { amount: 5000 })).json();
  if (answer.error !== undefined) return answer.error.errorCode;
  const { offered_blockchain_ids: ids } = await service.db
    .selectFrom('payments')
    .select('offered_blockchain_ids')
    .where('id', '=', answer.prompt.id)
    .executeTakeFirstOrThrow();
  return ids.join();
}

async function settleBy(settledBy: string, ...ids: string[]): Promise<void> {
  await sql`update networks set settled_by = ${settledBy} where id = any(${ids})`.execute(
    service.db,
  );
}

test('without a node and without simulation nothing is offered', async () => {
  expect(await listed()).toEqual([]);
  expect((await ask(service, shop, { path: ACTIVE })).body).toBe('[]');
  expectRefusal(await requestPrompt(service, shop, { amount: 5000 }), 'E1020');
  expect((await listed(simulating)).length).toBe(23);
  expect(await offered(simulating)).toBe('btc,eth');
});

test('an explicit list is accepted, and its checkout offers nothing', async () => {
  await createPrompt(service, shop, { amount: 5000, blockchainIds: ['btc'] });
  const checkout = await openCheckout(service, shop, { blockchainIds: ['btc'] });
  expect((await checkout.get()).body).toContain('There is no way to pay just now');
  const refused = await checkout.post(
    'network',
    { network: 'btc' },
    { accept: 'application/json' },
  );
  expectRefusal(refused, 'E1040');
});

test('networks are offered as soon as a node settles them', async () => {
  const checkout = await openCheckout(service, shop, { blockchainIds: ['btc', 'eth'] });
  await watchNetworks(service.db, ['btc', 'tron-usdc']);
  await vi.waitUntil(async () => (await listed()).join() === 'btc', SOON);
  expect(idsOf((await ask(service, shop, { path: ACTIVE })).json())).toEqual(['btc']);
  await vi.waitUntil(async () => (await offered()) === 'btc', SOON);
  const page = (await checkout.get()).body;
  expect(page).toContain('name="network" value="btc">');
  expect(page).not.toContain('value="eth"');
  await checkout.pick('btc');
});

test('a network with insufficient nodes is offered nowhere', async () => {
  await settleBy('nobody', 'btc');
  await vi.waitUntil(async () => (await listed()).length === 0, SOON);
  expect(await listed(simulating)).not.toContain('btc');
  expect(await offered(simulating)).toBe('eth');
  const checkout = await openCheckout(simulating, shop, { blockchainIds: ['btc'] });
  const json = { accept: 'application/json' };
  expectRefusal(await checkout.post('network', { network: 'btc' }, json), 'E1040');
});
