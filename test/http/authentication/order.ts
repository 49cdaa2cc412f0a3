import { expect, test } from 'vitest';
import { revokeKey } from '#accounts/keys/manage-keys.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { addKey, addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { expectRefusal } from '../../helpers/refusal.ts';
import type { Subject } from './battery.ts';

const WRONG_SIGNATURE = { 'x-mp-signature': '0'.repeat(64) };
const WRONG_PASSPHRASE = { 'x-mp-passphrase': 'wrong' };

/** Which of two failing checks determines the response: the documented order, pair by pair. */
export function testOrder(subject: Subject): void {
  test('a missing header before a bad timestamp', async () => {
    const headers = { 'x-mp-signature': undefined, 'x-mp-timestamp': 'soon' };
    expectRefusal(await subject.send({ headers }), 'E2001');
  });

  test('a bad timestamp, or one too far away, before wrong credentials', async () => {
    const headers = { 'x-mp-timestamp': 'soon', ...WRONG_PASSPHRASE };
    expectRefusal(await subject.send({ headers }), 'E2002');
    const now = subject.service.clock() + 301_000;
    expectRefusal(await subject.send({ now, headers: WRONG_PASSPHRASE }), 'E2003');
  });

  test('wrong credentials, revoked, expired, a wrong signature', async () => {
    const { db } = subject.service;
    const account = await subject.newKey();
    const { keyId } = account.credentials;
    const send = (headers: Record<string, string>) => subject.send({ headers }, account);
    await db
      .updateTable('api_keys')
      .set({ expires_at: new Date(subject.service.clock()) })
      .where('id', '=', keyId)
      .execute();
    expectRefusal(await send({ ...WRONG_PASSPHRASE, ...WRONG_SIGNATURE }), 'E2004');
    expectRefusal(await send(WRONG_SIGNATURE), 'E2006');
    await revokeKey(operatorOf(subject.service), keyId);
    expectRefusal(await send({ ...WRONG_PASSPHRASE, ...WRONG_SIGNATURE }), 'E2004');
    expectRefusal(await send(WRONG_SIGNATURE), 'E2005');
  });

  test('a wrong signature before a used nonce', async () => {
    const nonce = crypto.randomUUID();
    subject.expectPassed(await subject.send({ nonce }));
    expectRefusal(await subject.send({ nonce, headers: WRONG_SIGNATURE }), 'E2007');
  });

  test('a used nonce before the state of the account', async () => {
    const account = await subject.newAccount();
    const nonce = crypto.randomUUID();
    subject.expectPassed(await subject.send({ nonce }, account));
    const { db } = subject.service;
    const off = { status: 'inactive' } as const;
    if (account.partner === null)
      await db.updateTable('merchants').set(off).where('id', '=', account.merchant.id).execute();
    else await db.updateTable('partners').set(off).where('id', '=', account.partner.id).execute();
    expectRefusal(await subject.send({ nonce }, account), 'E2009');
    expectRefusal(await subject.send({}, account), 'E2008');
  });

  if (subject.route.principals.includes('merchant')) testMerchantOrder(subject);

  test('everything of authentication before errors in the request', async () => {
    const { path, body = '' } = subject.route.request(subject.account);
    const broken = {
      method: subject.route.method,
      path: `${path}?unknown=%00`,
      body: body === '' ? '' : '{"amount":',
    };
    expectRefusal(await subject.send({ parts: broken, headers: WRONG_SIGNATURE }), 'E2007');
    const answer = await subject.send({ parts: broken });
    expect(answer.statusCode).toBe(400);
  });
}

function testMerchantOrder(subject: Subject): void {
  test('inactive, onboarding, partner, scope', async () => {
    const { service, route } = subject;
    const operator = operatorOf(service);
    const { partner } = await addPartner(service, { selfService: false });
    const { merchant } = await addMerchant(service, {
      kind: 'us',
      environment: 'test',
      addresses: {},
      approved: false,
      partnerId: partner.id,
    });
    const scopes = [
      route.scope === 'blockchains:read' ? 'payment_prompts:read' : 'blockchains:read',
    ];
    const credentials = await addKey(service, { merchantId: merchant.id }, { scopes });
    const send = () => subject.send({ credentials });

    await setMerchant(operator, merchant.id, { status: 'inactive' });
    expectRefusal(await send(), 'E2008');
    await setMerchant(operator, merchant.id, { status: 'active' });
    expectRefusal(await send(), 'E2102');
    await setMerchant(operator, merchant.id, { onboarding: 'approved' });
    expectRefusal(await send(), 'E2103');
    await setMerchant(operator, merchant.id, { partnerId: null });
    expectRefusal(await send(), 'E2101');
  });
}
