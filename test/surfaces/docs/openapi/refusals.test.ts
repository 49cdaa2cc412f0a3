import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeKey } from '#accounts/keys/manage-keys.ts';
import { ERROR_CODES, type ErrorCode } from '#errors/catalogue.ts';
import { tryLockIdempotencyKey } from '#storage/repositories/payments/idempotency-keys.ts';
import {
  addKey,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
  type PartnerWithKey,
} from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { PROMPT_PATH } from '../../../helpers/prompt-path.ts';
import type { Answer } from '../../../helpers/refusal.ts';
import { type SignedRequest, send } from '../../../helpers/signed-request.ts';
import { refuse, startStripeServer } from '../../../payments/processors/stripe-server.ts';
import { type Contract, readContract } from './subject.ts';

let service: TestApp;
let contract: Contract;
let shop: MerchantWithKey;
let partner: PartnerWithKey;

beforeAll(async () => {
  service = await startTestApp();
  contract = await readContract(service);
  shop = await addMerchant(service, { domains: ['shop.example'] });
  partner = await addPartner(service);
});
afterAll(() => service.close());

const NOTHING = '019e35ce-b600-7c21-9b5e-0d1f5a7c9e42';
const amount = 5000;

function create(
  request: Partial<SignedRequest> = {},
  key = shop as Pick<MerchantWithKey, 'keyId' | 'secret' | 'passphrase'>,
) {
  return send(service, key, { path: PROMPT_PATH, body: { amount }, ...request });
}

async function createFor(options: Parameters<typeof addMerchant>[1], body: object = { amount }) {
  return create({ body }, await addMerchant(service, options));
}

async function inFlight(): Promise<Answer> {
  const scope = { accountId: shop.merchant.id, route: `POST ${PROMPT_PATH}`, key: 'running' };
  return service.db.transaction().execute(async tx => {
    expect(await tryLockIdempotencyKey(tx, scope)).toBe(true);
    return create({ headers: { 'idempotency-key': 'running' } });
  });
}

/** The response of a service that lacks something. */
async function brokenService(
  options: Parameters<typeof startTestApp>[0],
  prepare: (broken: TestApp) => Promise<unknown> = async () => undefined,
): Promise<Answer> {
  const broken = await startTestApp(options);
  try {
    const key = await addMerchant(broken);
    await prepare(broken);
    const ask = () => send(broken, key, { path: PROMPT_PATH, body: { amount } });
    await ask();
    return await ask();
  } finally {
    await broken.close();
  }
}

/** A US account's creation that the processor refuses. */
async function refusedByProcessor(): Promise<Answer> {
  const stripe = await startStripeServer();
  stripe.answer = response => refuse(response, 400, 'invalid_request_error', 'amount_too_large');
  const us = await startTestApp({ env: stripe.env });
  try {
    const key = await addMerchant(us, { kind: 'us', addresses: {} });
    return await send(us, key, { path: PROMPT_PATH, body: { amount } });
  } finally {
    await us.close();
    await stripe.close();
  }
}

