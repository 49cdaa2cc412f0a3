import { access, constants, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mp, mpHere } from './mp.ts';

const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const KEY = 'mpk_0123456789abcdef01234567';
/** Refuses connections, so that valid usage ends with status 1 rather than 2. */
const UNREACHABLE = { DATABASE_URL: 'postgres://nobody:s3cret@127.0.0.1:1/none' };

const VERBS = {
  migrate: [],
  network: ['list', 'set', 'status', 'rescan', 'audit', 'resume'],
  merchant: ['create', 'list', 'show', 'set'],
  doctor: [],
  branch: ['create', 'list'],
  address: ['set', 'remove', 'list'],
  domain: ['add', 'remove', 'list'],
  partner: ['create', 'list', 'show', 'set'],
  member: ['create', 'list', 'set'],
  key: ['create', 'list', 'rotate', 'revoke'],
  'master-key': ['reseal'],
  webhook: [
    ...['create', 'list', 'set', 'enable', 'disable', 'test', 'rotate'],
    ...['deliveries', 'redeliver', 'redeliver-failed'],
  ],
  listen: [],
  events: [],
  resend: [],
  payment: ['list', 'show', 'history', 'find-transaction', 'simulate'],
  clock: [],
  finding: ['list', 'resolve'],
  request: [],
  env: [],
  explain: [],
  conformance: [],
  mcp: [],
  metrics: ['rules'],
  audit: [],
};

test('the entry is executable', async () => {
  await access(resolve(import.meta.dirname, '../../src/cli.ts'), constants.X_OK);
});

test('a process ends with 0 after help, 2 after wrong usage and 1 after a failure', async () => {
  const [help, bare, unknown, failed] = await Promise.all([
    mp(['--help']),
    mp([]),
    mp(['network', 'lst']),
    mp(['network', 'list'], UNREACHABLE),
  ]);
  expect(help).toMatchObject({ status: 0, err: '' });
  for (const noun of Object.keys(VERBS)) expect(help.out).toContain(`\n  ${noun} `);
  expect(bare).toMatchObject({ status: 2, out: '' });
  expect(unknown).toMatchObject({ status: 2, out: '' });
  expect(unknown.err).toContain('Did you mean list?');
  expect(failed).toMatchObject({ status: 1, out: '' });
  expect(failed.err).toBe(
    'The database cannot be reached: connect ECONNREFUSED 127.0.0.1:1. Check DATABASE_URL and the server.\n',
  );
});

describe('help', () => {
  test.each(Object.entries(VERBS))('of %s', async (noun, verbs) => {
    const { status, out, err } = await mpHere([noun, '--help']);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect((await mpHere(['help', noun])).out).toBe(out);
    for (const verb of verbs) {
      const help = await mpHere([noun, verb, '--help']);
      expect(help.status).toBe(0);
      expect(help.out).toContain(`Usage: mp ${noun} ${verb}`);
      expect(help.out).toContain('--json');
      expect(out).toMatch(new RegExp(`\n  ${verb} .*[a-z]`));
    }
  });
});

