import { HDKey } from '@scure/bip32';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { proposeAddress, proposeMainBranch } from '#accounts/address-changes.ts';
import { applyDueChanges, approveChange, cancelChange } from '#accounts/apply-changes.ts';
import { setAddress } from '#accounts/deposit-addresses.ts';
import { createKey, revokeKey, rotateKey } from '#accounts/keys/manage-keys.ts';
import { ATTEMPTS_MAXIMUM } from '#accounts/mail/outbox.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { createPartnerMember, setPartnerMember } from '#accounts/partners.ts';
import { newCodeSecret } from '#accounts/people/codes.ts';
import { inviteMember, inviteUser, linkFor } from '#accounts/people/invitations.ts';
import { createUser, setUser } from '#accounts/users.ts';
import { readWallet } from '#accounts/wallets.ts';
import { walletAddress } from '#chains/bitcoin/wallet-addresses.ts';
import { disableEndpoint } from '#payments/webhooks/change-endpoint.ts';
import { transact } from '#storage/database/transaction.ts';
import { dropMails } from '#storage/repositories/mails.ts';
import { findNoticesLoop } from '#worker/small-loops.ts';
import { addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addDelivery, addEndpoint } from '../../helpers/deliveries.ts';
import {
  type MailServer,
  type ReceivedMail,
  sendDueMail,
  startMailServer,
} from '../../helpers/mail-server.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addPerson,
  addSession,
  codeAt,
  cookieOf,
  DEVICE_COOKIE,
  PASSWORD,
  SURE,
  submit,
  wrongCodeAt,
} from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';
import {
  type Account,
  DELAY_MS,
  earn,
  HOUR_MS,
  NETWORK,
  newAddress,
  openAccount,
  personOf,
} from '../account-of-changes.ts';

const DAY_MS = 24 * HOUR_MS;
const PANEL = 'https://pay.example.test/panel';

let service: TestApp;
let server: MailServer;
let serial = 0;

beforeAll(async () => {
  [service, server] = [await startTestApp(), await startMailServer()];
});
afterAll(async () => {
  await service.close();
  await server.close();
});
beforeEach(() => forget());

/** Drops the pending mails, without sending them. */
async function forget(): Promise<void> {
  await dropMails(service.db, new Date(service.clock()), 1_000);
}

/** Sends the pending mails; returns them in the order of their recipients. */
async function receive(): Promise<ReceivedMail[]> {
  const before = server.mails.length;
  await sendDueMail(service, server.port);
  return server.mails.slice(before).toSorted((a, b) => (String(a.to) < String(b.to) ? -1 : 1));
}

const recipients = (mails: readonly ReceivedMail[]) => mails.flatMap(({ to }) => to);
const sorted = (...people: readonly { readonly email: string }[]) =>
  people.map(({ email }) => email).toSorted();

async function find(): Promise<void> {
  const loop = findNoticesLoop(service);
  await loop.run(new AbortController().signal, () => undefined);
}

/** A merchant with two admins, who get notices; a member, an inactive user and the demo get none. */
async function openShop() {
  const shop = await addMerchant(service);
  await setMerchant(operatorOf(service), shop.merchant.id, { name: 'Blue Coffee' });
  const add = (role: 'admin' | 'member', isDemo = false) =>
    addMerchantUser(service, shop.merchant.id, role, { isDemo });
  const admins = [await add('admin'), await add('admin')];
  await add('member');
  await add('admin', true);
  await setUser(operatorOf(service), (await add('admin')).userId, { status: 'inactive' });
  await forget();
  return { ...shop, admins, url: `${PANEL}/merchants/${shop.merchant.id}` };
}

/** A partner with an owner and two developers. */
async function openPartner() {
  const { partner } = await addPartner(service);
  const owner = await addPartnerUser(service, partner.id, 'owner');
  const developer = await addPartnerUser(service, partner.id, 'developer');
  await addPartnerUser(service, partner.id, 'developer');
  await forget();
  return { partner, owner, developer };
}

