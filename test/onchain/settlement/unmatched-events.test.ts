import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createMerchant } from '#accounts/merchants.ts';
import { dismissDeposit } from '#onchain/settlement/inbox.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { Finality } from '#onchain/settlement/observed-transfer.ts';
import { movePayment } from '#payments/move-payment.ts';
import { createEndpoint, type Subscription } from '#payments/webhooks/manage-endpoints.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { up as addDepositEvents } from '../../../migrations/0037_deposit_events.ts';
import { ADDRESSES, operatorOf, setSharedAddress } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addOpenPayment, releaseAll } from '../../helpers/open-payment.ts';

const TYPE = 'payment_prompt.deposit_unmatched';

let service: TestApp;
/** Two merchants with the same address. */
let one: Merchant;
let other: Merchant;
let serial = 0;

beforeAll(async () => {
  service = await startTestApp();
});
beforeEach(async () => {
  await releaseAll(service.db);
  [one, other] = [await addMerchant(), await addMerchant()];
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);

async function addMerchant(): Promise<Merchant> {
  const operator = operatorOf(service);
  const merchant = await createMerchant(operator, { name: 'Shop', email: 'shop@example.com' });
  await setSharedAddress(operator, merchant.id, 'btc', ADDRESSES.btc);
  return merchant;
}

function send(tokenAmount: bigint) {
  const transactionHash = `tx${++serial}`;
  const told = { blockchainId: 'btc', address: ADDRESSES.btc, transactionHash, tokenAmount };
  const place = { position: 0, blockHeight: 1, blockHash: 'a', occurredAt: now() };
  return (finality: Finality) =>
    observeTransfer(service.db, { ...told, ...place, source: 'chain', finality }, now());
}

const told = async (merchant: Merchant) => {
  const rows = await service.db
    .selectFrom('events')
    .select(['type', 'payment_id', 'created_at', 'data'])
    .where('merchant_id', '=', merchant.id)
    .where('type', '=', TYPE)
    .execute();
  return rows.map(({ data, ...row }) => ({ ...row, data: data as object }));
};

test('a deposit that no payment took is reported once, when it is final, with the payments it fits', async () => {
  const near = await addOpenPayment(service, one, 2_000n);
  const far = await addOpenPayment(service, one, 9_000n);
  const theirs = await addOpenPayment(service, other, 3_000n);
  const tell = send(2_100n);
  const { id } = await tell('seen');
  expect(await told(one)).toEqual([]);
  service.clock.now += 1000;
  await tell('final');
  await tell('final');
  const data = {
    id,
    blockchainId: 'btc',
    transactionHash: `tx${serial}`,
    address: ADDRESSES.btc,
    tokenAmount: '0.000021',
    outcome: 'ambiguous',
    observedAt: new Date(service.clock.now - 1000).toISOString(),
  };
  const event = { type: TYPE, payment_id: null, created_at: now() };
  const payments = [
    { id: near.id, tokenAmount: '0.00002' },
    { id: far.id, tokenAmount: '0.00009' },
  ];
  expect(await told(one)).toEqual([{ ...event, data: { ...data, payments } }]);
  // Each merchant gets only its own payments.
  const own = [{ id: theirs.id, tokenAmount: '0.00003' }];
  expect(await told(other)).toEqual([{ ...event, data: { ...data, payments: own } }]);
});

test('a deposit that its payment did not wait for is reported when it becomes final', async () => {
  const { id: paymentId } = await addOpenPayment(service, one, 50_000n);
  const tell = send(20_000n);
  expect(await tell('seen')).toMatchObject({ outcome: 'under', payment_id: paymentId });
  const by = { actor: 'customer', reason: 'cancelled by the customer', now: now() };
  await service.db
    .transaction()
    .execute(tx => movePayment(tx, { paymentId, move: 'cancel', ...by }));
  await tell('final');
  expect(await told(one)).toMatchObject([{ data: { outcome: 'late', payments: [] } }]);
});

test('no event is sent for a deposit that was paid, reversed, or settled elsewhere before', async () => {
  await addOpenPayment(service, one, 70_000n);
  await send(70_000n)('final');
  await send(1n)('reversed');
  const tell = send(1n);
  const { id } = await tell('seen');
  await dismissDeposit(operatorOf(service), id, { remedy: 'kept' });
  await tell('final');
  expect(await told(one)).toEqual([]);
});

async function addEndpoint(path: string, types?: Subscription): Promise<string> {
  const url = `https://shop.example.com/${path}`;
  const place = { merchantId: one.id, url, types, allowPrivateAddresses: true };
  return (await createEndpoint(operatorOf(service), service.keyring, place)).endpoint.id;
}

/** The endpoints that get an event for a new deposit. */
async function toldOfNext(): Promise<string[]> {
  const { id } = await send(1n)('final');
  const deliveries = await service.db
    .selectFrom('webhook_deliveries')
    .innerJoin('events', 'events.id', 'event_id')
    .select('endpoint_id')
    .where('merchant_id', '=', one.id)
    .where(sql`data ->> 'id'`, '=', id)
    .execute();
  return deliveries.map(({ endpoint_id: endpoint }) => endpoint).toSorted();
}

test('the event goes to the endpoints that subscribe to it by name, and to no other', async () => {
  const wanted = [
    await addEndpoint('unmatched', [TYPE]),
    await addEndpoint('all-and-unmatched', ['all', TYPE]),
  ];
  await addEndpoint('omitted');
  await addEndpoint('all', ['all']);
  await addEndpoint('paid', ['payment_prompt.successful']);
  expect(await toldOfNext()).toEqual(wanted.toSorted());
});

test('endpoints that got the event before it had to be named still get it', async () => {
  const earlier = [await addEndpoint('omitted'), await addEndpoint('unmatched', [TYPE])];
  await addEndpoint('paid', ['payment_prompt.successful']);
  await sql`alter table webhook_endpoints drop column deposit_events`.execute(service.db);
  await addDepositEvents(service.db as unknown as Kysely<unknown>);
  expect(await toldOfNext()).toEqual(earlier.toSorted());
});
