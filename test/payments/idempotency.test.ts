import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { signingHeaders } from '#client/index.ts';
import { addKey, addMerchant, type MerchantWithKey, operatorOf } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { PROMPT_PATH } from '../helpers/prompt-path.ts';
import { countWritten, expectRefusal, requestPrompt } from '../helpers/prompts.ts';
import { send } from '../helpers/signed-request.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const BODY = '{"amount":5000,"note":"a"}';

let service: TestApp;
let shop: MerchantWithKey;
let keys = 0;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
});
afterAll(() => service.close());

/** A key no other test has used. */
const freshKey = () => `key ${++keys}`;
const create = (key: string, body: unknown = BODY, by: MerchantWithKey = shop) =>
  requestPrompt(service, by, body, { 'idempotency-key': key });

/** Expects a new payment. */
async function creates(key: string, body: unknown = BODY, by: MerchantWithKey = shop) {
  const response = await create(key, body, by);
  expect(response.statusCode, response.body).toBe(201);
  expect(response.headers['idempotent-replayed']).toBeUndefined();
  return response;
}

describe('a repeated request', () => {
  test('gets the same status and bytes, and says so', async () => {
    const key = freshKey();
    const original = await creates(key);
    const before = await countWritten(service.db);
    for (let repeat = 0; repeat < 3; repeat++) {
      const replay = await create(key);
      expect(replay.statusCode).toBe(201);
      expect(replay.rawPayload).toEqual(original.rawPayload);
      expect(replay.headers['content-type']).toBe(original.headers['content-type']);
      expect(replay.headers['idempotent-replayed']).toBe('true');
      expect(replay.headers['x-request-id']).not.toBe(original.headers['x-request-id']);
    }
    expect(await countWritten(service.db)).toEqual(before);
  });

  test('is replayed even if it would be refused by now', async () => {
    const merchant = await addMerchant(service);
    const key = freshKey();
    const original = await creates(key, BODY, merchant);
    await service.db
      .updateTable('branches')
      .set({ is_main: false })
      .where('merchant_id', '=', merchant.merchant.id)
      .execute();
    expect((await create(key, BODY, merchant)).body).toBe(original.body);
    // Whether the caller may make requests at all is checked first.
    await setMerchant(operatorOf(service), merchant.merchant.id, { status: 'inactive' });
    expectRefusal(await create(key, BODY, merchant), 'E2008');
  });

  test.each([
    ['white space', '{"amount": 5000,"note":"a"}'],
    ['a line feed at its end', `${BODY}\n`],
    ['the order of its fields', '{"note":"a","amount":5000}'],
    ['an escape', '{"amount":5000,"note":"\\u0061"}'],
    ['another spelling of a number', '{"amount":5000.0,"note":"a"}'],
    ['its content', '{"amount":5001,"note":"a"}'],
  ])('is another one when it differs in %s', async (_name, body) => {
    const key = freshKey();
    await creates(key);
    expectRefusal(await create(key, body), 'E4002');
    expect((await create(key)).headers['idempotent-replayed']).toBe('true');
  });

  test('is not recognised without a key', async () => {
    const responses = [
      await requestPrompt(service, shop, BODY),
      await requestPrompt(service, shop, BODY),
    ];
    const [first, second] = responses.map(response => response.json().prompt.id);
    expect(first).not.toBe(second);
  });
});

/** A header value as Node reads it when its sender wrote UTF-8. */
const inUtf8 = (text: string) => Buffer.from(text).toString('latin1');

