import fc from 'fast-check';
import { parse as parseUuid, version as uuidVersion } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  disableEndpoint,
  enableEndpoint,
  setEndpoint,
} from '#payments/webhooks/change-endpoint.ts';
import { ENDPOINTS_MAXIMUM, requireEnabledEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import { redeliver } from '#payments/webhooks/redeliver.ts';
import { PAYMENT_EVENT_TYPES, type PaymentEventType } from '#schemas/event.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { type Receiver, startReceiver, status } from './receiver.ts';
import { openShop } from './shop.ts';

let database: TestDatabase;
let receiver: Receiver;
beforeAll(async () => {
  [database, receiver] = await Promise.all([cloneDatabase(), startReceiver()]);
});
afterAll(async () => {
  await receiver.close();
  await database.drop();
});

test('exactly the events of committed transactions are sent, each once to every subscriber', async () => {
  const types = fc.constantFrom(...PAYMENT_EVENT_TYPES);
  const endpoint = fc.record({
    types: fc.array(types, { maxLength: 3 }),
    disabled: fc.boolean(),
  });
  const transaction = fc.record({
    types: fc.array(types, { maxLength: 3 }),
    commits: fc.boolean(),
  });
  const worlds = fc.tuple(
    fc.array(endpoint, { maxLength: 4 }),
    fc.array(transaction, { maxLength: 5 }),
  );
  await fc.assert(
    fc.asyncProperty(worlds, async ([endpoints, transactions]) => {
      const shop = await openShop(database);
      const expected: string[] = [];
      const committed = transactions.filter(each => each.commits).flatMap(each => each.types);
      for (const [index, wanted] of endpoints.entries()) {
        const { endpoint: added } = await shop.addEndpoint(
          `${receiver.url}&endpoint=${index}`,
          wanted.types,
        );
        if (wanted.disabled) await disableEndpoint(shop.operator, added.id, 'disabled-by Ada');
        const wants = (type: PaymentEventType) =>
          wanted.types.length === 0 || wanted.types.includes(type);
        if (!wanted.disabled) {
          expected.push(...committed.filter(wants).map(type => `${index} ${type}`));
        }
      }
      const stranger = await shop.addMerchant();
      await shop.addEndpoint(`${receiver.url}&endpoint=stranger`, [], stranger);
      for (const each of transactions) {
        const undo = new Error('rolled back');
        const work = shop.db.transaction().execute(async tx => {
          for (const type of each.types) await shop.tell(type, tx);
          if (!each.commits) throw undo;
        });
        await work.catch(error => expect(error).toBe(undo));
      }
      receiver.requests.length = 0;
      await shop.attemptAll();
      const got = receiver.requests.map(({ path, event }) => {
        return `${new URLSearchParams(path.split('?')[1]).get('endpoint')} ${event.type}`;
      });
      expect(got.sort()).toEqual(expected.sort());
    }),
    { numRuns: 12 },
  );
});

test('a delivery is redelivered by hand, at once and with its own schedule', async () => {
  const shop = await openShop(database);
  const { endpoint } = await shop.addEndpoint(receiver.url);
  receiver.requests.length = 0;
  receiver.answer = status(500);
  await shop.tell();
  await shop.attemptAll();
  const [original] = await shop.deliveries();
  if (original === undefined) throw new Error('no delivery');
  expect(original.status).toBe('pending');

  receiver.answer = status(200);
  const again = await redeliver(shop.operator, original.id);
  expect(again).toMatchObject({
    event_id: original.event_id,
    redelivery_of: original.id,
    status: 'pending',
    attempts: 0,
    event_type: 'payment_prompt.created',
  });
  await shop.attemptAll();
  expect((await shop.deliveries()).map(({ id, status: state }) => ({ id, state }))).toEqual(
    expect.arrayContaining([
      { id: original.id, state: 'cancelled' },
      { id: again.id, state: 'succeeded' },
    ]),
  );
  // A delivery that has arrived can be redelivered, too; it is the same event.
  await redeliver(shop.operator, again.id);
  await shop.attemptAll();
  expect(receiver.requests).toHaveLength(3);
  expect(new Set(receiver.requests.map(({ event }) => event.id)).size).toBe(1);

  await disableEndpoint(shop.operator, endpoint.id, 'disabled-by Ada');
  await expect(redeliver(shop.operator, again.id)).rejects.toThrow('is disabled: Disabled by Ada.');
  await expect(redeliver(shop.operator, endpoint.id)).rejects.toThrow('There is no delivery');
});

test('a delivery that became due while its endpoint was disabled is cancelled, not sent', async () => {
  const shop = await openShop(database);
  const { endpoint } = await shop.addEndpoint(receiver.url);
  receiver.requests.length = 0;
  // An event that commits while the endpoint is being disabled.
  await shop.db.transaction().execute(async tx => {
    await shop.tell('payment_prompt.created', tx);
    await disableEndpoint(shop.operator, endpoint.id, 'disabled-by Ada');
  });
  expect(await shop.deliveries()).toMatchObject([{ status: 'pending' }]);
  await shop.attemptAll();
  expect(await shop.deliveries()).toMatchObject([{ status: 'cancelled' }]);
  expect(receiver.requests).toEqual([]);
});

test('a merchant has at most 16 endpoints, also when several are added at once', async () => {
  const shop = await openShop(database);
  let count = 0;
  const add = () => shop.addEndpoint(`${receiver.url}&endpoint=${++count}`);
  const results = await Promise.allSettled(Array.from({ length: ENDPOINTS_MAXIMUM + 3 }, add));
  const added = results.filter(result => result.status === 'fulfilled');
  expect(added).toHaveLength(ENDPOINTS_MAXIMUM);
  await expect(add()).rejects.toThrow('A merchant may have at most 16 webhook endpoints.');
  // A disabled one makes room.
  const [first] = added;
  if (first === undefined) throw new Error('no endpoint');
  const { id } = first.value.endpoint;
  await disableEndpoint(shop.operator, id, 'disabled-by Ada');
  await expect(requireEnabledEndpoint(shop.db, id)).rejects.toThrow('is disabled');
  await add();
});

test('two enabled endpoints of a merchant never have one URL, however they come to it', async () => {
  const shop = await openShop(database);
  const url = 'https://shop.example.com/hooks';
  // Concurrently, with other spellings.
  const spellings = [
    url,
    'https://SHOP.example.com:443/hooks',
    'https://shop.example.com/a/../hooks',
  ];
  const results = await Promise.allSettled(spellings.map(spelling => shop.addEndpoint(spelling)));
  const [first, ...more] = results.flatMap(result =>
    result.status === 'fulfilled' ? [result.value.endpoint.id] : [],
  );
  if (first === undefined) throw new Error('no endpoint');
  expect(more).toEqual([]);
  const taken = `The merchant's webhook endpoint ${first} has this URL already.`;
  await expect(shop.addEndpoint(url)).rejects.toThrow(taken);

  const { endpoint: second } = await shop.addEndpoint(`${url}/2`);
  const allowPrivateAddresses = true;
  const set = (id: string) => setEndpoint(shop.operator, id, { url, allowPrivateAddresses });
  await expect(set(second.id)).rejects.toThrow(taken);
  expect(await set(first)).toMatchObject({ id: first, url });

  await disableEndpoint(shop.operator, first, 'disabled-by Ada');
  expect(await set(second.id)).toMatchObject({ url });
  await expect(enableEndpoint(shop.operator, first)).rejects.toThrow(`endpoint ${second.id} has`);
  // Other merchants may use the same server.
  await shop.addEndpoint(url, [], await shop.addMerchant());
});

test('deliveries are numbered by time, so that an index grows at its end', async () => {
  const shop = await openShop(database);
  for (const name of ['a', 'b']) await shop.addEndpoint(`${receiver.url}&endpoint=${name}`);
  for (const later of [0, 1, 86_400_000]) {
    shop.clock.now += later;
    await shop.tell();
  }
  const deliveries = await shop.deliveries();
  expect(deliveries).toHaveLength(6);
  for (const { id, created_at } of deliveries) {
    expect(parseUuid(id)).toHaveLength(16);
    expect(uuidVersion(id)).toBe(7);
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBe(created_at.getTime());
  }
  expect(new Set(deliveries.map(({ id }) => id.slice(19))).size).toBe(6);
});