test.each([
  ['a noun without a verb', ['key']],
  ['an unknown noun', ['keys']],
  ['an unknown verb', ['key', 'delete']],
  ['an unknown flag', ['network', 'list', '--all']],
  ['an argument too many', ['network', 'list', 'btc']],
  ['a missing argument', ['merchant', 'show']],
  ['a missing flag', ['branch', 'create', '--merchant', ID]],
  ['a flag without its value', ['domain', 'list', '--merchant']],
  ['nothing to set on a network', ['network', 'set', 'btc']],
  ['nothing to set on a merchant', ['merchant', 'set', ID, '--json']],
  ['nothing to set on a partner', ['partner', 'set', ID]],
  ['nothing to set on a member', ['member', 'set', ID]],
  ['another commission above the whole', ['merchant', 'set', ID, '--commission-bps', '10001']],
  ['nothing to set on a webhook endpoint', ['webhook', 'set', ID]],
  ['types of which one is unknown', ['webhook', 'set', ID, '--types', 'all,payment_prompt.paid']],
  ['no ID', ['merchant', 'show', 'shop']],
  ['an ID in braces', ['merchant', 'show', `{${ID}}`]],
  ['a switch that is neither', ['network', 'set', 'btc', '--active', 'yes']],
  ['a window of no minutes', ['network', 'set', 'btc', '--window-minutes', '0']],
  ['a window of more than a day', ['network', 'set', 'btc', '--window-minutes', '1441']],
  ['a window in an exponent', ['network', 'set', 'btc', '--window-minutes', '1e1']],
  ['a page of none', ['merchant', 'list', '--limit', '0']],
  ['a page too long', ['partner', 'list', '--limit', '1001']],
  ['a blank name', ['partner', 'create', '--name', ' \t']],
  ['a name too long', ['partner', 'create', '--name', 'x'.repeat(201)]],
  ['a name of two lines', ['partner', 'create', '--name', 'a\nb']],
  ['a name with an escape sequence', ['partner', 'create', '--name', 'a\u001b[2Jb']],
  ['an unknown kind', merchant('--kind', 'eu')],
  ['a commission above the whole', merchant('--commission-bps', '10001')],
  ['a tolerance of more than 2 %', merchant('--underpayment-tolerance-bps', '201')],
  ['a commission below nothing', merchant('--commission-bps', '-1')],
  ['a commission with a fraction', merchant('--commission-bps', '1.5')],
  ['an e-mail address without a domain', ['merchant', 'create', '--name', 'A', '--email', 'a']],
  ['an e-mail address of two', ['merchant', 'create', '--name', 'A', '--email', 'a@b.de,c@d.de']],
  ['an e-mail address with a line', ['merchant', 'create', '--name', 'A', '--email', 'a@b.de\n']],
  ['an unknown status', ['merchant', 'set', ID, '--status', 'deleted']],
  ['a colour that is a name', ['merchant', 'set', ID, '--accent', 'red']],
  ['a contact that is neither', ['merchant', 'set', ID, '--support', 'http://shop.example']],
  ['a partner that is neither', ['merchant', 'set', ID, '--partner', 'nobody']],
  ['an unknown role', member('--role', 'boss')],
  ['no role', member()],
  ['a key without an owner', ['key', 'create', '--name', 'A']],
  ['a key of two', ['key', 'create', '--name', 'A', '--merchant', ID, '--member', ID]],
  ['an unknown scope', key('--scopes', 'payments:read')],
  ['no scope', key('--scopes', '')],
  ['an expiry in words', key('--expires-at', 'tomorrow')],
  ['an expiry that is no day', key('--expires-at', '2030-02-30')],
  ['keys without an owner', ['key', 'list']],
  ['keys of two', ['key', 'list', '--merchant', ID, '--partner', ID]],
  ['no key ID', ['key', 'revoke', 'mpk_123']],
  ['another method', ['request', 'DELETE', '/external/v1/payments']],
  ['a path that is none', ['request', 'GET', 'external/v1/payments']],
  ['a path to another host', ['request', 'GET', '//example.com/external/v1/payments']],
  ['a path to another host in disguise', ['request', 'GET', '/\t\\example.com/']],
  ['a path to another host by a detour', ['request', 'GET', '/.//example.com/']],
  ['a path with a fragment', ['request', 'GET', '/external/v1/payments#1']],
  ['a body to get', ['request', 'GET', '/external/v1/payments', '--body', '{}']],
  ['a key no header carries', ['request', 'POST', '/', '--idempotency-key', 'a\nb']],
  ['a URL with a query', ['request', 'GET', '/', '--url', 'http://127.0.0.1:3000/?a=b']],
  ['a URL with a password', ['request', 'GET', '/', '--url', 'http://a:b@127.0.0.1:3000']],
  ['a conformance of nothing', ['conformance']],
  ['a conformance of another kind', ['conformance', '--command', 'true', '--only', 'all']],
  ['a test of nothing', ['webhook', 'test']],
  ['a test of two', ['webhook', 'test', ID, '--url', 'http://localhost/']],
  ['events of an unknown type', ['events', '--type', 'payment_prompt.paid']],
  ['events since nothing', ['events', '--since']],
  ['an event to nowhere', ['resend', ID]],
  ['a signature without its nonce', explain('--timestamp', '1779019200')],
  ['a signature without its timestamp', explain('--nonce', 'n')],
  ['a method that is none', ['explain', 'GET /', '/']],
  ['a path to explain that is none', ['explain', 'GET', 'external/v1/payments']],
  ['a path of two lines', ['explain', 'GET', '/external\n/v1']],
  ['a rescan without an end', ['network', 'rescan', 'eth', '--from', '1']],
  ['an audit without a beginning', ['network', 'audit', 'eth', '--to', '1']],
  ['a chain from below its first block', ['network', 'resume', 'eth', '--from', '0']],
  ['CSV as JSON', ['payment', 'list', '--csv', '--json']],
  ['payments until a word', ['payment', 'list', '--until', 'today']],
  ['payments of an unknown status', ['payment', 'list', '--status', 'paid']],
  ['a history of no payment', ['payment', 'history', 'order-1']],
  ['an audit log without end', ['audit', '--limit', '1001']],
  ['an audit log since a word', ['audit', '--since', 'yesterday']],
  ['an unknown demo account', ['request', 'GET', '/', '--as', 'owner']],
])('wrong usage: %s', async (_, args) => {
  const { status, out, err } = await mpHere(args, UNREACHABLE);
  expect(status).toBe(2);
  if (!args.includes('--json')) expect(out).toBe('');
  expect(err).toMatch(/^(error: |Usage: )/);
});

