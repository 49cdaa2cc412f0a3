import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUser } from '#accounts/users.ts';
import { linkObject } from '#cli/accounts/people.ts';
import type { Session } from '#cli/session.ts';
import { readConfig } from '#config/config.ts';
import { announceService } from '#runtime/development/local-service.ts';
import { addMerchant, addPartner, operatorOf } from '../helpers/accounts.ts';
import { addMerchantUser, open } from '../helpers/panel.ts';
import { type Operated, startOperated } from './mp.ts';

let service: Operated;
let merchantId: string;

beforeAll(async () => {
  service = await startOperated();
  merchantId = (await addMerchant(service)).merchant.id;
});
afterAll(() => service.close());

interface Linked {
  readonly link: string;
  readonly signsIn: boolean;
}

test('a user is created with a link that opens the page to join', async () => {
  const args = ['--merchant', merchantId, '--name', 'Ada', '--email', 'ada@example.com'];
  const { link, signsIn } = await service.ask<Linked>(
    ...['user', 'create', ...args, '--role', 'admin', '--invite'],
  );
  expect(signsIn).toBe(false);
  const page = await open(service, new URL(link).pathname);
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain('Shop invites Ada to its panel');
  // The operator's name is only for the audit log.
  expect(page.body).not.toContain('alice');
});

test('a member is invited likewise', async () => {
  const { member } = await addPartner(service);
  const { link } = await service.ask<Linked>('member', 'invite', member.id);
  expect((await open(service, new URL(link).pathname)).statusCode).toBe(200);
});

test('links and sign-out are only for people who sign in', async () => {
  const email = 'lin@example.com';
  const user = await createUser(operatorOf(service), {
    merchantId,
    name: 'Lin',
    email,
    role: 'member',
  });
  expect(await service.refused('user', 'link', user.id)).toContain('invite somebody first');
  expect(await service.refused('user', 'sign-out', user.id)).toContain('Nobody signs in');
  const admin = await addMerchantUser(service, merchantId, 'admin');
  expect(await service.refused('user', 'invite', admin.userId)).toContain('already');
  const { link } = await service.ask<Linked>('user', 'link', admin.userId, '--factors');
  expect((await open(service, new URL(link).pathname)).body).toContain('new authenticator app');
  expect(await service.ask('user', 'sign-out', admin.userId)).toEqual({
    id: admin.userId,
    sessionsEnded: 1,
  });
  const home = await open(service, `/panel/merchants/${merchantId}`, admin);
  expect(home.statusCode).toBe(303);
});

test('a database given by URL has no demo', async () => {
  expect(await service.refused('user', 'demo-link')).toContain('There is no demo here.');
});

test('a link on this machine leads to the running service', async () => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'eps-links-'));
  const linkAt = async (env: Record<string, string>) => {
    const config = readConfig({ DATA_DIRECTORY: dataDirectory, ...env });
    const expiresAt = new Date();
    const { link } = await linkObject({ config } as Session, { token: 'abc', expiresAt });
    return link;
  };
  expect(await linkAt({})).toBe('http://127.0.0.1:3000/panel/join/abc');
  const withdraw = await announceService(dataDirectory, 'http://127.0.0.1:3998');
  expect(await linkAt({})).toBe('http://127.0.0.1:3998/panel/join/abc');
  expect(await linkAt({ PANEL_URL: 'https://pay.example.com' })).toBe(
    'https://pay.example.com/panel/join/abc',
  );
  await withdraw();
  await rm(dataDirectory, { recursive: true });
});
