import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { createPrompt } from '../../helpers/prompts.ts';
import { expectRefusal } from '../../helpers/refusal.ts';
import { send } from '../../helpers/signed-request.ts';

const LIST = '/external/v1/payments';
const EVENTS = '/external/v1/events';

let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
});
afterAll(() => service.close());

const create = (reference: string) =>
  send(service, shop, {
    method: 'POST',
    path: '/external/v1/payments/prompt',
    body: { amount: 5000, customerReferenceId: reference },
  });

async function found(reference: string): Promise<number> {
  const list = await send(service, shop, { path: `${LIST}?customerReferenceId=${reference}` });
  return list.json().data.length;
}

test('an insert without a partition for its month fails as a whole, and works once that is made', async () => {
  await createPrompt(service, shop, { amount: 1000, customerReferenceId: 'before' });
  for (const table of ['webhook_attempts', 'webhook_deliveries', 'events']) {
    await sql`drop table ${sql.table(`${table}_before`)}`.execute(service.db);
  }
  const refused = await create('order-1');
  expectRefusal(refused, 'E5002');
  expect(await found('order-1')).toBe(0);
  // As the worker does.
  for (const table of ['events', 'webhook_deliveries', 'webhook_attempts']) {
    await sql`select make_month_partition(${table}, date_trunc('month', now()))`.execute(
      service.db,
    );
  }
  expect((await create('order-1')).statusCode).toBe(201);
  expect(await found('order-1')).toBe(1);
});

test('an insert that interrupted partitioning has no room for fails as a whole, too', async () => {
  await sql`
    alter table events add constraint before_202001 check (created_at < '2020-01-01') not valid`.execute(
    service.db,
  );
  try {
    expectRefusal(await create('order-2'), 'E5002');
    expect(await found('order-2')).toBe(0);
  } finally {
    await sql`alter table events drop constraint before_202001`.execute(service.db);
  }
});

test('an ID from before the oldest month, or after the newest, is not found', async () => {
  const distances = [-40 * 365, -200, 30 * 365];
  for (const days of distances) {
    const id = uuidv7({ msecs: service.clock.now + days * 24 * 60 * 60_000 });
    for (const path of [`${EVENTS}/${id}`, `${LIST}/${id}`]) {
      expect((await send(service, shop, { path })).statusCode).toBe(404);
    }
  }
});