test('with --json a failure is one JSON document instead of the result', async () => {
  const failureOf = async (args: readonly string[]) => {
    const { status, out, err } = await mpHere([...args, '--json'], UNREACHABLE);
    const { error } = JSON.parse(out);
    expect(error.exitStatus).toBe(status);
    return { status, message: error.message, err };
  };
  const failed = await failureOf(['network', 'list']);
  expect(failed).toMatchObject({ status: 1, err: `${failed.message}\n` });
  expect(failed.message).toMatch(/^The database cannot be reached/);
  const wrong = await failureOf(['merchant', 'set', ID]);
  expect(wrong.status).toBe(2);
  expect(wrong.message).toMatch(/^give at least one of --/);
  expect(wrong.err).toContain(`error: ${wrong.message}\n`);
});

test('the version is that of the service', async () => {
  const { version } = JSON.parse(
    await readFile(resolve(import.meta.dirname, '../../package.json'), 'utf8'),
  );
  expect(await mpHere(['--version'])).toEqual({ status: 0, out: `${version}\n`, err: '' });
});

test.each([
  ['the longest name', ['partner', 'create', '--name', '𝔞'.repeat(200)]],
  ['a name in any script', ['partner', 'create', '--name', 'Müller & Søn 株式会社']],
  ['the highest commission', merchant('--commission-bps', '10000')],
  [
    'an e-mail address with a tag',
    ['merchant', 'create', '--name', 'A', '--email', "o'a+b@c-d.co"],
  ],
  [
    'every flag of a merchant',
    merchant('--kind', 'us', '--settlement', 'direct', '--no-main-branch'),
  ],
  ['an ID in capitals', ['merchant', 'show', ID.toUpperCase()]],
  ['unlinking', ['merchant', 'set', ID, '--partner', 'none']],
  ['a day of a window', ['network', 'set', 'btc', '--window-minutes', '1440']],
  ['several scopes', key('--scopes', 'payment_prompts:read, blockchains:read')],
  ['a date', key('--expires-at', '2030-01-31')],
  ['a time', key('--expires-at', '2030-01-31T12:00:00+01:00')],
  ['a key ID', ['key', 'rotate', KEY, '--now']],
  ['changes of a key', ['audit', '--object', KEY, '--actor', 'Ada L.', '--since', '2026-05-01']],
])('right usage: %s', async (_, args) => {
  const { status, err } = await mpHere(args, UNREACHABLE);
  expect(status).toBe(1);
  expect(err).toContain('The database cannot be reached');
  expect(err).not.toContain('s3cret');
});

function merchant(...flags: string[]): string[] {
  return ['merchant', 'create', '--name', 'Shop', '--email', 'shop@example.com', ...flags];
}

function member(...flags: string[]): string[] {
  return ['member', 'create', '--partner', ID, '--name', 'A', '--email', 'a@b.de', ...flags];
}

function key(...flags: string[]): string[] {
  return ['key', 'create', '--merchant', ID, '--name', 'Key', ...flags];
}

function explain(...flags: string[]): string[] {
  return ['explain', 'GET', '/external/v1/payments', '--signature', 'ab', ...flags];
}
