import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { proposeMainBranch } from '#accounts/address-changes.ts';
import { createBranch } from '#accounts/branches.ts';
import { createKey } from '#accounts/keys/manage-keys.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { auditPerson } from '#accounts/people/sign-in.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { disableEndpoint, enableEndpoint } from '#payments/webhooks/change-endpoint.ts';
import { newAddress } from '../../accounts/account-of-changes.ts';
import { addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addDelivery, addEndpoint } from '../../helpers/deliveries.ts';
import { addRequest } from '../../helpers/logged-requests.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addSession,
  addShop,
  follow,
  open,
  submit,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';
import { simulatedTransfer } from '../../helpers/see-transfer.ts';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const inDays = (days: number) => new Date(service.clock.now + days * DAY_MS);

/** A shop whose new key needs attention, as a missing address and missing recovery codes do. */
async function openShop() {
  const address = newAddress();
  const shop = await addShop(service, '', { addresses: { 'eth-test': address } });
  return { ...shop, address };
}
type Shop = Awaited<ReturnType<typeof openShop>>;

/** The section of a first page, and the keys of its buttons. */
async function look(path: string, visitor: Visitor) {
  const page = await open(service, path, { cookie: await addSession(service, visitor) });
  const [section = ''] =
    /<section aria-labelledby="attention">[\s\S]*?<\/section>/.exec(page.body) ?? [];
  const keys = [...section.matchAll(/name="item" value="([^"]+)"/g)].map(([, key = '']) => key);
  return { keys, text: textOf({ body: section }) };
}

const putAside = (path: string, visitor: Visitor, item: string, to = 'aside') =>
  submit(service, `${path}/attention`, { item, to }, visitor);

/** Puts everything aside that needs attention. */
async function putAllAside({ path, ada }: Pick<Shop, 'path' | 'ada'>): Promise<void> {
  ada.cookie = await addSession(service, ada);
  for (const key of (await look(path, ada)).keys) {
    expect((await putAside(path, ada, key)).statusCode, key).toBe(303);
  }
  expect((await look(path, ada)).keys).toEqual([]);
}

test('an item is put aside for one person in one account, and taken back by one press', async () => {
  const { merchant, path, ada } = await openShop();
  const grace = await addMerchantUser(service, merchant.id, 'member', { name: 'Grace' });
  const { keys, text } = await look(path, ada);
  const said = 'The API key Test key was made on';
  expect(text).toContain(said);
  const key = keys.find(each => each.startsWith('key-made:')) ?? '';
  const others = keys.filter(each => each !== key);
  const done = await follow(service, await putAside(path, ada, key), ada);
  expect(textOf(done)).toContain('Put aside for you');
  expect(done.body).toContain(`<form method="post" action="${path}/attention">`);
  expect(done.body).toContain(`<input type="hidden" name="item" value="${key}">`);
  expect(done.body).toContain('<input type="hidden" name="to" value="shown">');
  expect((await look(path, ada)).text).not.toContain(said);
  expect((await look(path, ada)).keys).toEqual(others);
  expect((await look(path, grace)).keys).toEqual(keys);
  // Members put aside for themselves as well, without a second factor.
  grace.cookie = await addSession(service, grace, 60);
  expect((await putAside(path, grace, key)).statusCode).toBe(303);
  expect((await look(path, grace)).keys).toEqual(others);
  const shown = await follow(service, await putAside(path, ada, key, 'shown'), ada);
  expect(textOf(shown)).toContain('It is shown again.');
  expect((await look(path, ada)).keys).toEqual(keys);
  expect((await look(path, grace)).keys).toEqual(others);
});

test('it stays aside in the other accounts of the person only if it was put aside there', async () => {
  const [first, second] = [await openShop(), await openShop()];
  await sql`
    update merchant_users set person_id = ${first.ada.personId}
    where id = ${second.ada.userId}`.execute(service.db);
  const { personId: id, email } = first.ada;
  const person = { id, email, email_confirmed_at: new Date(0), is_demo: false };
  const occasion = { address: '192.0.2.7', now: new Date(service.clock.now) };
  await auditPerson(service.db, person, 'person.password', occasion);
  await putAllAside(first);
  expect((await look(second.path, first.ada)).text).toContain('Your password was changed');
});

