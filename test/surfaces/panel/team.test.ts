import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createKey, revokeKey } from '#accounts/keys/manage-keys.ts';
import { setPartnerMember } from '#accounts/partners.ts';
import { findOpenLink, linkFor } from '#accounts/people/invitations.ts';
import { hashPassword } from '#accounts/people/password-hash.ts';
import { renewLink } from '#accounts/people/team.ts';
import { setUser } from '#accounts/users.ts';
import { hashToken } from '#crypto/token.ts';
import { transact } from '#storage/database/transaction.ts';
import { setPerson } from '#storage/repositories/people/memberships.ts';
import { addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { eventually } from '../../helpers/eventually.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addPerson,
  addSession,
  codeAt,
  entryOf,
  follow,
  open,
  PASSWORD,
  submit,
  textOf,
  type Visitor,
  wrongCodeAt,
} from '../../helpers/panel.ts';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

type Member = Visitor & { readonly id: string };

/** An account with two people who decide, Ada and Bob, and one who does not, Cy. */
interface Team {
  readonly kind: 'merchant' | 'partner';
  readonly accountId: string;
  /** Path of the team's page. */
  readonly path: string;
  readonly ada: Member;
  readonly bob: Member;
  readonly cy: Member;
}

async function openTeam(kind: Team['kind']): Promise<Team> {
  const isMerchant = kind === 'merchant';
  const accountId = isMerchant
    ? (await addMerchant(service)).merchant.id
    : (await addPartner(service)).partner.id;
  const add = async (decides: boolean, name: string): Promise<Member> => {
    if (isMerchant) {
      const role = decides ? 'admin' : 'member';
      const user = await addMerchantUser(service, accountId, role, { name });
      return { ...user, id: user.userId };
    }
    const role = decides ? 'owner' : 'developer';
    const member = await addPartnerUser(service, accountId, role, { name });
    return { ...member, id: member.memberId };
  };
  if (!isMerchant) {
    // The member that the helper adds, who signs in nowhere.
    await service.db
      .updateTable('partner_members')
      .set({ status: 'inactive' })
      .where('partner_id', '=', accountId)
      .execute();
  }
  const path = `/panel/${kind}s/${accountId}${isMerchant ? '/settings' : ''}/team`;
  return {
    kind,
    accountId,
    path,
    ada: await add(true, 'Ada'),
    bob: await add(true, 'Bob'),
    cy: await add(false, 'Cy'),
  };
}

/** An unused code: the clock moves to the next one. */
function nextCode({ secret }: Visitor): string {
  service.clock.now += 30_000;
  return codeAt(secret, service.clock.now);
}

const lower = { merchant: 'member', partner: 'developer' } as const;
const upper = { merchant: 'admin', partner: 'owner' } as const;

/** Sends a form as somebody, with a fresh code. */
function change(
  { path }: Team,
  who: Member,
  step: string,
  fields: Readonly<Record<string, string>>,
  code = nextCode(who),
) {
  return submit(service, `${path}/${step}`, { ...fields, code }, who);
}

const demote = (team: Team, who: Member, whom: Member, code?: string) =>
  change(team, who, `${whom.id}/role`, { role: lower[team.kind] }, code);
const deactivate = (team: Team, who: Member, whom: Member) =>
  change(team, who, `${whom.id}/status`, { status: 'inactive' });
const renew = (team: Team, who: Member, whom: { id: string }, purpose = 'both') =>
  change(team, who, `${whom.id}/link`, { purpose, intent: randomUUID() });

/** Path of the page of a link that was just shown. */
const linkIn = ({ body }: { body: string }) => /\/panel\/join\/[\w-]{43}/.exec(body)?.[0] ?? '';