describe('a key', () => {
  test.each([
    ['empty', ''],
    ['spaces', '   '],
    ['a no-break space', '\u00a0'],
    ['an ideographic space', inUtf8('\u3000')],
    ['256 characters', 'k'.repeat(256)],
    ['256 characters of two bytes', inUtf8('ä'.repeat(256))],
    ['256 characters of Latin-1', 'ÿ'.repeat(256)],
  ])('is refused: %s', async (_name, key) => {
    const before = await countWritten(service.db);
    expectRefusal(await create(key), 'E4001');
    expect(await countWritten(service.db)).toEqual(before);
  });

  test.each([
    ['one character', '0'],
    ['255 characters', 'k'.repeat(255)],
    ['255 characters of Latin-1', 'ÿ'.repeat(255)],
    ['255 characters of two bytes', inUtf8('ä'.repeat(255))],
    ['255 characters of four bytes', inUtf8('🧾'.repeat(255))],
    ['commas and quotes', `a, b; "c" \\ '`],
  ])('may be %s', async (_name, key) => {
    await creates(key);
    expect((await create(key)).headers['idempotent-replayed']).toBe('true');
  });

  test('must not be sent twice; a comma within one is part of it', async () => {
    for (const values of [
      ['a', 'b'],
      ['same', 'same'],
    ]) {
      const response = await send(service, shop, {
        path: PROMPT_PATH,
        body: BODY,
        headers: { 'idempotency-key': values as unknown as string },
      });
      expectRefusal(response, 'E4001');
    }
    await creates('a, b');
  });

  test('must not be sent twice over a real connection either', async () => {
    const url = await service.app.listen({ host: '127.0.0.1', port: 0 });
    const headers = signingHeaders(shop, {
      method: 'POST',
      path: PROMPT_PATH,
      body: BODY,
      now: service.clock(),
    });
    const sent = request(url + PROMPT_PATH, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'Idempotency-Key': ['a', 'b'] },
    });
    sent.end(BODY);
    const [response] = await once(sent, 'response');
    expect((await json(response)) as object).toMatchObject({ error: { errorCode: 'E4001' } });
  });

  test('is free after 24 hours and not a millisecond earlier', async () => {
    const key = freshKey();
    const original = await creates(key);
    const start = service.clock.now;
    try {
      service.clock.now = start + DAY_MS - 1;
      expect((await create(key)).body).toBe(original.body);
      service.clock.now = start + DAY_MS;
      const next = await creates(key, '{"amount":6000}');
      expect((await create(key, '{"amount":6000}')).body).toBe(next.body);
      expectRefusal(await create(key), 'E4002');
    } finally {
      service.clock.now = start;
    }
  });

  test('is freed by a refusal, so that the input can be corrected', async () => {
    const key = freshKey();
    const before = await countWritten(service.db);
    expectRefusal(
      await create(key, '{"amount":5000,"blockchainIds":["sol"]}'),
      'E1020',
      'blockchainIds',
    );
    expectRefusal(await create(key, '{"amount":1}'), 'E1001', 'amount');
    expectRefusal(await create(key, '{"amount":5000,"a":1}'), 'E1002', 'a');
    expect(await countWritten(service.db)).toEqual(before);
    await creates(key, '{"amount":5000,"blockchainIds":["btc"]}');
  });

  test('belongs to the account: its other keys replay, other accounts do not', async () => {
    const key = freshKey();
    const second = { ...shop, ...(await addKey(service, { merchantId: shop.merchant.id })) };
    const original = await creates(key);
    expect((await create(key, BODY, second)).body).toBe(original.body);
    const other = await addMerchant(service);
    const own = await creates(key, BODY, other);
    expect(own.json().prompt.id).not.toBe(original.json().prompt.id);
  });

  test('is compared exactly', async () => {
    for (const key of ['Order-1', 'order-1', 'order-1.', 'order%2D1']) await creates(key);
  });
});

describe('the order of checks', () => {
  test('E1000 before E4001', async () => {
    expectRefusal(await create('   ', 'not json'), 'E1000');
  });

  test('E4001 before E1001 and E1002', async () => {
    expectRefusal(await create('   ', '{"amount":1}'), 'E4001');
    expectRefusal(await create('   ', '{"amount":5000,"a":1}'), 'E4001');
    expectRefusal(await create('   ', '[]'), 'E4001');
  });

  test('E4002 before E1001 and E1002, and E1000 before E4002', async () => {
    const key = freshKey();
    await creates(key);
    for (const body of ['{"amount":1}', '{"amount":5000,"a":1}', '[]']) {
      expectRefusal(await create(key, body), 'E4002');
    }
    expectRefusal(await create(key, '{'), 'E1000');
  });
});