test('what is no item, or too long for one, is refused', async () => {
  const { path, ada } = await openShop();
  for (const item of ['', 'x'.repeat(201), 'a b', '<script>', 'key-made:1\u0000']) {
    expect((await putAside(path, ada, item)).statusCode, item).toBe(400);
  }
  expect((await putAside(path, ada, 'x', 'away')).statusCode).toBe(400);
  expect((await putAside(path, ada, 'x'.repeat(200))).statusCode).toBe(303);
});

test('of more than 500 items of a person the oldest are removed, and nobody else loses any', async () => {
  const { merchant, path, ada } = await openShop();
  const other = await openShop();
  await putAllAside(other);
  await sql`
    insert into attention_put_aside (person_id, account_id, item, at)
    select ${ada.personId}, ${merchant.id}, 'item:' || n, ${inDays(-1)}::timestamptz + n * interval '1 s'
    from generate_series(1, 502) as n`.execute(service.db);
  await putAside(path, ada, 'newest');
  await putAside(path, ada, 'newest');
  const { rows } = await sql<{ count: number; has_oldest: boolean; has_newest: boolean }>`
    select count(*)::integer as count, bool_or(item = 'item:3') as has_oldest,
      bool_or(item = 'newest') as has_newest
    from attention_put_aside where person_id = ${ada.personId}`.execute(service.db);
  expect(rows).toEqual([{ count: 500, has_oldest: false, has_newest: true }]);
  expect((await look(other.path, other.ada)).keys).toEqual([]);
});

describe('what was put aside is shown again when it is news:', () => {
  const arrive = ({ address }: Shop) =>
    observeTransfer(
      service.db,
      simulatedTransfer({
        blockchainId: 'eth-test',
        transactionHash: `0x${uuidv7()}`,
        address,
        tokenAmount: 12_345n,
        occurredAt: new Date(service.clock.now),
      }),
      new Date(service.clock.now),
    );
  const refuse = ({ keyId }: Shop, requests: number) => {
    const id = uuidv7({ msecs: service.clock.now });
    return addRequest(service, { id, keyId, requests, errorCode: 'E2007', status: 401 });
  };

  test.each<[string, string, (shop: Shop) => Promise<() => Promise<unknown>>]>([
    [
      'another deposit, although one was settled meanwhile',
      'that no payment took',
      async shop => {
        const { id } = await arrive(shop);
        return async () => {
          await sql`update deposits set dismissed_at = now() where id = ${id}`.execute(service.db);
          service.clock.now += MINUTE_MS;
          await arrive(shop);
        };
      },
    ],
    [
      'another expiry of a key',
      'expires on',
      async ({ merchant }) => {
        const owner = { merchantId: merchant.id };
        const key = { owner, name: 'short', expiresAt: inDays(3) };
        const { keyId } = await createKey(operatorOf(service), service.keyring, key);
        return () =>
          service.db
            .updateTable('api_keys')
            .set({ expires_at: inDays(5) })
            .where('id', '=', keyId)
            .execute();
      },
    ],
    [
      'ten times as many refused requests',
      'requests refused with E2007',
      async shop => {
        await refuse(shop, 20);
        return () => refuse(shop, 80);
      },
    ],
    [
      'another failure of an endpoint, after a success',
      'Nothing could be delivered',
      async ({ merchant }) => {
        const { endpoint } = await addEndpoint(service, merchant.id, 'https://shop.example.com/x');
        const payment = await addPayment(service.db, merchant, { created_at: inDays(-1) });
        const deliver = async (hours: number, status: 'failed' | 'succeeded') => {
          const at = new Date(service.clock.now - hours * 60 * MINUTE_MS);
          const delivery = { endpointId: endpoint.id, status, created_at: at } as const;
          await addDelivery(service, payment, delivery);
        };
        await deliver(9, 'succeeded');
        await deliver(8, 'failed');
        return async () => {
          await deliver(4, 'succeeded');
          await deliver(3, 'failed');
        };
      },
    ],
    [
      'another time that an endpoint is disabled',
      'is disabled',
      async ({ merchant }) => {
        const { endpoint } = await addEndpoint(service, merchant.id);
        await disableEndpoint(operatorOf(service), endpoint.id, 'disabled-by Ada');
        return async () => {
          service.clock.now += MINUTE_MS;
          await enableEndpoint(operatorOf(service), endpoint.id);
          await disableEndpoint(operatorOf(service), endpoint.id, 'disabled-by Ada');
        };
      },
    ],
    [
      'another event of the person',
      'with a new device',
      async ({ ada: { personId: id, email } }) => {
        const signIn = () =>
          auditPerson(
            service.db,
            { id, email, email_confirmed_at: new Date(0), is_demo: false },
            'person.sign-in',
            {
              address: '192.0.2.7',
              now: new Date(service.clock.now),
              detail: { device: 'new' },
            },
          );
        await signIn();
        return () => {
          service.clock.now += 1;
          return signIn();
        };
      },
    ],
    [
      'fewer recovery codes',
      'recovery code',
      async ({ ada }) => {
        const add = (n: number) =>
          service.db
            .insertInto('recovery_codes')
            .values({ person_id: ada.personId, hash: Buffer.from([n]), used_at: null })
            .execute();
        await add(1);
        await add(2);
        return () =>
          service.db
            .updateTable('recovery_codes')
            .set({ used_at: new Date(service.clock.now) })
            .where('hash', '=', Buffer.from([1]))
            .execute();
      },
    ],
  ])('%s', async (_, said, happen) => {
    const shop = await openShop();
    const happenAgain = await happen(shop);
    expect((await look(shop.path, shop.ada)).text).toContain(said);
    await putAllAside(shop);
    await happenAgain();
    const { keys, text } = await look(shop.path, shop.ada);
    expect(text).toContain(said);
    expect(keys).toHaveLength(1);
  });
});