describe.each(['merchant', 'partner'] as const)('the team of a %s', kind => {
  let team: Team;
  beforeEach(async () => {
    team = await openTeam(kind);
  });

  const roleOf = async ({ id }: Member) => {
    const table = kind === 'merchant' ? 'merchant_users' : 'partner_members';
    const columns = ['role', 'status'] as const;
    return service.db.selectFrom(table).select(columns).where('id', '=', id).executeTakeFirst();
  };

  test('is shown with roles, factors and when each was last there', async () => {
    const page = await open(service, team.path, team.ada);
    const text = textOf(page);
    expect(text).toMatch(/Ada (Merchant Admin|owner) you /);
    expect(text).toMatch(/Cy (member|developer) /);
    expect(text).toContain('Password and authenticator app, since');
    expect(text).toContain('Last seen');
    expect(page.body).toContain(`${team.path}/${team.cy.id}/role`);
    // A link for oneself would replace the password too; the profile does that.
    expect(page.body).not.toContain(`${team.path}/${team.ada.id}/link`);
  });

  test('the form of a role says what somebody gains or loses, and the next page that they have it', async () => {
    const pageOf = async ({ id }: Member) =>
      textOf(await open(service, `${team.path}/${id}/role`, team.ada));
    const [gain, loss, left] =
      kind === 'merchant'
        ? ['Cy can also change addresses', 'Bob still sees payments', '1 Merchant Admin remains.']
        : ['Cy also sees the merchants', 'Bob sees only the overview', '1 owner remains.'];
    expect(await pageOf(team.cy)).toContain(gain);
    expect(await pageOf(team.cy)).not.toContain(left);
    expect(await pageOf(team.bob)).toContain(loss);
    expect(await pageOf(team.bob)).toContain(left);
    const demoted = await follow(service, await demote(team, team.ada, team.bob), team.ada);
    expect(textOf(demoted)).toMatch(/Bob is a (member|developer) now\./);
    expect(await pageOf(team.ada)).toMatch(/Nobody else signs in as an? (Merchant Admin|owner)\./);
  });

  test('the form of a deactivation says whose it is, what stops, and who remains', async () => {
    const { id: memberId } = team.cy;
    if (kind === 'partner') {
      for (const name of ['first', 'second', 'revoked']) {
        const { keyId } = await createKey(operatorOf(service), service.keyring, {
          owner: { memberId },
          name,
        });
        if (name === 'revoked') await revokeKey(operatorOf(service), keyId);
      }
    }
    const text = textOf(await open(service, `${team.path}/${memberId}/status`, team.ada));
    expect(text).toMatch(/Cy is a (member|developer), and is signed out at once\./);
    expect(text).toMatch(/2 (Merchant Admin|owner)s remain\./);
    expect(text).toContain(
      kind === 'merchant'
        ? 'The API keys of the account keep working'
        : '2 API keys of theirs are refused from then on.',
    );
    const left = await follow(service, await deactivate(team, team.ada, team.cy), team.ada);
    expect(textOf(left)).toContain('Cy is deactivated, and signed out.');
    // Taking it back needs a code.
    expect(left.body).not.toContain('>Undo<');
  });

  test('refused invitations do not count; ten links an hour are made in an account', async () => {
    const invite = async (email: string, code?: string) => {
      const fields = { name: 'Grace', email, role: upper[kind], intent: randomUUID() };
      return (await change(team, team.ada, 'invite', fields, code)).statusCode;
    };
    for (let n = 0; n < 11; n++) expect(await invite('nobody')).toBe(422);
    for (let n = 0; n < 3; n++) {
      const wrong = wrongCodeAt(team.ada.secret, service.clock.now);
      expect(await invite(`${randomUUID()}@example.com`, wrong)).toBe(422);
      expect(await invite(team.bob.email)).toBe(422);
    }
    for (let n = 0; n < 10; n++) expect(await invite(`${randomUUID()}@example.com`)).toBe(200);
    expect(await invite(`${randomUUID()}@example.com`)).toBe(429);
  });

  test('an invitation is shown once, and lets somebody join', async () => {
    const fields = {
      name: 'Grace',
      email: `${randomUUID()}@example.com`,
      role: upper[kind],
      intent: randomUUID(),
    };
    const issued = await change(team, team.ada, 'invite', fields);
    expect(issued.statusCode).toBe(200);
    expect(textOf(issued)).toMatch(/Invited: Grace, as an? (Merchant Admin|owner)\./);
    const link = linkIn(issued);
    expect(textOf(await open(service, team.path, team.ada))).toContain(
      'Invited; the link works until',
    );
    // The form is sent again: nobody is added, and the link is not shown.
    const again = await change(team, team.ada, 'invite', fields);
    expect(again.statusCode).toBe(409);
    expect(linkIn(again)).toBe('');
    const twice = await change(team, team.ada, 'invite', {
      ...fields,
      email: fields.email.toUpperCase(),
      intent: randomUUID(),
    });
    expect(twice.statusCode).toBe(422);
    expect(textOf(twice)).toContain('is in the team already');

    const joining = await open(service, link);
    const secret = /name="secret" value="(\w+)"/.exec(joining.body)?.[1] ?? '';
    const joined = await submit(service, link, {
      email: fields.email,
      password: PASSWORD,
      secret,
      code: codeAt(secret, service.clock.now),
    });
    expect(textOf(joined)).toContain('recovery codes');
    expect(textOf(await open(service, team.path, team.ada))).toMatch(
      /Grace (Merchant Admin|owner) .*Last seen/,
    );
  });

  test('who signs in with another e-mail than was invited is shown with that', async () => {
    const pageOf = async () => textOf(await open(service, team.path, team.ada));
    expect(await pageOf()).toContain(team.bob.email);
    expect(await pageOf()).not.toContain('Signs in with');
    // Upper and lower case are the same e-mail.
    const other = `${randomUUID()}@Example.com`;
    for (const email of [team.bob.email.toUpperCase(), other]) {
      const { personId } = team.bob;
      await service.db.updateTable('people').set({ email }).where('id', '=', personId).execute();
      const page = await pageOf();
      expect(page).toContain(team.bob.email);
      expect(page.includes(`Signs in with ${email}`)).toBe(email === other);
      expect(page.match(/Signs in with/g) ?? []).toHaveLength(email === other ? 1 : 0);
    }
  });

  test('an invalid invitation is refused at its field, and kept in the form', async () => {
    const fields = { name: 'Grace', email: 'nobody', role: lower[kind], intent: randomUUID() };
    const noEmail = await change(team, team.ada, 'invite', fields);
    expect(noEmail.statusCode).toBe(422);
    expect(noEmail.body).toContain('id="email-fault"');
    expect(noEmail.body).toContain('value="Grace"');
    expect(noEmail.body).toContain(`value="${fields.intent}"`);
    // Its code is not used up.
    const code = codeAt(team.ada.secret, service.clock.now);
    expect((await demote(team, team.ada, team.bob, code)).statusCode).toBe(303);
    const foreign = await change(team, team.ada, 'invite', {
      ...fields,
      email: 'grace@example.com',
      role: kind === 'merchant' ? 'owner' : 'admin',
    });
    expect(foreign.statusCode).toBe(422);
  });

  test('every change needs its own fresh code', async () => {
    const wrong = wrongCodeAt(team.ada.secret, service.clock.now);
    const refused = await demote(team, team.ada, team.bob, wrong);
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain('This code is not right');
    const code = nextCode(team.ada);
    expect((await demote(team, team.ada, team.bob, code)).headers.location).toBe(team.path);
    expect(await roleOf(team.bob)).toEqual({ role: lower[kind], status: 'active' });
    // Already used.
    const replayed = await change(
      ...([team, team.ada, `${team.bob.id}/role`, { role: upper[kind] }, code] as const),
    );
    expect(replayed.statusCode).toBe(422);
    expect(await roleOf(team.bob)).toEqual({ role: lower[kind], status: 'active' });
  });

  test('of two who demote each other concurrently, one succeeds', async () => {
    const codes = [nextCode(team.ada), codeAt(team.bob.secret, service.clock.now)];
    const answers = await Promise.all([
      demote(team, team.ada, team.bob, codes[0]),
      demote(team, team.bob, team.ada, codes[1]),
    ]);
    // The other is refused by the form, or before that, if it came late.
    expect(answers.filter(({ statusCode }) => statusCode === 303)).toHaveLength(1);
    expect(answers.filter(({ statusCode }) => [422, 403].includes(statusCode))).toHaveLength(1);
    const roles = [await roleOf(team.ada), await roleOf(team.bob)].map(row => row?.role);
    expect(roles.toSorted()).toEqual([lower[kind], upper[kind]].toSorted());
  });

  test('of two who leave concurrently, one stays', async () => {
    const leave = (who: Member, code: string) =>
      change(team, who, `${who.id}/status`, { status: 'inactive' }, code);
    const codes = [nextCode(team.ada), codeAt(team.bob.secret, service.clock.now)] as const;
    const answers = await Promise.all([leave(team.ada, codes[0]), leave(team.bob, codes[1])]);
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([303, 422]);
  });

  test('the last one who decides can be neither demoted nor deactivated', async () => {
    await demote(team, team.ada, team.bob);
    for (const response of [
      await demote(team, team.ada, team.ada),
      await deactivate(team, team.ada, team.ada),
    ]) {
      expect(response.statusCode).toBe(422);
      expect(textOf(response)).toContain('make somebody one first');
    }
    // Somebody who was invited cannot sign in yet.
    await change(team, team.ada, 'invite', {
      name: 'Grace',
      email: `${randomUUID()}@example.com`,
      role: upper[kind],
      intent: randomUUID(),
    });
    expect((await demote(team, team.ada, team.ada)).statusCode).toBe(422);
    expect(await roleOf(team.ada)).toEqual({ role: upper[kind], status: 'active' });
  });

  test('who is deactivated is out with the next request, and can come back', async () => {
    const account = team.path.replace(/(\/settings)?\/team$/, '');
    expect((await open(service, account, team.cy)).statusCode).toBe(200);
    await deactivate(team, team.ada, team.cy);
    const next = await open(service, account, team.cy);
    expect(next.headers.location).toMatch(/^\/panel\/sign-in/);
    const cookie = await addSession(service, team.cy);
    expect((await open(service, account, { cookie })).statusCode).toBe(404);
    expect(textOf(await open(service, team.path, team.ada))).toContain('deactivated');
    await change(team, team.ada, `${team.cy.id}/status`, { status: 'active' });
    expect((await open(service, account, { cookie })).statusCode).toBe(200);
  });

  test('a deactivated invitation is invalid, even after its user is active again', async () => {
    const email = `${randomUUID()}@example.com`;
    const fields = { name: 'Grace', email, role: lower[kind], intent: randomUUID() };
    const link = linkIn(await change(team, team.ada, 'invite', fields));
    const page = await open(service, team.path, team.ada);
    const ids = [...page.body.matchAll(/team\/([\w-]{36})\/role/g)].map(([, id]) => id);
    const id = ids.at(-1) ?? '';
    const grace = { ...team.ada, id };
    await deactivate(team, team.ada, grace);
    expect((await open(service, link)).statusCode).toBe(404);
    await change(team, team.ada, `${id}/status`, { status: 'active' });
    expect((await open(service, link)).statusCode).toBe(404);
    const renewed = linkIn(await renew(team, team.ada, grace));
    expect((await open(service, renewed)).statusCode).toBe(200);
  });

  test.each(['demoted', 'deactivated'])('links of somebody who was %s are invalid', async how => {
    const forBob = linkIn(await renew(team, team.ada, team.bob));
    const invite = async (who: Member) => {
      const fields = { name: 'Eve', email: `${randomUUID()}@example.com`, role: upper[kind] };
      return linkIn(await change(team, who, 'invite', { ...fields, intent: randomUUID() }));
    };
    const forEve = await invite(team.ada);
    const ofBob = await invite(team.bob);
    const owner = kind === 'merchant' ? { userId: team.cy.id } : { memberId: team.cy.id };
    const { token } = await linkFor(operatorOf(service), owner, 'both');
    // The links name her by her former e-mail.
    const email = `${randomUUID()}@example.com`;
    const { personId } = team.ada;
    await service.db.updateTable('people').set({ email }).where('id', '=', personId).execute();
    const end = how === 'demoted' ? demote : deactivate;
    expect((await end(team, team.bob, team.ada)).statusCode).toBe(303);
    const statusOf = async (link: string) => (await open(service, link)).statusCode;
    expect(await statusOf(forBob)).toBe(404);
    expect(await statusOf(forEve)).toBe(404);
    // Links that others have made stay valid.
    expect(await statusOf(ofBob)).toBe(200);
    expect(await statusOf(`/panel/join/${token}`)).toBe(200);
  });

  test('a link that is made while its maker is deactivated is invalid too', async () => {
    const { db, clock } = service;
    const { ada, bob, accountId } = team;
    const operator = {
      ...operatorOf(service),
      actor: ada.email,
      personId: ada.personId,
      accountId,
    };
    const account = { kind, accountId };
    const deactivating = Promise.withResolvers<unknown>();
    const token = await transact(db, async tx => {
      const link = await renewLink({ ...operator, db: tx }, account, bob.id, 'both');
      const set = { merchant: setUser, partner: setPartnerMember }[kind];
      const done = set(operatorOf(service), ada.id, { status: 'inactive' });
      deactivating.resolve(done);
      // It is refused already, or waits for this transaction.
      await Promise.race([done, eventually(isAnybodyWaiting)]);
      return link.token;
    });
    await deactivating.promise;
    expect(await findOpenLink(db, hashToken(token), new Date(clock.now))).toBeUndefined();
  });

  test('a lost phone needs a link of the team, and no operator', async () => {
    const cy = await addPersonWithPassword(team.cy);
    const issued = await renew(team, team.ada, team.cy, 'factors');
    expect(textOf(issued)).toContain('It works until');
    expect(textOf(await open(service, team.path, team.ada))).toContain('A new link works until');
    const link = linkIn(issued);
    const page = await open(service, link);
    const secret = /name="secret" value="(\w+)"/.exec(page.body)?.[1] ?? '';
    const renewed = await submit(service, link, {
      email: '',
      password: cy,
      secret,
      code: codeAt(secret, service.clock.now),
    });
    expect(textOf(renewed)).toContain('recovery codes');
    expect(textOf(await open(service, team.path, team.ada))).toContain('A link gave them new ones');
  });

  test('no link can be made for somebody with another account, nor for oneself', async () => {
    const { merchant } = await addMerchant(service);
    const other = await addMerchantUser(service, merchant.id, 'admin');
    await service.db
      .updateTable('merchant_users')
      .set({ person_id: team.cy.personId, status: 'inactive' })
      .where('id', '=', other.userId)
      .execute();
    const refused = await renew(team, team.ada, team.cy);
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain('only your operator can make it');
    const own = await renew(team, team.ada, team.ada);
    expect(textOf(own)).toContain('in your profile');
    const links = await service.db
      .selectFrom('panel_links')
      .select('id')
      .where('person_id', 'in', [...[team.cy.personId, team.ada.personId]])
      .execute();
    expect(links).toEqual([]);
  });

  test('a link of the team opens no account that its person has joined since', async () => {
    const link = linkIn(await renew(team, team.ada, team.cy));
    const { merchant } = await addMerchant(service);
    const { userId } = await addMerchantUser(service, merchant.id, 'admin');
    await service.db
      .updateTable('merchant_users')
      .set({ person_id: null })
      .where('id', '=', userId)
      .execute();
    await setPerson(service.db, 'merchant', userId, entryOf(service, team.cy));
    const page = await open(service, link);
    const secret = /name="secret" value="(\w+)"/.exec(page.body)?.[1] ?? '';
    const taken = await submit(service, link, {
      email: '',
      password: PASSWORD,
      secret,
      code: codeAt(secret, service.clock.now),
    });
    expect(taken.statusCode).toBe(404);
    const person = await service.db
      .selectFrom('people')
      .select('password_hash')
      .where('id', '=', team.cy.personId)
      .executeTakeFirstOrThrow();
    expect(person.password_hash).toBeNull();
  });

  test('somebody of another team is not found', async () => {
    const others = await openTeam(kind);
    for (const step of ['role', 'status', 'link']) {
      const path = `${team.path}/${others.cy.id}/${step}`;
      expect((await open(service, path, team.ada)).statusCode).toBe(404);
    }
    expect((await demote(team, team.ada, others.bob)).statusCode).toBe(404);
    expect((await deactivate(team, team.ada, others.cy)).statusCode).toBe(404);
    expect((await renew(team, team.ada, others.cy)).statusCode).toBe(404);
    const page = await open(service, `${team.path}?after=${others.ada.id}`, team.ada);
    expect(textOf(page)).not.toContain('Cy');
  });

  test('who has changed themselves is redirected to where they may be', async () => {
    expect((await demote(team, team.ada, team.ada)).headers.location).toBe('/panel');
    expect((await open(service, `${team.path}/invite`, team.ada)).statusCode).toBe(403);
  });

  test('a long team has pages, and a single member gets a hint', async () => {
    const alone = await openTeam(kind);
    for (const { id } of [alone.bob, alone.cy]) {
      await (kind === 'merchant'
        ? service.db.deleteFrom('merchant_users').where('id', '=', id).execute()
        : service.db.deleteFrom('partner_members').where('id', '=', id).execute());
    }
    if (kind === 'merchant') {
      expect(textOf(await open(service, alone.path, alone.ada))).toContain(
        'a second admin can approve address changes',
      );
    }
    for (let n = 0; n < 24; n++) await openMember(team, `Number ${n}`);
    const first = await open(service, team.path, team.ada);
    const next = /href="([^"]*\?after=[^"]*)"/.exec(first.body)?.[1] ?? '';
    const second = await open(service, next, team.ada);
    const last = [...second.body.matchAll(/[0-9a-f-]{36}(?=\/role)/g)].at(-1)?.[0];
    const beyond = await open(service, `${team.path}?after=${last}`, team.ada);
    expect(textOf(beyond)).toContain('There are none further. To the first page');
    const names = [first, second].flatMap(({ body }) =>
      [...body.matchAll(/<strong>(Number \d+)<\/strong>/g)].map(([, name]) => name),
    );
    expect(new Set(names).size).toBe(24);
    expect(names).toHaveLength(24);
  });
});

