import { createHmac } from 'node:crypto';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PostmanCollection } from '#surfaces/docs/postman.ts';
import {
  ADDRESSES,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  type PartnerWithKey,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { createPrompt } from '../../helpers/prompts.ts';
import { recordEvent } from '../../helpers/record-event.ts';
import { CREATE_VECTOR, LIST_VECTOR } from '../../signing/vector.ts';
import { readContract } from './openapi/subject.ts';

type Item = PostmanCollection['item'][number]['item'][number];
type Variables = Readonly<Record<string, string>>;

let service: TestApp;
let shop: MerchantWithKey;
let tester: MerchantWithKey;
let partner: PartnerWithKey;
let collection: PostmanCollection;
let ids: Variables;

beforeAll(async () => {
  service = await startTestApp();
  partner = await addPartner(service);
  shop = await addMerchant(service, {
    partnerId: partner.partner.id,
    addresses: { btc: ADDRESSES.btc, eth: ADDRESSES.eth },
  });
  const addresses = { 'eth-test': ADDRESSES['eth-test'] };
  tester = await addMerchant(service, { environment: 'test', addresses });
  const created_at = new Date(service.clock());
  const payment = await addPayment(service.db, shop.merchant, { created_at });
  await recordEvent(service.db, 'payment_prompt.created', payment, created_at);
  const event = await service.db.selectFrom('events').select('id').executeTakeFirstOrThrow();
  ids = { payments: payment.id, events: event.id, merchants: shop.merchant.id };
  collection = (await service.app.inject({ url: '/postman.json' })).json();
});
afterAll(() => service.close());

/** A request as Postman passes it to the script, which adds headers. */
interface Sandbox {
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  readonly body?: string;
  readonly variables: Variables;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Runs the collection's script with the parts of Postman's sandbox that it uses; returns the headers. */
function runScript({ method, path, query = '', body, variables, now }: Sandbox): Variables {
  const headers: Record<string, string> = {};
  const pm = {
    variables: {
      replaceIn: (text: string) =>
        text.replaceAll(/\{\{(\S+?)\}\}/g, (placeholder, name) => variables[name] ?? placeholder),
    },
    request: {
      method,
      url: { getPath: () => path, getQueryString: () => query },
      ...(body === undefined ? {} : { body: { mode: 'raw', raw: body } }),
      headers: {
        upsert({ key, value }: { key: string; value: string }) {
          headers[key.toLowerCase()] = value;
        },
      },
    },
  };
  const HmacSHA256 = (text: string, key: string) => createHmac('sha256', key).update(text);
  const require = (name: string) => {
    expect(name).toBe('crypto-js');
    return {
      HmacSHA256: (text: string, key: string) => ({
        toString: () => HmacSHA256(text, key).digest('hex'),
      }),
    };
  };
  const [{ listen, script } = { listen: '', script: { exec: [] } }] = collection.event;
  expect(listen).toBe('prerequest');
  // Postman has declared this name, so a script cannot.
  const program = ['const CryptoJS = undefined;', ...script.exec].join('\n');
  runInContext(program, createContext({ pm, require, Date: { now: () => now } }));
  return headers;
}

describe('the script', () => {
  test.each([CREATE_VECTOR, LIST_VECTOR])('signs the vector of $path', vector => {
    const { keyId, secret, timestamp, nonce: $guid, signature, method } = vector;
    const [path = '', query = ''] = vector.path.split('?');
    const headers = runScript({
      method,
      path,
      query,
      ...(vector.body === '' ? {} : { body: vector.body }),
      variables: { keyId, secret, passphrase: 'p', $guid },
      now: Number(timestamp) * 1000 + 999,
    });
    expect(headers).toEqual({
      'x-mp-key-id': keyId,
      'x-mp-passphrase': 'p',
      'x-mp-timestamp': timestamp,
      'x-mp-nonce': $guid,
      'x-mp-signature': signature,
    });
  });

  test('signs values of variables, encoded as they are sent', () => {
    const sign = (path: string, query: string, more: Variables = {}) =>
      runScript({
        method: 'GET',
        path,
        query,
        now: 0,
        variables: { secret: 's', $guid: 'n', ...more },
      })['x-mp-signature'];
    const given = sign('/a/{{id}}', "q={{text}}&r='&s=%2B", { id: 'ü', text: 'é "😀"' });
    expect(given).toBe(sign('/a/%C3%BC', 'q=%C3%A9%20%22%F0%9F%98%80%22&r=%27&s=%2B'));
  });
});

test('has every signed operation, in folders, and no credentials', async () => {
  const { document, operations } = await readContract(service);
  const signed = operations.filter(({ operation }) => !operation.deprecated);
  const requests = collection.item.flatMap(({ name, item }) =>
    item.map(({ name: title, request }) => `${name}: ${title} ${request.method}`),
  );
  expect(requests).toEqual(
    signed.map(({ method, operation }) => `${operation.tags[0]}: ${operation.summary} ${method}`),
  );
  expect(collection.info).toMatchObject({
    name: document.info.title,
    schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
  });
  expect(collection.variable).toEqual([
    { key: 'baseUrl', value: 'https://pay.example.test' },
    ...['keyId', 'secret', 'passphrase'].map(key => ({ key, value: '' })),
  ]);
});

/** Sends a request as Postman would with its variables set. */
async function sendItem({ request }: Item) {
  const { method, url, body, header } = request;
  const isOfPartner = url.path.includes('partner');
  const isTest = url.path.includes('test');
  const { keyId, secret, passphrase } = isOfPartner ? partner : isTest ? tester : shop;
  // Each payment is simulated once.
  const payments = isTest
    ? (await createPrompt(service, tester, { amount: 5000 })).prompt.id
    : ids.payments;
  const own: Variables = { ...ids, payments: payments ?? '' };
  const $guid = crypto.randomUUID();
  const variables = { keyId, secret, passphrase, $guid };
  const path = `/${url.path
    .map((part, index) => (part.startsWith(':') ? own[url.path[index - 1] ?? ''] : part))
    .join('/')}`;
  const query = url.query
    .filter(({ disabled }) => disabled !== true)
    .map(({ key, value }) => `${key}=${value}`)
    .join('&');
  const given = header.map(({ key, value }) => [key, value.replace('{{$guid}}', $guid)]);
  const sent = { method, path, query, variables, now: service.clock() };
  const headers = runScript({ ...sent, ...(body === undefined ? {} : { body: body.raw }) });
  return service.app.inject({
    method: method as 'GET' | 'POST',
    url: query === '' ? path : `${path}?${query}`,
    headers: { ...Object.fromEntries(given), ...headers },
    ...(body === undefined ? {} : { payload: body.raw }),
  });
}

test('each of its requests succeeds', async () => {
  for (const item of collection.item.flatMap(folder => folder.item)) {
    const { url } = item.request;
    expect(url.raw).toBe(`{{baseUrl}}/${url.path.join('/')}`);
    expect(url.variable.map(({ key }) => `:${key}`)).toEqual(
      url.path.filter(part => part.startsWith(':')),
    );
    const { statusCode, body } = await sendItem(item);
    expect({ name: item.name, body, isSuccess: statusCode < 300 }).toMatchObject({
      isSuccess: true,
    });
  }
});
