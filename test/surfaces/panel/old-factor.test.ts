import { randomUUID } from 'node:crypto';
import type { RouteOptions } from 'fastify';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { needsRecentFactor } from '#accounts/access/permissions.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { newAddress } from '../../accounts/account-of-changes.ts';
import { addKey, addMerchant, addPartner } from '../../helpers/accounts.ts';
import type { TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';
import { addEndpoint } from '../../helpers/deliveries.ts';

import {
  addMerchantUser,
  addPartnerUser,
  addSession,
  answer,
  askedForm,
  codeAt,
  submit,
  textOf,
  type Visitor,
  wrongCodeAt,
} from '../../helpers/panel.ts';
import { startWithRoutes } from '../../helpers/registered-routes.ts';
import { simulatedTransfer } from '../../helpers/see-transfer.ts';
import { type Receiver, startReceiver, status } from '../../payments/webhooks/receiver.ts';

/**
 * Every form that needs a second factor of the last ten minutes, sent after an older one: it asks for a code, and does
 * what was typed once that is given.
 */

const M = '/panel/merchants/:accountId';
const P = '/panel/partners/:accountId';
const KEPT = { remedy: 'kept', to: '', hash: '', note: 'a <note> & "more"' };

/** Who sends a form, with what, and where: the path's parameters. */
interface Sent {
  readonly as: Visitor;
  readonly fields: Record<string, string>;
  readonly params: Record<string, string>;
}

let service: TestApp;
let registered: RouteOptions[];
let receiver: Receiver;
let serial = 0;

beforeAll(async () => {
  [{ service, registered }, receiver] = await Promise.all([startWithRoutes(), startReceiver()]);
  receiver.answer = status(200);
});
afterAll(async () => {
  await receiver.close();
  await service.close();
});

async function shopWithAdmin() {
  const address = newAddress();
  const shop = await addMerchant(service, { addresses: { 'eth-test': address } });
  const as = await addMerchantUser(service, shop.merchant.id, 'admin');
  return { shop, as, address, params: { accountId: shop.merchant.id } };
}

async function partnerWithOwner() {
  const { partner } = await addPartner(service);
  const as = await addPartnerUser(service, partner.id, 'owner');
  const { keyId } = await addKey(service, { memberId: as.memberId });
  return { keyId, as, params: { accountId: partner.id } };
}

/** A deposit of a cancelled payment unless its amount is given, and a payment that waits for as much. */
async function lateDeposit(given?: bigint) {
  const { shop, as, address, params } = await shopWithAdmin();
  const late = await openCheckout(service, shop);
  await late.pick('eth-test');
  const { token_amount: amount } = await late.payment();
  await late.simulate('cancel');
  serial += 1;
  const now = new Date(service.clock.now);
  const transfer = simulatedTransfer({
    blockchainId: 'eth-test',
    transactionHash: `0xlate${serial}`,
    address,
    tokenAmount: given ?? BigInt(amount ?? 0),
    occurredAt: now,
  });
  const deposit = await observeTransfer(service.db, transfer, now);
  const other = await openCheckout(service, shop);
  await other.pick('eth-test');
  return { as, deposit, payment: other.paymentId, params: { ...params, depositId: deposit.id } };
}

async function underpaid(): Promise<Sent> {
  const { shop, as, params } = await shopWithAdmin();
  const checkout = await openCheckout(service, shop);
  await checkout.pick('eth-test');
  await checkout.simulate('under');
  const part = await service.db
    .selectFrom('deposits')
    .select('id')
    .where('payment_id', '=', checkout.paymentId)
    .executeTakeFirstOrThrow();
  await checkout.simulate('expire');
  service.clock.now += 1_000;
  const fields = { deposit: part.id, to: 'Ada', hash: '0xback', note: 'ticket 7' };
  return { as, fields, params: { ...params, paymentId: checkout.paymentId } };
}

async function shopWithEndpoint(type: 'enabled' | 'disabled' = 'enabled') {
  const { shop, as, params } = await shopWithAdmin();
  const { endpoint } = await addEndpoint(service, shop.merchant.id, receiver.url);
  if (type === 'disabled') {
    await service.db
      .updateTable('webhook_endpoints')
      .set({ disabled_at: new Date(service.clock.now), disabled_reason: 'by a test' })
      .where('id', '=', endpoint.id)
      .execute();
  }
  return { as, params: { ...params, endpointId: endpoint.id } };
}

async function withFields(
  sender: Promise<Omit<Sent, 'fields'>>,
  fields: Record<string, string> = {},
): Promise<Sent> {
  const { as, params } = await sender;
  return { as, params, fields };
}

const newKey = () => ({ intent: randomUUID(), name: 'Till <2>', expiry: 'never', date: '' });

/** How each form is sent so that it does something. */
const FORMS: Readonly<Record<string, () => Promise<Sent>>> = {
  'POST /panel/profile/sessions/:id/end': async () => {
    const { as } = await shopWithAdmin();
    await addSession(service, as);
    const { id } = await service.db
      .selectFrom('panel_sessions')
      .select('id')
      .where('person_id', '=', as.personId)
      .orderBy('id', 'desc')
      .executeTakeFirstOrThrow();
    return { as, fields: {}, params: { id } };
  },
  'POST /panel/profile/sessions/end-others': () => withFields(shopWithAdmin()),
  [`POST ${M}/payments/:paymentId/return`]: underpaid,
  [`POST ${M}/unmatched/:depositId/assign`]: async () => {
    const { as, params, payment } = await lateDeposit();
    return { as, params, fields: { payment, sure: 'yes', arrived: '', due: '' } };
  },
  [`POST ${M}/unmatched/:depositId/ask`]: async () => {
    // Far too little, which a second person has to confirm.
    const { as, params, payment } = await lateDeposit(1n);
    return { as, params, fields: { payment } };
  },
  [`POST ${M}/unmatched/:depositId/dismiss`]: () => withFields(lateDeposit(), KEPT),
  [`POST ${M}/unmatched/dismiss`]: async () => {
    const { as, params, deposit } = await lateDeposit();
    return { as, params, fields: { deposit: deposit.id, ...KEPT } };
  },
  [`POST ${M}/settings/test-twin`]: () => withFields(shopWithAdmin(), { twin: 'make' }),
  [`POST ${M}/settings/branches`]: () => withFields(shopWithAdmin(), { name: 'Kiosk "2"' }),
  [`POST ${M}/settings/addresses/:blockchainId/remove`]: async () => {
    const { shop, as, address, params } = await shopWithAdmin();
    const { id: branch } = await service.db
      .selectFrom('branches')
      .select('id')
      .where('merchant_id', '=', shop.merchant.id)
      .executeTakeFirstOrThrow();
    return { as, params: { ...params, blockchainId: 'eth-test' }, fields: { branch, address } };
  },
  [`POST ${M}/settings/second-admin`]: async () => {
    const { shop, as, params } = await shopWithAdmin();
    await addMerchantUser(service, shop.merchant.id, 'admin');
    return { as, params, fields: {} };
  },
  [`POST ${M}/settings/domains/add`]: () =>
    withFields(shopWithAdmin(), { domain: 'shop.example.com' }),
  [`POST ${M}/settings/domains/remove`]: async () => {
    const { shop, as, params } = await shopWithAdmin();
    const domain = 'shop.example.com';
    const row = { merchant_id: shop.merchant.id, domain, created_at: new Date(service.clock.now) };
    await service.db.insertInto('redirect_domains').values(row).execute();
    return { as, params, fields: { domain } };
  },
  [`POST ${M}/settings/appearance`]: () =>
    withFields(shopWithAdmin(), {
      support: 'help@shop.example.com',
      accent: '#112233',
      logo: '',
      'shows-note': 'on',
    }),
  [`POST ${M}/settings/developer/keys/new`]: () => withFields(shopWithAdmin(), newKey()),
  [`POST ${M}/settings/developer/keys/:keyId/rotate`]: async () => {
    const { shop, as, params } = await shopWithAdmin();
    const fields = { intent: randomUUID(), grace: 'no' };
    return { as, params: { ...params, keyId: shop.keyId }, fields };
  },
  [`POST ${M}/settings/developer/keys/:keyId/revoke`]: async () => {
    const { shop, as, params } = await shopWithAdmin();
    return { as, params: { ...params, keyId: shop.keyId }, fields: { name: 'Test key' } };
  },
  [`POST ${M}/settings/developer/webhooks/new`]: () =>
    withFields(shopWithAdmin(), {
      intent: randomUUID(),
      url: 'http://127.0.0.1:9/hooks?a=1&b=2',
      type: 'payment_prompt.successful',
    }),
  [`POST ${M}/settings/developer/webhooks/:endpointId/test`]: () => withFields(shopWithEndpoint()),
  [`POST ${M}/settings/developer/webhooks/:endpointId/rotate`]: () =>
    withFields(shopWithEndpoint(), { intent: randomUUID() }),
  [`POST ${M}/settings/developer/webhooks/:endpointId/disable`]: () =>
    withFields(shopWithEndpoint()),
  [`POST ${M}/settings/developer/webhooks/:endpointId/enable`]: () =>
    withFields(shopWithEndpoint('disabled')),
  [`POST ${P}/settings/self-service`]: () =>
    withFields(partnerWithOwner(), { 'self-service': 'off' }),
  [`POST ${P}/developer/keys/new`]: () => withFields(partnerWithOwner(), newKey()),
  [`POST ${P}/developer/keys/:keyId/rotate`]: async () => {
    const { keyId, as, params } = await partnerWithOwner();
    return { as, params: { ...params, keyId }, fields: { intent: randomUUID(), grace: 'no' } };
  },
  [`POST ${P}/developer/keys/:keyId/revoke`]: async () => {
    const { keyId, as, params } = await partnerWithOwner();
    return { as, params: { ...params, keyId }, fields: { name: 'Test key' } };
  },
};

/** Audit entries of changes: ending sessions writes none. */
async function changes(): Promise<unknown> {
  const { rows } = await sql`
    select (select count(*) from audit_log where action <> 'person.sign-in') as audited,
           (select count(*) from panel_sessions) as sessions,
           (select json_agg(a) from asked_assignments a) as asked`.execute(service.db);
  return rows[0];
}

test('every form that needs a recent factor is tried here', () => {
  const own = registered.filter(({ method, config }) => {
    const rule = config?.panel;
    if (method !== 'POST' || rule === undefined) return false;
    return 'permission' in rule ? needsRecentFactor(rule.permission) : 'recent' in rule;
  });
  const names = own.map(({ method, url }) => `${method} ${url}`);
  expect(Object.keys(FORMS).toSorted()).toEqual(names.toSorted());
});

test.each(Object.entries(FORMS))('%s', async (route, prepare) => {
  const { as, fields, params } = await prepare();
  const path = (route.split(' ')[1] ?? '').replaceAll(
    /:(\w+)/g,
    (_, name: string) => params[name] ?? '',
  );
  const visitor = { ...as, cookie: await addSession(service, as, 11) };
  const before = await changes();
  const asked = await submit(service, path, fields, visitor);
  expect(asked.statusCode).toBe(200);
  expect(textOf(asked)).toContain('you have not given it within the last ten minutes');
  const repeated = askedForm(asked);
  expect(repeated.action).toBe(path);
  expect(Object.fromEntries(repeated.fields)).toMatchObject(fields);

  const guess = wrongCodeAt(as.secret, service.clock.now);
  const again = await submit(
    service,
    path,
    [...repeated.fields, ['confirmation-code', guess]],
    visitor,
  );
  expect(again.statusCode).toBe(422);
  expect(textOf(again)).toContain('This code is not right');
  expect(Object.fromEntries(askedForm(again).fields)).toMatchObject(fields);
  expect(await changes()).toEqual(before);

  const done = await answer(service, again, visitor);
  expect([200, 303], textOf(done)).toContain(done.statusCode);
  expect(done.body).not.toContain('confirmation-code');
  expect(await changes()).not.toEqual(before);
  // The factor is recent now.
  const { cookie } = visitor;
  expect(cookie).not.toBe('');
  expect(codeAt(as.secret, service.clock.now)).toMatch(/^\d{6}$/);
});
