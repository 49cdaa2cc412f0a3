import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inviteUser, linkFor, makeLink } from '#accounts/people/invitations.ts';
import { createUser } from '#accounts/users.ts';
import { reportDemoPeople } from '#runtime/demo-people.ts';
import type { LinkPurpose } from '#storage/database/people-tables.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addPerson,
  codeAt,
  cookieOf,
  open,
  PASSWORD,
  submit,
  textOf,
} from '../../helpers/panel.ts';

let service: TestApp;
/** The same database, keys and clock, in production. */
let production: TestApp;

beforeAll(async () => {
  service = await startTestApp();
  production = await startTestApp({
    beside: service,
    env: {
      NODE_ENV: 'production',
      PANEL_URL: 'https://pay.example.test',
      DATABASE_URL: service.databaseUrl,
      MASTER_KEY: randomBytes(32).toString('base64'),
    },
  });
});
afterAll(async () => {
  await production.close();
  await service.close();
});

/** What is logged about the demo at a start. */
async function report(environment: 'development' | 'production'): Promise<unknown[]> {
  const lines: unknown[] = [];
  const warn = (...line: unknown[]) => void lines.push(line);
  await reportDemoPeople({ environment }, service.db, { warn });
  return lines;
}

async function linkTo(personId: string, purpose: LinkPurpose): Promise<string> {
  const subject = { person_id: personId, merchant_user_id: null, partner_member_id: null };
  const now = new Date(service.clock.now);
  return `/panel/join/${(await makeLink(service.db, purpose, subject, 'test', now)).token}`;
}

test('the page for signing in says how one gets into the demo, where there is one', async () => {
  const command = 'npx --no mp user demo-link';
  const read = async (where: TestApp) => textOf(await open(where, '/panel/sign-in'));
  expect(await read(service)).not.toContain(command);
  const { personId } = await addPerson(service, { isDemo: true });
  expect(await read(service)).toContain(command);
  expect(await read(production)).not.toContain(command);
  await service.db.deleteFrom('panel_sessions').where('person_id', '=', personId).execute();
  await service.db.deleteFrom('people').where('id', '=', personId).execute();
});

test('people of the demo cannot sign in in production, and the start warns that they exist', async () => {
  expect(await report('production')).toEqual([]);
  const { personId, cookie } = await addPerson(service, { isDemo: true });
  const path = await linkTo(personId, 'demo');
  expect((await open(production, path)).statusCode).toBe(404);
  const refused = await submit(production, path, {});
  expect(refused.statusCode).toBe(404);
  expect(refused.headers['set-cookie']).toBeUndefined();
  const entered = await submit(service, path, {});
  expect(entered.statusCode).toBe(303);
  for (const session of [cookie, cookieOf(entered)]) {
    expect((await open(service, '/panel/profile', { cookie: session })).statusCode).toBe(200);
    const outside = await open(production, '/panel/profile', { cookie: session });
    expect(outside.headers.location).toMatch(/^\/panel\/sign-in/);
  }
  expect(await report('development')).toEqual([]);
  expect(await report('production')).toEqual([
    [{ people: 1 }, expect.stringContaining('cannot sign in to the panel in production')],
  ]);
});

test('a person of the demo gets no password, no app and no account of others', async () => {
  const { merchant } = await addMerchant(service);
  const demo = await addMerchantUser(service, merchant.id, 'admin', { isDemo: true });
  await expect(linkFor(operatorOf(service), { userId: demo.userId }, 'both')).rejects.toThrow(
    'nothing to sign in with',
  );
  const path = await linkTo(demo.personId, 'both');
  const page = await open(service, path);
  const secret = /name="secret" value="(\w+)"/.exec(page.body)?.[1] ?? '';
  const form = { password: PASSWORD, secret, code: codeAt(secret, service.clock.now) };
  expect((await submit(service, path, form)).statusCode).toBe(404);
  const user = await createUser(operatorOf(service), {
    merchantId: (await addMerchant(service)).merchant.id,
    name: 'Grace',
    email: 'grace@example.com',
    role: 'admin',
  });
  const { token } = await inviteUser(operatorOf(service), user.id);
  const accepted = await submit(service, `/panel/join/${token}/accept`, {}, demo);
  expect(accepted.statusCode).toBe(404);
});
