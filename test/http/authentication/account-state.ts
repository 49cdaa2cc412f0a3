import { expect, test } from 'vitest';
import { MERCHANT_SCOPES, PARTNER_OWNER_SCOPES } from '#accounts/keys/scopes.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { ADDRESSES, addKey, addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { expectRefusal } from '../../helpers/refusal.ts';
import type { Subject } from './battery.ts';
import { type Account, createMerchantAccount } from './subject.ts';

/** E2008, E2101, E2102 and E2103, for each kind of account. */
export function testAccountState(subject: Subject): void {
  const { principals } = subject.route;
  for (const kind of ['merchant', 'partner'] as const) {
    if (principals.includes(kind)) {
      test(`passes a ${kind} key`, async () => {
        const account = await subject.newAccount(kind);
        subject.expectPassed(await subject.send({}, account));
      });
      if (kind === 'merchant') testMerchant(subject);
      else testPartner(subject);
    } else {
      test(`refuses a ${kind} key before its scopes and its account's other state`, async () => {
        const account = await subject.newAccount(kind);
        const error = expectRefusal(await subject.send({}, account), 'E2008');
        expect(error.message).toContain(kind);
        if (kind === 'partner') return;
        const { partner } = await addPartner(subject.service, { selfService: false });
        for (const options of [
          { kind: 'us', approved: false } as const,
          { partnerId: partner.id },
        ]) {
          const refused = await addMerchant(subject.service, options);
          expectRefusal(await subject.send({ credentials: refused }), 'E2008');
        }
      });
    }
  }
}

function testMerchant(subject: Subject): void {
  const add = (options: Parameters<typeof createMerchantAccount>[1]) =>
    createMerchantAccount(subject.service, options);

  test('takes the key of a live merchant as of a test one, unless it simulates', async () => {
    const addresses = { btc: ADDRESSES.btc };
    const answer = await subject.send({}, await add({ environment: 'live', addresses }));
    if (subject.route.testOnly) expectRefusal(answer, 'E2008');
    else subject.expectPassed(answer);
  });

  test('refuses the key of an inactive merchant until it is active again', async () => {
    const account = await add({});
    const set = (status: 'active' | 'inactive') =>
      setMerchant(operatorOf(subject.service), account.merchant.id, { status });
    await set('inactive');
    expectRefusal(await subject.send({}, account), 'E2008');
    await set('active');
    subject.expectPassed(await subject.send({}, account));
  });

  test('refuses a US merchant until its onboarding is approved', async () => {
    const account = await add({ kind: 'us', approved: false });
    const set = (onboarding: 'approved' | 'rejected') =>
      setMerchant(operatorOf(subject.service), account.merchant.id, { onboarding });
    expectRefusal(await subject.send({}, account), 'E2102');
    await set('rejected');
    expectRefusal(await subject.send({}, account), 'E2102');
    await set('approved');
    subject.expectPassed(await subject.send({}, account));
  });

  test('does not block a standard merchant for its onboarding', async () => {
    const account = await add({});
    await setMerchant(operatorOf(subject.service), account.merchant.id, { onboarding: 'pending' });
    subject.expectPassed(await subject.send({}, account));
  });

  test('refuses a linked merchant while its partner is off or self-service is', async () => {
    const { partner } = await addPartner(subject.service);
    const account = await add({ partnerId: partner.id });
    const set = (change: { self_service_api_payments?: boolean; status?: 'active' | 'inactive' }) =>
      subject.service.db.updateTable('partners').set(change).where('id', '=', partner.id).execute();
    subject.expectPassed(await subject.send({}, account));
    await set({ self_service_api_payments: false });
    expectRefusal(await subject.send({}, account), 'E2103');
    await set({ self_service_api_payments: true, status: 'inactive' });
    expectRefusal(await subject.send({}, account), 'E2103');
    await set({ status: 'active' });
    subject.expectPassed(await subject.send({}, account));
    await set({ status: 'inactive' });
    await setMerchant(operatorOf(subject.service), account.merchant.id, { partnerId: null });
    subject.expectPassed(await subject.send({}, account));
  });

  test("refuses a key without the route's scope, and passes one with no other", async () => {
    const { scope } = subject.route;
    const { account } = subject;
    const owner = { merchantId: account.merchant.id };
    const [without, alone] = [
      await addKey(subject.service, owner, { scopes: MERCHANT_SCOPES.filter(s => s !== scope) }),
      await addKey(subject.service, owner, { scopes: [scope] }),
    ];
    const error = expectRefusal(await subject.send({ credentials: without }), 'E2101');
    expect(error.message).toContain(scope);
    subject.expectPassed(await subject.send({ credentials: alone }));
  });
}

function testPartner(subject: Subject): void {
  const memberOf = ({ credentials }: Account) =>
    subject.service.db
      .selectFrom('api_keys')
      .innerJoin('partner_members', 'partner_members.id', 'api_keys.partner_member_id')
      .select(['partner_members.id', 'partner_members.partner_id'])
      .where('api_keys.id', '=', credentials.keyId)
      .executeTakeFirstOrThrow();

  test.each(['partners', 'partner_members'] as const)(
    'refuses a partner key while its row in %s is inactive',
    async table => {
      const account = await subject.newAccount('partner');
      const { id, partner_id } = await memberOf(account);
      const set = (status: 'active' | 'inactive') =>
        subject.service.db
          .updateTable(table)
          .set({ status })
          .where('id', '=', table === 'partners' ? partner_id : id)
          .execute();
      await set('inactive');
      expectRefusal(await subject.send({}, account), 'E2008');
      await set('active');
      subject.expectPassed(await subject.send({}, account));
    },
  );

  test('gives a partner key the scopes of its role, whatever is stored', async () => {
    const { scope } = subject.route;
    const account = await subject.newAccount('partner');
    const { id } = await memberOf(account);
    const stored = PARTNER_OWNER_SCOPES.filter(other => other !== scope).slice(0, 1);
    const owner = await addKey(subject.service, { memberId: id }, { scopes: stored });
    subject.expectPassed(await subject.send({ credentials: owner }, account));

    await subject.service.db
      .updateTable('partner_members')
      .set({ role: 'developer' })
      .where('id', '=', id)
      .execute();
    const answer = await subject.send({}, account);
    if (scope === 'partner_overview:read') subject.expectPassed(answer);
    else expectRefusal(answer, 'E2101');
  });
}
