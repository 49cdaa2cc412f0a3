import type { LightMyRequestResponse } from 'fastify';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { inviteUser, linkFor } from '#accounts/people/invitations.ts';
import { takeTurnOfSite } from '#accounts/people/password-queue.ts';
import { createUser } from '#accounts/users.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  codeAt,
  open,
  PASSWORD,
  submit,
  type Visitor,
} from '../../helpers/panel.ts';

const OTHER = 'another password that is long';

let service: TestApp;
let merchantId: string;
let admin: Visitor & { readonly userId: string };

beforeAll(async () => {
  service = await startTestApp({ hashesSlowly: true });
  merchantId = (await addMerchant(service)).merchant.id;
});
afterAll(() => service.close());
beforeEach(async () => {
  admin = await addMerchantUser(service, merchantId, 'admin', { withPassword: true });
});

/** The code of an app that a page's form proposes. */
async function proposedApp(path: string) {
  const page = await open(service, path);
  const secret = /name="secret" value="(\w+)"/.exec(page.body)?.[1] ?? '';
  return { secret, code: codeAt(secret, service.clock.now) };
}

const linkTo = async (purpose: 'password' | 'factors' | 'both') =>
  `/panel/join/${(await linkFor(operatorOf(service), { userId: admin.userId }, purpose)).token}`;

/** Prepares a form that has a password hashed. */
type Prepare = () => Promise<() => Promise<LightMyRequestResponse>>;

test.each<[string, Prepare]>([
  [
    'signing in',
    async () => () => submit(service, '/panel/sign-in', { email: admin.email, password: PASSWORD }),
  ],
  [
    'joining by an invitation',
    async () => {
      const email = `${admin.userId}@example.org`;
      const user = await createUser(operatorOf(service), {
        merchantId,
        name: 'Grace',
        email,
        role: 'member',
      });
      const path = `/panel/join/${(await inviteUser(operatorOf(service), user.id)).token}`;
      const form = { email, password: OTHER, ...(await proposedApp(path)) };
      return () => submit(service, path, form);
    },
  ],
  [
    'a link for a new password',
    async () => {
      const path = await linkTo('password');
      return () => submit(service, path, { password: OTHER });
    },
  ],
  [
    'a link for a new app',
    async () => {
      const path = await linkTo('factors');
      const form = { password: PASSWORD, ...(await proposedApp(path)) };
      return () => submit(service, path, form);
    },
  ],
  [
    'a form of the profile',
    async () => {
      const proof = { password: PASSWORD, code: codeAt(admin.secret, service.clock.now) };
      const form = { 'new-password': OTHER, ...proof };
      return () => submit(service, '/panel/profile/password', form, admin);
    },
  ],
])('%s holds no connection while it waits for its turn to hash', async (_, prepare) => {
  const send = await prepare();
  const { promise: end, resolve: endAll } = Promise.withResolvers<void>();
  // Two in progress, and others from distinct sites that leave one place among the sixty that may wait.
  const others = Array.from({ length: 2 + 59 }, (__, site) => takeTurnOfSite(`${site}`, () => end));
  const answers = [send(), send()];
  // One is refused; the other one waits by then.
  const first = await Promise.race(answers);
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and xact_start is not null
      and backend_type = 'client backend' and pid <> pg_backend_pid()`.execute(service.db);
  endAll();
  await Promise.all(others);
  const statuses = (await Promise.all(answers)).map(({ statusCode }) => statusCode);
  expect(first.statusCode).toBe(503);
  expect(first.headers['retry-after']).toBe('2');
  expect(rows[0]?.count).toBe(0);
  expect(Math.min(...statuses)).toBeLessThan(400);
});

test('of a hundred concurrent sign-ins, at most half are refused for lack of a turn', async () => {
  const form = { email: admin.email, password: PASSWORD };
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => submit(service, '/panel/sign-in', form)),
  );
  const refused = answers.filter(({ statusCode }) => statusCode === 503);
  expect(refused.length).toBeLessThanOrEqual(50);
  // Those do not count as failures of that person: ten of the others get in.
  expect(answers.filter(({ statusCode }) => statusCode === 303)).toHaveLength(10);
});
