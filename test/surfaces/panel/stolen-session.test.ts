import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { applyDueChanges } from '#accounts/apply-changes.ts';
import { createBranch } from '#accounts/branches.ts';
import { newCodeSecret } from '#accounts/people/codes.ts';
import { listAddressesOn } from '#storage/repositories/accounts/deposit-addresses.ts';
import { findMainBranch } from '#storage/repositories/accounts/merchants.ts';
import { newAddress } from '../../accounts/account-of-changes.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addEndpoint } from '../../helpers/deliveries.ts';
import { mailEnv } from '../../helpers/mail-server.ts';
import {
  addMerchantUser,
  addSession,
  codeAt,
  cookieOf,
  open,
  PASSWORD,
  SURE,
  submit,
  textOf,
  type Visitor,
  wrongCodeAt,
} from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';

/** What a thief can do with the cookie of an admin's session, without password and app. */

const NETWORK = 'eth';
/** Where pages show a secret once. */
const SHOWN_ONCE = /id="(key-secret|webhook-secret|recovery-codes|link)"/;

/** A form with this field takes a code. */
const code = '';

type Form = readonly [path: string, fields: Readonly<Record<string, string>>];

let service: TestApp;
let merchantId: string;
let address: string;
let branchId: string;
let keyId: string;
let endpointId: string;
/** ID of another branch. */
let kioskId: string;
let ada: Visitor & { readonly userId: string };
let bob: Visitor & { readonly userId: string };

beforeAll(async () => {
  // No mail is sent; the tests look at the outbox.
  service = await startTestApp({ env: { PANEL_ADDRESS_DELAY_HOURS: '24', ...mailEnv(1) } });
});
afterAll(() => service.close());

beforeEach(async () => {
  address = newAddress();
  const shop = await addMerchant(service, { addresses: { [NETWORK]: address } });
  ({ keyId } = shop);
  merchantId = shop.merchant.id;
  branchId = (await findMainBranch(service.db, merchantId))?.id ?? '';
  const kiosk = { merchantId, name: 'Kiosk', main: false };
  kioskId = (await createBranch(operatorOf(service), kiosk)).id;
  endpointId = (await addEndpoint(service, merchantId)).endpoint.id;
  const at = new Date(service.clock.now);
  await addPayment(service.db, shop.merchant, {
    created_at: at,
    paid_at: at,
    status: 'successful',
    session_status: 'completed',
  });
  const named = { withPassword: true } as const;
  ada = await addMerchantUser(service, merchantId, 'admin', { name: 'Ada', ...named });
  bob = await addMerchantUser(service, merchantId, 'admin', { name: 'Bob', ...named });
});

const settings = () => `/panel/merchants/${merchantId}/settings`;

/** An unused code: the clock moves to the next one. */
function nextCode({ secret }: Visitor): string {
  service.clock.now += 30_000;
  return codeAt(secret, service.clock.now);
}

interface Proof {
  readonly code: string;
  readonly password: string;
}

/** Fills in the code and the password where a form has a field for them. */
function prove(fields: Form[1], proof: Proof): Record<string, string> {
  const given = Object.entries(proof).filter(([name]) => name in fields);
  return { ...fields, ...Object.fromEntries(given) };
}

/** Sends a form in a session that was stolen this many minutes after its second factor, with a guessed code. */
async function sendStolen([path, fields]: Form, minutes: number, guess: string) {
  const cookie = await addSession(service, ada, minutes);
  const sent = prove(fields, { code: guess, password: '' });
  // As on the page that asks for a recent second factor.
  const confirmation = guess === '' ? {} : { 'confirmation-code': guess };
  return submit(service, path, { ...sent, ...confirmation }, { cookie });
}

/** Expects forms to change nothing in a stolen session, whether the code is missing or guessed. */
async function expectRefused(forms: readonly Form[], minutes: number): Promise<void> {
  const before = await snapshot();
  for (const form of forms) {
    for (const guess of ['', wrongCodeAt(ada.secret, service.clock.now)]) {
      const response = await sendStolen(form, minutes, guess);
      const isToConfirm = response.body.includes('confirmation-code');
      expect(isToConfirm || response.statusCode === 422, form[0]).toBe(true);
      expect(response.body, form[0]).not.toMatch(SHOWN_ONCE);
    }
    // Wrong codes in a row would also make the form refuse the right one.
    service.clock.now += 16 * 60_000;
  }
  expect(await snapshot()).toEqual(before);
}

/** What the forms of these tests would change, without counters of failures. */
async function snapshot() {
  const { rows } = await sql`
    select (select json_agg(k order by id) from api_keys k) as keys,
           (select json_agg(e order by id) from webhook_endpoints e) as endpoints,
           (select json_agg(l order by id) from panel_links l) as links,
           (select json_agg(u order by id) from merchant_users u) as users,
           (select json_agg(b order by id) from branches b) as branches,
           (select json_agg(m order by id) from merchants m) as merchants,
           (select json_agg(c order by id) from address_changes c) as changes,
           (select json_agg(a order by branch_id, blockchain_id, address) from deposit_addresses a)
             as addresses,
           (select json_agg((email, password_hash, code_secret, factors_since) order by id)
            from people) as people`.execute(service.db);
  return rows[0];
}

