import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newEvent } from '#payments/new-event.ts';
import { createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { insertEvent } from '#storage/repositories/payments/events.ts';
import type { Parameter } from '#surfaces/docs/openapi/document.ts';
import {
  ADDRESSES,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
  type PartnerWithKey,
} from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPayment } from '../../../helpers/payments.ts';
import { createPrompt } from '../../../helpers/prompts.ts';
import { send } from '../../../helpers/signed-request.ts';
import { attemptDue } from '../../../payments/webhooks/attempt-due.ts';
import { startReceiver, status } from '../../../payments/webhooks/receiver.ts';
import { addOlderMerchant, ask, type OlderMerchant } from '../../legacy/older-contract.ts';
import { buildInertApp } from './inert-app.ts';
import { type Contract, type DocumentedOperation, readContract } from './subject.ts';

/** The names of the operations are needed before the database exists. */
const inert = await buildInertApp();
const { operations } = await readContract({ app: inert });
await inert.close();

let service: TestApp;
let contract: Contract;
let shop: OlderMerchant;
let tester: MerchantWithKey;
let partner: PartnerWithKey;
let payment: Payment;
let eventId: string;

beforeAll(async () => {
  service = await startTestApp();
  contract = await readContract(service);
  partner = await addPartner(service);
  shop = await addOlderMerchant(service, {
    name: 'Blue Coffee',
    partnerId: partner.partner.id,
    addresses: { btc: ADDRESSES.btc, eth: ADDRESSES.eth },
  });
  const addresses = { 'eth-test': ADDRESSES['eth-test'] };
  tester = await addMerchant(service, { environment: 'test', addresses });
  // Gives the overview something that needs attention.
  await addMerchant(service, { kind: 'us', approved: false, partnerId: partner.partner.id });
  const now = new Date(service.clock());
  payment = await addPayment(service.db, shop.merchant, {
    created_at: now,
    status: 'successful',
    session_status: 'completed',
    paid_at: now,
    blockchain_id: 'btc',
    address: ADDRESSES.btc,
    token_amount: 50_000n,
    token_decimals: 8,
    transaction_hash: 'ab'.repeat(32),
    commission_amount: 10,
    customer_reference_id: 'order-1001',
  });
  eventId = await addUndelivered();
});
afterAll(() => service.close());

/** An event that an endpoint has refused once. */
async function addUndelivered(): Promise<string> {
  const receiver = await startReceiver(status(503));
  const { endpoint } = await createEndpoint(operatorOf(service), service.keyring, {
    merchantId: shop.merchant.id,
    url: receiver.url,
    allowPrivateAddresses: true,
  });
  const event = newEvent('payment_prompt.successful', payment, new Date(service.clock()));
  await insertEvent(service.db, event);
  const { db, clock, keyring } = service;
  await attemptDue({ db, clock, keyring, allowPrivateAddresses: true }, [endpoint.id]);
  await receiver.close();
  return event.id;
}

/** Only payments of a test merchant are simulated, each once. */
const merchantFor = (path: string) => (path.includes('/test/') ? tester : shop);

async function paymentFor(path: string): Promise<string> {
  if (merchantFor(path) === shop) return payment.id;
  return (await createPrompt(service, tester, { amount: 5000 })).prompt.id;
}

/** The documented example as a request: with its own values, but the IDs of existing objects. */
async function exampleOf({ path, operation }: DocumentedOperation) {
  const { parameters = [], requestBody } = operation;
  const ids: Readonly<Record<string, string>> = {
    paymentId: payment.id,
    merchantId: shop.merchant.id,
  };
  const id = path.includes('/events/') ? eventId : await paymentFor(path);
  const of = (where: Parameter['in']) =>
    parameters.filter(({ in: place, example }) => place === where && example !== undefined);
  const query = of('query').map(({ name, example }): [string, string] => [name, String(example)]);
  const target = path.replace(
    /\{(\w+)\}/g,
    (_part, name) => (name === 'id' ? id : ids[name]) ?? '',
  );
  return {
    path: query.length === 0 ? target : `${target}?${new URLSearchParams(query)}`,
    headers: Object.fromEntries(of('header').map(({ name, example }) => [name, String(example)])),
    body: requestBody?.content['application/json']?.example,
  };
}

async function sendExample(documented: DocumentedOperation) {
  const { path, headers, body } = await exampleOf(documented);
  const { method } = documented;
  if (documented.operation.deprecated) return ask(service, shop, { method, path, body });
  const credentials = path.startsWith('/external/partner') ? partner : merchantFor(path);
  return send(service, credentials, { method, path, body, headers });
}

describe.each(operations.map(documented => [documented.id, documented] as const))(
  'the example of %s',
  (id, documented) => {
    test('succeeds, and the response is as documented', async () => {
      const answer = await sendExample(documented);
      expect(answer.statusCode, answer.body).toBeLessThan(300);
      contract.hold(id, answer);
    });

    test('has a response with every field of a real one', async () => {
      const answer = await sendExample(documented);
      const { content } = documented.operation.responses[String(answer.statusCode)] ?? {};
      const example = content?.['application/json']?.example;
      expect(shapeOf(example)).toEqual(shapeOf(answer.json()));
    });
  },
);

/** The names of fields; of a list, those of its first element. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return null;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, shapeOf(inner)]));
}

test('the example of a repeated creation is replayed as documented', async () => {
  const create = contract.operation('createPayment');
  await sendExample(create);
  const answer = await sendExample(create);
  expect(answer.headers['idempotent-replayed']).toBe('true');
  contract.hold('createPayment', answer);
});

test('every kind of failure of the older contract is as documented', async () => {
  const unknown = { clientId: shop.clientId, apiKey: 'mpa_unknown' };
  contract.hold('createPrompt', await ask(service, unknown, { body: {} }));
  contract.hold('createPrompt', await ask(service, shop, { body: { amount: 0.001 } }));
  const missing = `/external/payments/prompt/${shop.merchant.id}`;
  contract.hold('readPrompt', await ask(service, shop, { path: missing }));
});