describe('notices about somebody’s own sign-in go only to them', () => {
  test('a sign-in with an unknown device', async () => {
    const { merchant } = await openShop();
    const admin = await addMerchantUser(service, merchant.id, 'admin', { withPassword: true });
    const signIn = async (device = '') => {
      const { email } = admin;
      const half = await submit(
        service,
        '/panel/sign-in',
        { email, password: PASSWORD },
        { cookie: device },
      );
      service.clock.now += 30_000;
      const code = codeAt(admin.secret, service.clock.now);
      const cookie = `${cookieOf(half)}; ${device}`;
      return submit(service, '/panel/sign-in/code', { code }, { cookie });
    };
    const first = await signIn();
    const [mail, ...others] = await receive();
    expect(mail).toMatchObject({ to: [admin.email], subject: 'You signed in with a new device' });
    expect(mail?.text).toMatch(/on 2026-05-17 at \d\d:\d\d UTC, from 10\.[\d.]+\.\n/);
    expect(others).toEqual([]);
    await signIn(cookieOf(first, DEVICE_COOKIE));
    expect(await receive()).toEqual([]);
  });

  test('too many wrong codes', async () => {
    const { admins } = await openShop();
    const [admin] = admins;
    if (admin === undefined) throw new Error('there is no admin');
    for (let n = 0; n < 11; n++) {
      const cookie = await addSession(service, admin, null);
      const code = wrongCodeAt(admin.secret, service.clock.now);
      await submit(service, '/panel/sign-in/code', { code }, { cookie });
    }
    const mails = await receive();
    expect(recipients(mails)).toEqual([admin.email]);
    expect(mails[0]?.subject).toBe('Wrong codes were entered for you');
    expect(mails[0]?.text).toContain('10 wrong codes were entered for you');
  });
});

describe('a change to somebody’s credentials is reported to them', () => {
  const OTHER = 'another password that is long';
  /** Adds a person, with a function that sends a form of their profile with the required proof. */
  const openPerson = async () => {
    const { merchant, admins } = await openShop();
    const person = await addMerchantUser(service, merchant.id, 'member', { withPassword: true });
    const send = (form: string, fields: Readonly<Record<string, string>>) => {
      service.clock.now += 30_000;
      const code = codeAt(person.secret, service.clock.now);
      return submit(
        service,
        `/panel/profile/${form}`,
        { ...fields, password: PASSWORD, code },
        person,
      );
    };
    return { person, admins, send };
  };

  test.each<[string, string, (now: number) => Record<string, string>]>([
    ['password', 'Your password was changed, on', () => ({ 'new-password': OTHER })],
    ['recovery-codes', 'Your recovery codes were replaced, on', () => ({})],
    [
      'app',
      'Your authenticator app was replaced, on',
      now => {
        const secret = newCodeSecret();
        return { secret, 'new-code': codeAt(secret, now) };
      },
    ],
    [
      'email',
      'The e-mail that you sign in with was changed: it is no longer this one, on',
      () => ({ email: `new.${serial++}@example.com` }),
    ],
  ])('%s: at the e-mail that they had', async (form, says, fields) => {
    const { person, send } = await openPerson();
    const changed = await send(form, fields(service.clock.now + 30_000));
    expect([200, 303]).toContain(changed.statusCode);
    const mails = await receive();
    expect(recipients(mails)).toEqual([person.email]);
    expect(mails[0]?.subject).toBe('What you sign in with was changed');
    expect(mails[0]?.text).toMatch(new RegExp(`${says} 2026-\\S+ at \\S+ UTC, from 10\\.`));
    expect(mails[0]?.text).toContain(`${PANEL}/profile\n`);
  });

  test('nothing is reported about a refused form', async () => {
    const { send } = await openPerson();
    expect((await send('password', { 'new-password': 'short' })).statusCode).toBe(422);
    expect((await send('email', { email: 'nobody' })).statusCode).toBe(422);
    expect(await receive()).toEqual([]);
  });

  test.each([
    ['password', 'a new password is chosen for you', 'Your password was changed with a link'],
    ['both', 'a new authenticator app is set up', 'and your authenticator app were replaced with'],
    ['factors', 'a new authenticator app is set up', 'Your authenticator app was replaced with'],
  ] as const)('a link for %s: when it is made and when it is used', async (purpose, made, used) => {
    const { person, admins } = await openPerson();
    const by = { ...operatorOf(service), personId: admins[0]?.personId ?? '', actor: 'ada@x.test' };
    const { token } = await linkFor(by, { userId: person.userId }, purpose);
    const told = await receive();
    expect(recipients(told)).toEqual([person.email]);
    expect(told[0]?.text).toMatch(/ada@x\.test has made a link on 2026-\S+ at \S+ UTC with which/);
    expect(told[0]?.text).toContain(made);
    expect(told[0]?.text).not.toContain(token);
    const secret = newCodeSecret();
    const code = codeAt(secret, service.clock.now);
    const password = purpose === 'factors' ? PASSWORD : OTHER;
    await submit(service, `/panel/join/${token}`, { email: '', password, secret, code });
    const after = await receive();
    expect(recipients(after)).toEqual([person.email]);
    expect(after[0]?.text).toContain(used);
    await linkFor(operatorOf(service), { userId: person.userId }, purpose);
    expect((await receive())[0]?.text).toContain('Your operator has made a link');
  });
});

