import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { requestPrompt } from '../helpers/prompts.ts';
import { send } from '../helpers/signed-request.ts';

const MOST = 3;
const SOON = { timeout: 5_000, interval: 10 };

let service: TestApp;
let shop: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp({ env: { REQUESTS_IN_FLIGHT_MAX: String(MOST) } });
  shop = await addMerchant(service);
});
afterAll(() => service.close());

const list = () => send(service, shop, { path: '/external/v1/payments' });

test('as many requests as may be are worked on; others are told at once to come again', async () => {
  const waiting = await service.db.transaction().execute(async blocker => {
    await sql`lock table payments in access exclusive mode`.execute(blocker);
    const requests = Array.from({ length: MOST }, () =>
      requestPrompt(service, shop, { amount: 5000 }),
    );
    const blocked = async () => {
      const { rows } = await sql`
        select from pg_locks where not granted and relation = 'payments'::regclass`.execute(
        service.db,
      );
      return rows.length;
    };
    await expect.poll(blocked, SOON).toBe(MOST);

    const refused = await list();
    expect(refused.statusCode).toBe(503);
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'x-mp-should-retry': 'true' });
    const create = await requestPrompt(service, shop, { amount: 5000 });
    expect(create.json().error.errorCode).toBe('E5002');
    for (const url of ['/healthz', '/readyz', '/docs/errors/E5002']) {
      expect((await service.app.inject({ url })).statusCode).toBe(200);
    }
    return { requests };
  });
  const answers = await Promise.all(waiting.requests);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201]);
  expect((await list()).json().data).toHaveLength(MOST);
});

test('a refused request makes room as an answered one does', async () => {
  const bad = { path: '/external/v1/payments?limit=0' };
  for (let time = 0; time < 3 * MOST; time++) {
    expect((await send(service, shop, bad)).statusCode).toBe(400);
  }
  expect((await list()).statusCode).toBe(200);
});

test('what an overload refuses leaves its line, and no failure', async () => {
  const failures = service.logs.filter(({ msg }) => msg === 'request failed');
  expect(failures).toEqual([]);
  expect(service.logs).toContainEqual(
    expect.objectContaining({ msg: 'request', status: 503, errorCode: 'E5002' }),
  );
});