test('it reveals no secret', async () => {
  const intent = randomUUID;
  const forms = (): readonly Form[] => [
    [
      `${settings()}/developer/keys/new`,
      { intent: intent(), name: 'mine', expiry: 'never', date: '', 'payment_prompts:read': 'on' },
    ],
    [`${settings()}/developer/keys/${keyId}/rotate`, { intent: intent(), grace: 'yes', ...SURE }],
    [
      `${settings()}/developer/webhooks/new`,
      { intent: intent(), url: 'https://mine.example.com/', type: 'all' },
    ],
    [`${settings()}/developer/webhooks/${endpointId}/rotate`, { intent: intent(), ...SURE }],
    [
      `${settings()}/team/invite`,
      { intent: intent(), name: 'Eve', email: `${randomUUID()}@example.com`, role: 'admin', code },
    ],
    [`${settings()}/team/${bob.userId}/link`, { intent: intent(), purpose: 'both', code }],
    ['/panel/profile/recovery-codes', { password: '', code }],
  ];
  await expectRefused(forms(), 11);
  // With a real proof, each of them shows one.
  for (const [path, fields] of forms()) {
    const sender = { cookie: await addSession(service, ada) };
    const proof = { code: nextCode(ada), password: PASSWORD };
    const response = await submit(service, path, prove(fields, proof), sender);
    expect(response.body, path).toMatch(SHOWN_ONCE);
  }
});

test('it changes no address, and none unnoticed with a code obtained by fraud', async () => {
  const other = newAddress();
  const fields = { branch: branchId, kind: 'address.set', address: other, seen: address, code };
  const proposal: Form = [`${settings()}/addresses/${NETWORK}/propose`, fields];
  const forms: readonly Form[] = [
    proposal,
    [proposal[0], { ...fields, kind: 'address.add' }],
    [`${settings()}/branches/${kioskId}/main`, { code }],
  ];
  // Stolen right after the second factor.
  await expectRefused(forms, 0);

  const proposed = await sendStolen(proposal, 0, nextCode(ada));
  expect(proposed.headers.location).toContain(`${settings()}/changes/`);
  expect(await listAddressesOn(service.db, branchId, NETWORK)).toEqual([address]);
  const cookie = await addSession(service, bob);
  for (const page of ['', '/payments', '/settings/team']) {
    const url = settings().replace('/settings', page);
    expect(textOf(await open(service, url, { cookie }))).toContain('A new deposit address');
  }
  const told = await service.db
    .selectFrom('mails')
    .select('kind')
    .where('person_id', '=', bob.personId)
    .execute();
  expect(told).toContainEqual({ kind: 'money-change' });
  const approval: Form = [`${proposed.headers.location}/approve`, { code }];
  const approved = await sendStolen(approval, 0, nextCode(ada));
  expect(approved.statusCode).toBe(422);
  await submit(service, `${proposed.headers.location}/cancel`, {}, { cookie });
  service.clock.now += 25 * 60 * 60_000;
  await applyDueChanges(service.db, service.clock, 10);
  expect(await listAddressesOn(service.db, branchId, NETWORK)).toEqual([address]);
});

test('it locks nobody out', async () => {
  const secret = newCodeSecret();
  const proof = { password: '', code };
  const member = `${settings()}/team/${bob.userId}`;
  await expectRefused(
    [
      [`${member}/role`, { role: 'member', code }],
      [`${member}/status`, { status: 'inactive', code }],
      [`${member}/link`, { intent: randomUUID(), purpose: 'both', code }],
      [`${settings()}/team/${ada.userId}/status`, { status: 'inactive', code }],
      ['/panel/profile/password', { 'new-password': 'a password of the thief', ...proof }],
      ['/panel/profile/email', { email: 'thief@example.com', ...proof }],
      ['/panel/profile/app', { secret, 'new-code': codeAt(secret, service.clock.now), ...proof }],
    ],
    0,
  );
  // Makes all guesses that one session has, and ends all other sessions of the same person.
  const thief = { cookie: await addSession(service, ada) };
  const ended = await submit(service, '/panel/profile/sessions/end-others', {}, thief);
  expect(ended.statusCode).toBe(303);
  for (let guess = 0; guess < 5; guess++) {
    const wrong = wrongCodeAt(ada.secret, service.clock.now);
    await submit(
      service,
      '/panel/profile/email',
      { email: 'x@example.com', ...proof, code: wrong },
      thief,
    );
  }
  expect((await open(service, '/panel/profile', thief)).statusCode).toBe(303);
  for (const { email, ...visitor } of [ada, bob]) {
    const half = await submit(service, '/panel/sign-in', { email, password: PASSWORD });
    const right = nextCode({ email, ...visitor });
    const whole = await submit(
      service,
      '/panel/sign-in/code',
      { code: right },
      { cookie: cookieOf(half) },
    );
    const cookie = cookieOf(whole);
    expect((await open(service, `${settings()}/team`, { cookie })).statusCode).toBe(200);
  }
  // With a real proof.
  const demoted = await sendStolen([`${member}/role`, { role: 'member', code }], 0, nextCode(ada));
  expect(demoted.statusCode).toBe(303);
});