describe('who may decide in an account', () => {
  test('if an admin is removed, that admin and the others are notified', async () => {
    const { merchant, admins, url } = await openShop();
    const [ada, bob] = admins;
    if (ada === undefined || bob === undefined) throw new Error('there are two admins');
    const by = { ...operatorOf(service), personId: ada.personId, actor: 'ada@x.test' };
    await setUser(by, bob.userId, { status: 'inactive' });
    const removed = await receive();
    expect(recipients(removed)).toEqual(sorted(...admins));
    for (const { subject, text } of removed) {
      expect(subject).toBe('An admin of Blue Coffee was removed');
      expect(text).toContain('ada@x.test has deactivated Ada, who was an admin of Blue Coffee.');
      expect(text).toContain(`${url}/settings/team\n`);
    }
    // None of these ends anybody's right to decide.
    await setUser(by, bob.userId, { role: 'member' });
    await setUser(by, bob.userId, { status: 'active' });
    const cy = await addMerchantUser(service, merchant.id, 'member');
    await setUser(by, cy.userId, { status: 'inactive' });
    await setUser(by, ada.userId, { role: 'admin' });
    expect(await receive()).toEqual([]);
    await setUser(operatorOf(service), ada.userId, { role: 'member' });
    const demoted = await receive();
    expect(recipients(demoted)).toEqual([ada.email]);
    expect(demoted[0]?.text).toContain(
      'Your operator has made Ada, who was an admin of Blue Coffee, a member.',
    );
  });

  test.each(['merchant', 'partner'] as const)(
    'a new one in a %s is reported to the others',
    async kind => {
      const isMerchant = kind === 'merchant';
      const shop = await openShop();
      const { partner, owner } = await openPartner();
      const [accountId, others, decides, word] = isMerchant
        ? ([shop.merchant.id, shop.admins, 'admin', 'an admin'] as const)
        : ([partner.id, [owner], 'owner', 'an owner'] as const);
      const [ada] = others;
      const by = {
        ...operatorOf(service),
        personId: ada?.personId ?? '',
        actor: 'ada@x.test',
        accountId,
      };
      const cy = isMerchant
        ? await addMerchantUser(service, accountId, 'member', { name: 'Cy' })
        : await addPartnerUser(service, accountId, 'developer', { name: 'Cy' });
      const id = 'userId' in cy ? cy.userId : cy.memberId;
      const set = (change: object, operator = by) =>
        isMerchant ? setUser(operator, id, change) : setPartnerMember(operator, id, change);
      const told = async (expected: RegExp, recipient = others) => {
        const mails = await receive();
        expect(recipients(mails)).toEqual(sorted(...recipient));
        for (const { subject, text } of mails) {
          expect(subject).toMatch(isMerchant ? / has another admin$/ : / has another owner$/);
          expect(text).toMatch(expected);
          expect(text).toMatch(/\/team\n/);
        }
      };
      await forget();
      await set({ role: decides });
      await told(new RegExp(`ada@x\\.test has made Cy ${word} of `));
      await set({ role: decides });
      expect(await receive()).toEqual([]);
      await set({ status: 'inactive' });
      await forget();
      await set({ status: 'active' }, { ...operatorOf(service), accountId } as typeof by);
      await told(new RegExp(`Your operator has activated Cy, who is ${word} of .* again`));
      // Somebody new, or somebody who already signs in; and a role that decides nothing.
      for (const [role, isNew] of [
        [decides, true],
        [decides, false],
        [null, true],
      ] as const) {
        const email = `eve-${kind}-${role}-${isNew}@example.com`;
        const given = { name: 'Eve', email };
        const invited = isMerchant
          ? await createUser(by, {
              merchantId: accountId,
              ...given,
              role: role === null ? 'member' : 'admin',
            })
          : await createPartnerMember(by, {
              partnerId: accountId,
              ...given,
              role: role === null ? 'developer' : 'owner',
            });
        const { token } = await (isMerchant ? inviteUser : inviteMember)(by, invited.id);
        await forget();
        if (isNew) {
          const secret = newCodeSecret();
          const form = {
            email,
            password: `another ${PASSWORD}`,
            secret,
            code: codeAt(secret, service.clock.now),
          };
          expect((await submit(service, `/panel/join/${token}`, form)).statusCode).toBe(200);
        } else {
          const person = await addPerson(service, { name: 'Eve' });
          expect(
            (await submit(service, `/panel/join/${token}/accept`, {}, person)).statusCode,
          ).toBe(303);
        }
        if (role === null) expect(await receive()).toEqual([]);
        else {
          const mails = await receive();
          expect(mails.length).toBeGreaterThan(others.length);
          expect(recipients(mails)).toEqual(
            expect.arrayContaining([...sorted(...others), cy.email]),
          );
          expect(recipients(mails)).not.toContain(email);
          expect(mails[0]?.text).toMatch(
            new RegExp(`Eve has accepted an invitation by ada@x\\.test, and is ${word} of`),
          );
        }
      }
    },
  );

  test('if an owner is removed, that owner and the others are notified', async () => {
    const { partner, owner, developer } = await openPartner();
    const other = await addPartnerUser(service, partner.id, 'owner');
    await setPartnerMember(operatorOf(service), other.memberId, { role: 'developer' });
    const demoted = await receive();
    expect(recipients(demoted)).toEqual(sorted(owner, other));
    expect(demoted[0]?.text).toContain(`${PANEL}/partners/${partner.id}/team\n`);
    await setPartnerMember(operatorOf(service), developer.memberId, { status: 'inactive' });
    expect(await receive()).toEqual([]);
    await setPartnerMember(operatorOf(service), owner.memberId, { status: 'inactive' });
    expect((await receive())[0]?.text).toContain('who was an owner of');
  });
});

