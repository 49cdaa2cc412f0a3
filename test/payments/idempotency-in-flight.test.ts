import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tryLockIdempotencyKey } from '#storage/repositories/payments/idempotency-keys.ts';
import {
  addMerchant,
  addPartner,
  type MerchantWithKey,
  type PartnerWithKey,
} from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { PROMPT_PATH } from '../helpers/prompt-path.ts';
import { countWritten, expectRefusal, requestPrompt } from '../helpers/prompts.ts';

const BODY = '{"amount":5000}';

let service: TestApp;
let replica: TestApp;
let shop: MerchantWithKey;
let partner: PartnerWithKey;

beforeAll(async () => {
  service = await startTestApp();
  replica = await startTestApp({ beside: service });
  shop = await addMerchant(service);
  partner = await addPartner(service);
});
afterAll(async () => {
  await replica.close();
  await service.close();
});

/** Runs `check` while another connection executes a request under the account's key. */
function whileInFlight(accountId: string, key: string, check: () => Promise<void>): Promise<void> {
  const scope = { accountId, route: `POST ${PROMPT_PATH}`, key };
  return service.db.transaction().execute(async tx => {
    expect(await tryLockIdempotencyKey(tx, scope)).toBe(true);
    await check();
  });
}

describe('while the original runs', () => {
  const header = { 'idempotency-key': 'running' };
  const refusesInFlight = (check: () => Promise<void>) =>
    whileInFlight(shop.merchant.id, 'running', check);

  test('every other request with its key gets E4003 from every replica', async () => {
    const before = await countWritten(service.db);
    await refusesInFlight(async () => {
      for (const instance of [service, replica]) {
        for (const body of [BODY, '{"amount":7000}']) {
          const response = await requestPrompt(instance, shop, body, header);
          expectRefusal(response, 'E4003');
          expect(response.headers['retry-after']).toBe('5');
        }
      }
    });
    expect(await countWritten(service.db)).toEqual(before);
  });

  test('other keys, other accounts and requests without a key go on', async () => {
    const other = await addMerchant(service);
    await refusesInFlight(async () => {
      expect((await requestPrompt(service, shop, BODY)).statusCode).toBe(201);
      const another = { 'idempotency-key': 'running2' };
      expect((await requestPrompt(service, shop, BODY, another)).statusCode).toBe(201);
      expect((await requestPrompt(service, other, BODY, header)).statusCode).toBe(201);
    });
  });

  test('E1000, E4001, E1001 and E1002 come before E4003', async () => {
    await refusesInFlight(async () => {
      const refused = (body: string) => requestPrompt(service, shop, body, header);
      expectRefusal(await refused('{'), 'E1000');
      expectRefusal(await refused('{"amount":1}'), 'E1001', 'amount');
      expectRefusal(await refused('{"amount":5000,"a":1}'), 'E1002', 'a');
      expectRefusal(await refused('{"amount":5000,"merchantId":"x"}'), 'E1001', 'merchantId');
    });
    await whileInFlight(partner.partner.id, 'running', async () => {
      expectRefusal(await requestPrompt(service, partner, BODY, header), 'E1001', 'merchantId');
    });
  });

  test('E4003 comes before business rules', async () => {
    await refusesInFlight(async () => {
      const body = '{"amount":5000,"blockchainIds":["sol"],"redirectUrl":"nonsense"}';
      expectRefusal(await requestPrompt(service, shop, body, header), 'E4003');
    });
    const foreign = JSON.stringify({ amount: 5000, merchantId: shop.merchant.id });
    await whileInFlight(partner.partner.id, 'running', async () => {
      expectRefusal(await requestPrompt(service, partner, foreign, header), 'E4003');
    });
  });

  test('the key is free again when it ends without a response', async () => {
    await refusesInFlight(async () => undefined);
    expect((await requestPrompt(replica, shop, BODY, header)).statusCode).toBe(201);
  });
});

test('twenty keys, ten duplicates each, two replicas: twenty payments', async () => {
  const KEYS = 20;
  const DUPLICATES = 10;
  /** Keys in flight at once: enough to collide, few enough for the tests' pool. */
  const WAVE = 10;
  const merchant = await addMerchant(service);
  const outcomes = new Map<string, number>();
  for (let wave = 0; wave < KEYS; wave += WAVE) {
    const requests = Array.from({ length: WAVE * DUPLICATES }, (_, index) =>
      requestPrompt(index % 2 === 0 ? service : replica, merchant, BODY, {
        'idempotency-key': `storm ${wave + (index % WAVE)}`,
      }),
    );
    for (const response of await Promise.all(requests)) {
      const { errorCode = 'created' } = response.json().error ?? {};
      const replayed = response.headers['idempotent-replayed'] === 'true';
      const outcome = replayed ? 'replayed' : errorCode;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  }
  const { created, E4003 = 0, replayed = 0, ...others } = Object.fromEntries(outcomes);
  expect(others).toEqual({});
  expect(created).toBe(KEYS);
  expect(E4003 + replayed).toBe(KEYS * (DUPLICATES - 1));
  const rows = await service.db
    .selectFrom('payments')
    .innerJoin('events', 'events.payment_id', 'payments.id')
    .select('events.id')
    .where('payments.merchant_id', '=', merchant.merchant.id)
    .execute();
  expect(rows).toHaveLength(KEYS);
});