test('an address change that waits stays on every page: it has no button', async () => {
  const { merchant, path, ada } = await openShop();
  await addPayment(service.db, merchant, {
    created_at: new Date(service.clock.now),
    paid_at: new Date(service.clock.now),
    status: 'successful',
    session_status: 'completed',
  });
  const branch = { merchantId: merchant.id, name: 'Kiosk', main: false };
  const { id: branchId } = await createBranch(operatorOf(service), branch);
  const proposer = { ...operatorOf(service), personId: ada.personId };
  await proposeMainBranch(proposer, { merchantId: merchant.id, branchId }, DAY_MS);
  await putAllAside({ path, ada });
  const { body } = await open(service, path, { cookie: await addSession(service, ada) });
  const [notices = ''] = /<div class="notice" role="note">[\s\S]*?<\/div>/.exec(body) ?? [];
  expect(notices).toContain('/settings/changes/');
  expect(notices).not.toContain('<button');
});

test('in an inactive account nothing can be put aside', async () => {
  const { merchant, path, ada } = await openShop();
  const { keys } = await look(path, ada);
  await setMerchant(operatorOf(service), merchant.id, { status: 'inactive' });
  const { keys: left, text } = await look(path, ada);
  expect(text).toContain('The API key Test key was made on');
  expect(left).toEqual([]);
  expect((await putAside(path, ada, keys[0] ?? '')).statusCode).toBe(403);
});

test.each(['owner', 'developer'] as const)(
  'the %s of a partner puts keys and onboardings aside',
  async role => {
    const { partner } = await addPartner(service);
    const ada = await addPartnerUser(service, partner.id, role);
    const owner = { memberId: ada.memberId };
    await createKey(operatorOf(service), service.keyring, { owner, name: 'reports' });
    const us = { kind: 'us', approved: false, partnerId: partner.id } as const;
    await addMerchant(service, { ...us, name: 'New in the US' });
    const path = `/panel/partners/${partner.id}`;
    const { text } = await look(path, ada);
    expect(text).toContain('The API key reports was made on');
    expect(text).toContain('Onboarding of New in the US is pending since');
    await putAllAside({ path, ada: { ...ada, userId: '' } });
    await addMerchant(service, { ...us, name: 'Also new' });
    expect((await look(path, ada)).text).toMatch(/^ ?Needs attention Onboarding of Also new/);
  },
);
