import { afterAll, beforeAll, expect, test } from 'vitest';
import { setAddress } from '#accounts/deposit-addresses.ts';
import { MERCHANT_SCOPES, PARTNER_OWNER_SCOPES } from '#accounts/keys/scopes.ts';
import { ERRORS } from '#errors/catalogue.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { EVENT_TYPES, PAYMENT_EVENT_TYPES } from '#schemas/event.ts';
import { ADDRESSES } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { cloneDatabase, type TestDatabase } from '../../../helpers/database.ts';
import { startReceiver } from '../../../payments/webhooks/receiver.ts';
import { openShop } from '../../../payments/webhooks/shop.ts';
import { SIGNED_ROUTES } from '../../api/signed-routes.ts';
import { type Contract, readContract } from './subject.ts';

let database: TestDatabase;
let service: TestApp;
let contract: Contract;
beforeAll(async () => {
  database = await cloneDatabase();
  service = await startTestApp({ database });
  contract = await readContract(service);
});
afterAll(async () => {
  await service.close();
  await database.drop();
});

test('has every signed route with its scope, and no other signed route', () => {
  const documented = contract.operations
    .filter(({ operation }) => !operation.deprecated)
    .map(({ method, path, operation }) => {
      const [security = {}] = operation.security ?? [];
      expect(Object.keys(security)).toEqual([
        'keyId',
        'passphrase',
        'timestamp',
        'nonce',
        'signature',
      ]);
      expect(operation.description).toContain(`Scope: \`${operation['x-scope']}\``);
      return `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')} ${operation['x-scope']}`;
    });
  const registered = SIGNED_ROUTES.map(({ method, url, scope }) => `${method} ${url} ${scope}`);
  expect(documented.toSorted()).toEqual(registered.toSorted());
});

test('describes every scope of keys, and needs no other', () => {
  const described = Object.keys(
    contract.document.components.securitySchemes.keyId?.['x-scopes'] ?? {},
  );
  const scopes = new Set<string>([...MERCHANT_SCOPES, ...PARTNER_OWNER_SCOPES]);
  expect(described.toSorted()).toEqual([...scopes].toSorted());
  const needed = contract.operations.flatMap(({ operation }) => operation['x-scope'] ?? []);
  expect(new Set(needed)).toEqual(scopes);
});

// What Spectral's default rules require beyond those of the linter in `npm run check`.
test('has a contact, and lists scopes in no requirement, where only OAuth has them', () => {
  expect(contract.document.info.contact).toEqual({
    name: expect.any(String),
    url: 'https://pay.example.test/docs',
  });
  const listed = contract.operations.flatMap(({ operation }) =>
    (operation.security ?? []).flatMap(requirement => Object.values(requirement).flat()),
  );
  expect(listed).toEqual([]);
});

test('has the older contract, deprecated and with Basic credentials', () => {
  const older = contract.operations.filter(({ operation }) => operation.deprecated);
  expect(older.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /external/payments/prompt',
    'GET /external/payments/prompt/{id}',
    'GET /external/blockchains/active',
  ]);
  for (const { operation } of older) expect(operation.security).toEqual([{ basic: [] }]);
});

test('does not describe pages, probes and notifications', () => {
  const paths = contract.operations.map(({ path }) => path);
  expect(paths.filter(path => !path.startsWith('/external/'))).toEqual([]);
});

test('links every error code to its page', () => {
  const { description } = contract.document.info;
  for (const code of Object.keys(ERRORS)) {
    expect(description).toContain(`[${code}](https://pay.example.test/docs/errors/${code})`);
  }
});

test('mentions this installation and no other', () => {
  const text = JSON.stringify(contract.document);
  expect(contract.document.servers).toMatchObject([{ url: 'https://pay.example.test' }]);
  expect(text).not.toContain('payments.example.com');
});

test('has a webhook for each type of event, and a delivered one is as documented', async () => {
  expect(Object.keys(contract.document.webhooks)).toEqual(EVENT_TYPES);
  const receiver = await startReceiver();
  try {
    const shop = await openShop(database);
    await shop.addEndpoint(receiver.url, EVENT_TYPES);
    for (const type of PAYMENT_EVENT_TYPES) await shop.tell(type);
    await setAddress(shop.operator, { merchantId: shop.merchant.id }, 'btc', ADDRESSES.btc);
    const seen = { position: 0, blockHeight: 1, blockHash: null, occurredAt: new Date() };
    const transfer = { blockchainId: 'btc', address: ADDRESSES.btc, transactionHash: 'tx' };
    const settled = { tokenAmount: 1n, source: 'chain', finality: 'final' } as const;
    await observeTransfer(shop.db, { ...seen, ...transfer, ...settled }, new Date(shop.clock()));
    await shop.attemptAll();
    expect(receiver.requests.map(({ event }) => event.type).toSorted()).toEqual(
      EVENT_TYPES.toSorted(),
    );
    for (const { body, event, headers } of receiver.requests) {
      const pointer = `/webhooks/${event.type}/post`;
      contract.expectFit(
        JSON.parse(body),
        `${pointer}/requestBody/content/application~1json/schema`,
      );
      const { parameters = [] } = contract.document.webhooks[event.type]?.post ?? {};
      expect(parameters.length).toBe(3);
      for (const [index, { name }] of parameters.entries()) {
        contract.expectFit(headers[name], `${pointer}/parameters/${index}/schema`);
      }
    }
  } finally {
    await receiver.close();
  }
});