async function isAnybodyWaiting(): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(service.db);
  return rows.length > 0;
}

async function openMember({ kind, accountId }: Team, name: string) {
  if (kind === 'merchant') return addMerchantUser(service, accountId, 'member', { name });
  return addPartnerUser(service, accountId, 'developer', { name });
}

/** Gives somebody a password. */
async function addPersonWithPassword({ personId }: Visitor): Promise<string> {
  const hash = await hashPassword(service, personId, PASSWORD);
  await service.db.updateTable('people').set(hash).where('id', '=', personId).execute();
  return PASSWORD;
}

test('a member sees the team, and cannot change it', async () => {
  const team = await openTeam('merchant');
  const page = await open(service, team.path, team.cy);
  expect(textOf(page)).toContain('Bob');
  expect(page.body).not.toContain(`${team.path}/`);
  expect((await demote(team, team.cy, team.bob)).statusCode).toBe(403);
});

test('the demo invites without a code', async () => {
  const { merchant } = await addMerchant(service);
  const demo = await addMerchantUser(service, merchant.id, 'admin', { isDemo: true });
  const path = `/panel/merchants/${merchant.id}/settings/team`;
  expect(textOf(await open(service, path, demo))).toContain('Plays with the demo');
  const fields = { name: 'Grace', email: 'g@example.com', role: 'member', intent: randomUUID() };
  expect(linkIn(await submit(service, `${path}/invite`, fields, demo))).not.toBe('');
});

test('an operator deactivates anybody, even the last one who decides', async () => {
  const team = await openTeam('merchant');
  for (const { id } of [team.ada, team.bob]) {
    await setUser(operatorOf(service), id, { status: 'inactive' });
  }
  expect((await open(service, team.path, team.ada)).headers.location).toMatch(/sign-in/);
  const partner = await openTeam('partner');
  await setPartnerMember(operatorOf(service), partner.ada.id, { status: 'inactive' });
  expect((await open(service, partner.path, partner.ada)).headers.location).toMatch(/sign-in/);
  expect((await open(service, partner.path, partner.bob)).statusCode).toBe(200);
});

test('when somebody was last there is kept after their session', async () => {
  const visitor = await addPerson(service);
  service.clock.now += 120_000;
  const before = service.clock.now;
  await open(service, '/panel/profile', visitor);
  await service.db.deleteFrom('panel_sessions').where('person_id', '=', visitor.personId).execute();
  const { last_seen_at: seen } = await service.db
    .selectFrom('people')
    .select('last_seen_at')
    .where('id', '=', visitor.personId)
    .executeTakeFirstOrThrow();
  expect(seen?.getTime()).toBe(before);
});