describe('API keys', () => {
  test('that are created or rotated, and by whom, to the admins', async () => {
    const { merchant, admins, url } = await openShop();
    const [admin] = admins;
    const operator = {
      ...operatorOf(service),
      personId: admin?.personId ?? '',
      actor: 'ada@x.test',
    };
    const owner = { merchantId: merchant.id };
    const made = await createKey(operator, service.keyring, { owner, name: 'till' });
    const mails = await receive();
    expect(recipients(mails)).toEqual(sorted(...admins));
    for (const { subject, text } of mails) {
      expect(subject).toBe('An API key of Blue Coffee was made');
      expect(text).toContain(`“till” (${made.keyId}) of Blue Coffee was made by ada@x.test.`);
      expect(text).toContain(`${url}/settings/developer/keys/${made.keyId}\n`);
      expect(text).not.toMatch(new RegExp(`${made.secret}|${made.passphrase}`));
    }
    await rotateKey(operatorOf(service), service.keyring, made.keyId, true);
    const [rotated] = await receive();
    expect(rotated?.text).toContain('of Blue Coffee got a new secret from your operator.');
  });

  test('that are not created are not reported', async () => {
    const { merchant } = await openShop();
    const key = { owner: { merchantId: merchant.id }, name: 'till', expiresAt: new Date(0) };
    await expect(createKey(operatorOf(service), service.keyring, key)).rejects.toThrow('passed');
    const undone = transact(service.db, async tx => {
      const { expiresAt: _, ...lasting } = key;
      await createKey({ ...operatorOf(service), db: tx }, service.keyring, lasting);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await receive()).toEqual([]);
  });

  test('of a partner, to its owners and to the key’s owner', async () => {
    const { partner, owner, developer } = await openPartner();
    const { keyId } = await createKey(operatorOf(service), service.keyring, {
      owner: { memberId: developer.memberId },
      name: 'reports',
    });
    const mails = await receive();
    expect(recipients(mails)).toEqual(sorted(owner, developer));
    expect(mails[0]?.text).toContain(`${PANEL}/partners/${partner.id}/developer/keys/${keyId}\n`);
  });

  test('that expire within two weeks, once', async () => {
    const { merchant, admins } = await openShop();
    const { developer, owner } = await openPartner();
    const add = (daysLeft: number, own: { merchantId: string } | { memberId: string }) =>
      createKey(operatorOf(service), service.keyring, {
        owner: own,
        name: `for ${daysLeft} days`,
        expiresAt: new Date(service.clock.now + daysLeft * DAY_MS),
      });
    const ofMerchant = { merchantId: merchant.id };
    await add(15, ofMerchant);
    await add(13, ofMerchant);
    await revokeKey(operatorOf(service), (await add(12, ofMerchant)).keyId);
    await add(14, { memberId: developer.memberId });
    await receive();
    await find();
    await find();
    const mails = await receive();
    expect(recipients(mails)).toEqual(sorted(...admins, owner, developer));
    const texts = mails.map(({ text }) => /“(for \d+ days)”/.exec(text)?.[1]).toSorted();
    expect(texts).toEqual(['for 13 days', 'for 13 days', 'for 14 days', 'for 14 days']);
    service.clock.now += DAY_MS;
    await find();
    const later = await receive();
    expect(recipients(later)).toEqual(sorted(...admins));
    expect(later[0]?.text).toContain('“for 15 days”');
  });

  test('are reported again after a mail was given up', async () => {
    const { merchant, admins } = await openShop();
    await createKey(operatorOf(service), service.keyring, {
      owner: { merchantId: merchant.id },
      name: 'till at https://evil.example',
      expiresAt: new Date(service.clock.now + DAY_MS),
    });
    await receive();
    await find();
    await service.db.updateTable('mails').set({ attempts: ATTEMPTS_MAXIMUM }).execute();
    expect(await receive()).toEqual([]);
    await find();
    const mails = await receive();
    expect(recipients(mails)).toEqual(sorted(...admins));
    expect(mails[0]?.text).toContain('“till at https: //evil. example”');
    await find();
    expect(await receive()).toEqual([]);
  });
});

describe('changes of deposit addresses', () => {
  /** An account in which changes wait. */
  async function openOld(): Promise<Account> {
    const account = await openAccount(service);
    const owner = { merchantId: account.merchant.id, branchId: account.branches[0] };
    await setAddress(operatorOf(service), owner, NETWORK, newAddress());
    await earn(service, account);
    service.clock.now += DELAY_MS;
    await forget();
    return account;
  }
  const emailOf = (account: Account, at: number) => personOf(account, at).actor;
  const adminsOf = (account: Account) => [emailOf(account, 0), emailOf(account, 1)].toSorted();
  const proposeIn = (account: Account) => {
    const { merchant, branches } = account;
    const wanted = { merchantId: merchant.id, branchId: branches[1] };
    return proposeMainBranch(personOf(account, 0), wanted, DELAY_MS);
  };

  test('are reported at each step, to all admins', async () => {
    const account = await openOld();
    const { merchant } = account;
    const change = await proposeIn(account);
    const proposed = await receive();
    expect(recipients(proposed)).toEqual(adminsOf(account));
    expect(proposed[0]?.subject).toBe('A change of where money goes waits at Shop');
    expect(proposed[0]?.text).toContain(
      `${emailOf(account, 0)} has proposed Other as the main branch. It holds from 20`,
    );
    const page = `${PANEL}/merchants/${merchant.id}/settings/changes/${change.id}\n`;
    expect(proposed[0]?.text).toContain(page);

    await cancelChange(personOf(account, 1), merchant.id, change.id);
    const cancelled = await receive();
    expect(recipients(cancelled)).toEqual(adminsOf(account));
    expect(cancelled[0]?.text).toContain(
      `${emailOf(account, 1)} has cancelled what ${emailOf(account, 0)} had proposed`,
    );

    await proposeIn(account);
    await receive();
    service.clock.now += DELAY_MS;
    await applyDueChanges(service.db, service.clock, 10);
    const applied = await receive();
    expect(recipients(applied)).toEqual(adminsOf(account));
    expect(applied[0]?.subject).toBe('Where money goes was changed at Shop');
    expect(applied[0]?.text).toContain(
      `${emailOf(account, 0)} has set Other as the main branch. It holds now.`,
    );
  });

  test.each(['deactivated', 'demoted'] as const)(
    'whoever was %s shortly before is notified too',
    async how => {
      const account = await openOld();
      const { merchant } = account;
      const bob = personOf(account, 1);
      await setUser(
        personOf(account, 0),
        bob.userId,
        how === 'demoted' ? { role: 'member' } : { status: 'inactive' },
      );
      await setUser(operatorOf(service), personOf(account, 2).userId, { status: 'inactive' });
      await forget();
      service.clock.now += DELAY_MS - HOUR_MS;
      const change = await proposeIn(account);
      expect(recipients(await receive())).toEqual(adminsOf(account));
      // However long it waits, all of its steps are reported.
      service.clock.now += DELAY_MS;
      await applyDueChanges(service.db, service.clock, 10);
      expect(recipients(await receive())).toEqual(adminsOf(account));
      const later = await proposeIn({
        ...account,
        branches: [account.branches[1], account.branches[0]],
      });
      expect(later.id).not.toBe(change.id);
      expect(recipients(await receive())).toEqual([emailOf(account, 0)]);
      await cancelChange(personOf(account, 0), merchant.id, later.id);
      expect(recipients(await receive())).toEqual([emailOf(account, 0)]);
    },
  );

  test('an approval, and that it is in force, are one mail', async () => {
    const account = await openOld();
    const { id } = await proposeIn(account);
    await receive();
    await approveChange(personOf(account, 1), account.merchant.id, id, DELAY_MS);
    const approved = await receive();
    expect(recipients(approved)).toEqual(adminsOf(account));
    expect(approved[0]?.text).toContain(
      `has set Other as the main branch, approved by ${emailOf(account, 1)}. It holds now.`,
    );
  });

  test('an address is named by network and branch, and a cancelled change is reported', async () => {
    const account = await openOld();
    const { merchant, branches } = account;
    const wanted = { kind: 'address.set', merchantId: merchant.id, branchId: branches[0] } as const;
    const owner = { merchantId: merchant.id, branchId: branches[0] };
    const { rows } = await sql<{ address: string }>`
      select address from deposit_addresses where branch_id = ${branches[0]}`.execute(service.db);
    const seen = rows.map(({ address }) => address);
    const address = newAddress();
    const proposal = { ...wanted, blockchainId: NETWORK, text: address };
    await proposeAddress(personOf(account, 0), proposal, seen, DELAY_MS);
    const [proposed] = await receive();
    expect(proposed?.text).toContain(
      'a new deposit address for ETH on Ethereum Mainnet, branch Main.',
    );
    expect(proposed?.text).not.toContain(address);
    // When an operator sets the address, the change is cancelled.
    await setAddress(operatorOf(service), owner, NETWORK, newAddress());
    const mails = await receive();
    expect(recipients(mails)).toEqual([...adminsOf(account), ...adminsOf(account)].toSorted());
    expect(new Set(mails.map(({ subject }) => subject))).toEqual(
      new Set([
        'A change of where money goes lapsed at Shop',
        'Where money goes was changed at Shop',
      ]),
    );
    expect(mails.some(({ text }) => text.includes('Your operator has set a new deposit'))).toBe(
      true,
    );
    // Setting the same address again changes nothing.
    const now = await sql<{ address: string }>`
      select address from deposit_addresses where branch_id = ${branches[0]}`.execute(service.db);
    await setAddress(operatorOf(service), owner, NETWORK, now.rows[0]?.address ?? '');
    expect(await receive()).toEqual([]);
  });

  test('a wallet is named by network and branch at each step, never by its key or addresses', async () => {
    const account = await openOld();
    const { merchant, branches } = account;
    const { publicExtendedKey: key } = HDKey.fromMasterSeed(Buffer.alloc(32, 7)).derive(
      "m/84'/0'/0'",
    );
    const receiving = HDKey.fromExtendedKey(key).deriveChild(0);
    const address = walletAddress({ kind: 'wpkh', prefix: 'bc' }, receiving, 0);
    const given = await readWallet(service.db, merchant.id, 'btc', { key, next: address });
    await proposeAddress(
      personOf(account, 0),
      {
        kind: 'address.set',
        merchantId: merchant.id,
        branchId: branches[0],
        blockchainId: 'btc',
        text: address,
        wallet: { given, keyring: service.keyring },
      },
      [],
      DELAY_MS,
    );
    const proposed = await receive();
    service.clock.now += DELAY_MS;
    await applyDueChanges(service.db, service.clock, 10);
    const applied = await receive();
    const thing =
      'a wallet with an address for each payment for BTC on Bitcoin Mainnet, branch Main';
    const by = emailOf(account, 0);
    for (const [mails, said] of [
      [proposed, `${by} has proposed ${thing}. It holds from 20`],
      [applied, `${by} has set ${thing}. It holds now.`],
    ] as const) {
      expect(recipients(mails)).toEqual(adminsOf(account));
      for (const { text } of mails) {
        expect(text).toContain(said);
        expect(text).toContain(`${PANEL}/merchants/${merchant.id}/settings/changes/`);
        expect(text).not.toMatch(/pub\w{20}|\bbc1\w{20}/);
        expect(text).not.toContain(key);
      }
    }
  });
});

describe('webhook endpoints', () => {
  test('that are disabled', async () => {
    const { merchant, admins, url } = await openShop();
    const { endpoint } = await addEndpoint(
      service,
      merchant.id,
      'http://127.0.0.1:1/hooks?token=unseen',
    );
    await disableEndpoint(operatorOf(service), endpoint.id, 'answered-gone');
    const mails = await receive();
    expect(recipients(mails)).toEqual(sorted(...admins));
    expect(mails[0]?.text).toContain(
      'at 127.0.0.1:1 was disabled, and gets no events any more: It answered 410 Gone.',
    );
    expect(mails[0]?.text).toContain(`${url}/settings/developer/webhooks/${endpoint.id}\n`);
    expect(mails[0]?.text).not.toContain('unseen');
  });

  test('that somebody disables in the panel, whose name does not become a link', async () => {
    const { merchant } = await openShop();
    const name = 'Ada of https://evil.example/panel';
    const ada = await addMerchantUser(service, merchant.id, 'admin', { name });
    const { endpoint } = await addEndpoint(service, merchant.id);
    const path = `/panel/merchants/${merchant.id}/settings/developer/webhooks/${endpoint.id}/disable`;
    expect((await submit(service, path, SURE, ada)).statusCode).toBe(303);
    const mails = await receive();
    expect(mails).toHaveLength(3);
    for (const { text } of mails) {
      expect(text).toContain('Ada of https: //evil. example/panel');
      expect(text).not.toContain('https://evil.example');
    }
  });

  test('that nothing was delivered to for an hour, once until a delivery succeeds', async () => {
    const { merchant, admins } = await openShop();
    const failing = await addEndpoint(service, merchant.id);
    const well = await addEndpoint(service, merchant.id, 'http://127.0.0.1:2/');
    const payment = await addPayment(service.db, merchant, {
      created_at: new Date(service.clock.now),
    });
    const at = (minutesAgo: number) => new Date(service.clock.now - minutesAgo * 60_000);
    const add = (endpointId: string, status: 'pending' | 'succeeded', minutesAgo: number) =>
      addDelivery(service, payment, {
        endpointId,
        status,
        created_at: at(minutesAgo),
        ...(status === 'pending' ? { log: [{ status_code: 500 }] } : {}),
      });
    await add(well.endpoint.id, 'pending', 59);
    await add(failing.endpoint.id, 'pending', 59);
    await find();
    expect(await receive()).toEqual([]);
    service.clock.now += 2 * 60_000;
    await add(well.endpoint.id, 'succeeded', 1);
    await find();
    await find();
    const mails = await receive();
    expect(recipients(mails)).toEqual(sorted(...admins));
    expect(mails[0]?.text).toContain('at 127.0.0.1:1. The service tries again');
    service.clock.now += DAY_MS;
    await find();
    expect(recipients(await receive()).filter(to => !sorted(...admins).includes(to))).toEqual([]);
  });

  test('that fail for months are reported once, whatever is deleted meanwhile', async () => {
    const { merchant, admins } = await openShop();
    const { endpoint } = await addEndpoint(service, merchant.id);
    const created_at = new Date(service.clock.now - DAY_MS);
    const payment = await addPayment(service.db, merchant, { created_at });
    const made = { endpointId: endpoint.id, created_at };
    await addDelivery(service, payment, { ...made, status: 'succeeded' });
    const fail = async () => {
      const failed = { endpointId: endpoint.id, created_at: new Date(service.clock.now) };
      await addDelivery(service, payment, { ...failed, log: [{ status_code: 500 }] });
    };
    await fail();
    await find();
    expect(recipients(await receive())).toEqual(sorted(...admins));
    // More than are examined: the success is older than these.
    for (let n = 0; n < 101; n++) await fail();
    service.clock.now += DAY_MS;
    await find();
    expect(await receive()).toEqual([]);
    service.clock.now += 40 * DAY_MS;
    await fail();
    await service.db.deleteFrom('mails').execute();
    await find();
    const again = await receive();
    expect(again.filter(({ text }) => text.includes(endpoint.id))).toEqual([]);
  });
});

test('deposits of a day that no payment took are one mail to the admins, the day after', async () => {
  const { merchant, admins, url } = await openShop();
  const address = newAddress();
  await setAddress(operatorOf(service), { merchantId: merchant.id }, 'eth-usdc', address);
  await forget();
  for (const position of [1, 2, 3]) {
    await sql`
      insert into deposits (id, blockchain_id, transaction_hash, position, address, token_amount,
        block_height, state, outcome, observed_at, updated_at)
      values (gen_random_uuid(), 'eth-usdc', ${`0x${position}`}, ${position}, ${address}, 1000000, 1, 'final',
        'unknown', ${new Date(service.clock.now)}, ${new Date(service.clock.now)})`.execute(
      service.db,
    );
  }
  await sql`update deposits set dismissed_at = observed_at where transaction_hash = '0x3'`.execute(
    service.db,
  );
  await find();
  expect(await receive()).toEqual([]);
  const day = new Date(service.clock.now).toISOString().slice(0, 10);
  service.clock.now += DAY_MS;
  await find();
  await find();
  const mails = await receive();
  expect(recipients(mails)).toEqual(sorted(...admins));
  expect(mails[0]?.subject).toBe('Money has arrived at Blue Coffee that no payment took');
  expect(mails[0]?.text).toContain(`2 deposits of ${day} (UTC) at addresses of Blue Coffee wait`);
  expect(mails[0]?.text).toContain(`${url}/unmatched\n`);
  service.clock.now += DAY_MS;
  await find();
  expect(await receive()).toEqual([]);
});