/** How to provoke each code with a creation, which may return all of them. */
const PROVOKED: Partial<Record<ErrorCode, () => Promise<Answer>>> = {
  E1000: () => create({ body: '{' }),
  E1001: () => create({ body: { amount: 1 } }),
  E1002: () => create({ body: { amount, payer: 'merchant' } }),
  E1010: () => createFor({}, { amount, redirectUrl: 'https://shop.example/' }),
  E1011: () => create({ body: { amount, redirectUrl: 'ftp://shop.example/' } }),
  E1012: () => create({ body: { amount, redirectUrl: 'https://www.shop.example/' } }),
  E1020: () => create({ body: { amount, blockchainIds: ['tron'] } }),
  E1030: () => createFor({ withoutMainBranch: true }),
  E1040: refusedByProcessor,
  E2001: () => create({ headers: { 'x-mp-nonce': undefined } }),
  E2002: () => create({ headers: { 'x-mp-timestamp': 'now' } }),
  E2003: () => create({ now: service.clock() - 301_000 }),
  E2004: () => create({ headers: { 'x-mp-passphrase': 'another' } }),
  async E2005() {
    const key = await addKey(service, { merchantId: shop.merchant.id });
    await revokeKey(operatorOf(service), key.keyId);
    return create({}, key);
  },
  async E2006() {
    const expiresAt = new Date(service.clock() + 1_000);
    const key = await addKey(service, { merchantId: shop.merchant.id }, { expiresAt });
    service.clock.now += 2_000;
    return create({}, key);
  },
  E2007: () => create({ headers: { 'x-mp-signature': '0'.repeat(64) } }),
  async E2008() {
    const merchant = await addMerchant(service, { partnerId: partner.partner.id });
    const { id } = merchant.merchant;
    await service.db
      .updateTable('merchants')
      .set({ status: 'inactive' })
      .where('id', '=', id)
      .execute();
    return create({ body: { amount, merchantId: id } }, partner);
  },
  async E2009() {
    await create({ nonce: 'once' });
    return create({ nonce: 'once' });
  },
  E2101: () => createFor({ key: { scopes: ['blockchains:read'] } }),
  E2102: () => createFor({ kind: 'us', approved: false }),
  async E2103() {
    const closed = await addPartner(service, { selfService: false });
    return createFor({ partnerId: closed.partner.id });
  },
  E3001: () => create({ body: { amount, merchantId: NOTHING } }, partner),
  E4001: () => create({ headers: { 'idempotency-key': ' ' } }),
  async E4002() {
    const headers = { 'idempotency-key': 'taken' };
    await create({ headers });
    return create({ headers, body: { amount: 6000 } });
  },
  E4003: inFlight,
  E5001: () => brokenService({}, ({ db }) => sql`alter table branches rename to gone`.execute(db)),
  // Nothing listens on port 1, so nonces cannot be stored.
  E5002: () => brokenService({ nonces: { redisUrl: 'redis://127.0.0.1:1' } }),
  E9001: () => brokenService({ env: { RATE_LIMIT_MAX: '1' } }),
};

const documentedCodes = () =>
  ERROR_CODES.filter(code =>
    Object.values(contract.operation('createPayment').operation.responses).some(
      ({ content }) => content?.['application/json']?.examples?.[code] !== undefined,
    ),
  );

test('a creation documents exactly the codes that it can be made to return', () => {
  expect(documentedCodes()).toEqual(ERROR_CODES.filter(code => PROVOKED[code] !== undefined));
});

describe.each(Object.entries(PROVOKED))('%s', (errorCode, provoke) => {
  test('is answered as documented', async () => {
    const answer = await provoke();
    expect(JSON.parse(answer.body).error.errorCode).toBe(errorCode);
    contract.hold('createPayment', answer);
    const example = contract.document.components.examples[errorCode]?.value as {
      error: Record<string, unknown>;
    };
    const { error } = JSON.parse(answer.body);
    const { type, code, docUrl, userSafeMessage } = example.error;
    expect(error).toMatchObject({ type, code, docUrl, userSafeMessage });
  });
});

describe('reads', () => {
  const CASES: readonly [id: string, path: string, code: ErrorCode, of: 'shop' | 'partner'][] = [
    ['readPayment', `/external/v1/payments/${NOTHING}`, 'E3001', 'shop'],
    ['readPayment', '/external/v1/payments/7', 'E1001', 'shop'],
    ['listPayments', '/external/v1/payments?limit=0', 'E1001', 'shop'],
    ['listPayments', `/external/v1/payments?startingAfter=${NOTHING}`, 'E3001', 'shop'],
    ['readEvent', `/external/v1/events/${NOTHING}`, 'E3001', 'shop'],
    ['readEvent', '/external/v1/events/7', 'E1001', 'shop'],
    ['listEvents', '/external/v1/events?delivered=true', 'E1001', 'shop'],
    ['listEvents', `/external/v1/events?endingBefore=${NOTHING}`, 'E3001', 'shop'],
    ['listActiveBlockchains', '/external/v1/blockchains/active?a=1', 'E1002', 'shop'],
    ['listActiveBlockchains', '/external/v1/blockchains/active', 'E2008', 'partner'],
    ['readPartnerOverview', '/external/partner/overview', 'E2008', 'shop'],
    ['readPartnerMerchant', `/external/partner/merchants/${NOTHING}`, 'E3001', 'partner'],
    ['listPartnerPayments', '/external/partner/payments?page=0', 'E1001', 'partner'],
    ['readPartnerPayment', '/external/partner/payments/x', 'E1001', 'partner'],
  ];

  test.each(CASES)('%s of %s is %s, as documented', async (id, path, code, of) => {
    const answer = await send(service, of === 'shop' ? shop : partner, { path });
    expect(answer.json().error.errorCode).toBe(code);
    contract.hold(id, answer);
    const { responses } = contract.operation(id).operation;
    const { content } = responses[String(answer.statusCode)] ?? {};
    expect(content?.['application/json']?.examples).toHaveProperty(code);
  });
});
