import { spawn } from 'node:child_process';
import { chmod, mkdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { verifyWebhook } from '#client/index.ts';
import { addMerchant, addPartner, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { COMPILE_CACHE } from '../../helpers/compile-cache.ts';
import { freePort } from '../../helpers/redis-server.ts';
import { simulate } from '../../helpers/simulate.ts';
import { type Receiver, startReceiver, status } from '../../payments/webhooks/receiver.ts';
import { installClient, type Project, RUNTIMES } from './installed-client.ts';

/** `mp` as users of the installed client run it: in their own directory, without the repository. */

const PATIENCE = { timeout: 40_000 };
const CREATE = '/external/v1/payments/prompt';
const anHourAgo = () => new Date(Date.now() - 3_600_000).toUTCString();
const STRANGER = resolve(import.meta.dirname, '../../cli/stranger.ts');

let service: TestApp;
let shop: MerchantWithKey;
let receiver: Receiver;
let project: Project;
let url: string;
/** A URL where nothing listens. */
let silent: string;
/** The output of all commands. */
let printed = '';

beforeAll(async () => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  silent = `http://127.0.0.1:${await freePort()}`;
  const clock = Object.assign(() => Date.now() + clock.now, { now: 0 });
  [service, receiver] = await Promise.all([
    startTestApp({ env: { PUBLIC_URL: url, RATE_LIMIT_MAX: '1000' }, clock }),
    startReceiver(),
  ]);
  shop = await addMerchant(service);
  await service.app.listen({ host: '127.0.0.1', port });
  project = await installClient(`npm install ${url}/client.tgz`);
});
beforeEach(() => {
  receiver.answer = status(200);
  receiver.requests.length = 0;
});
afterAll(async () => {
  await project?.remove();
  await receiver.close();
  await service.close();
  for (const secret of [shop.secret, shop.passphrase]) expect(printed).not.toContain(secret);
});

interface Options {
  readonly env?: Record<string, string>;
  /** Lines of standard input. */
  readonly input?: readonly string[];
  /** Whether standard input stays open after these lines. */
  readonly staysOpen?: boolean;
  readonly node?: string;
}

const variables = ({
  keyId,
  secret,
  passphrase,
}: Pick<MerchantWithKey, 'keyId' | 'secret' | 'passphrase'>) => ({
  MP_URL: url,
  MP_KEY_ID: keyId,
  MP_SECRET: secret,
  MP_PASSPHRASE: passphrase,
});
/** A home without credentials. */
const nobody = () => ({ HOME: join(project.directory, 'nobody') });
const credentials = () => join(project.directory, '.config/external-payments/credentials');

function start(
  args: readonly string[],
  { env = {}, input = [], staysOpen = false, node }: Options = {},
) {
  const program = join(project.directory, 'node_modules/.bin/mp');
  const child = spawn(node ?? process.execPath, [program, ...args], {
    cwd: project.directory,
    env: { PATH: process.env.PATH, HOME: project.directory, ...COMPILE_CACHE, ...env },
  });
  child.stdin.write(input.map(line => `${line}\n`).join(''));
  if (!staysOpen) child.stdin.end();
  return child;
}

async function mp(args: readonly string[], options: Options = {}) {
  const child = start(args, options);
  const ended = new Promise<number | null>(done => child.on('close', done));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  printed += out + err;
  return { status: code, out, err };
}

async function json(...args: string[]) {
  const { status, out, err } = await mp([...args, '--json']);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  return JSON.parse(out);
}

describe('mp login', () => {
  const answers = () => [url, shop.keyId, shop.secret, shop.passphrase];

  test('without it every command says what to do', async () => {
    const { status, err } = await mp(['request', 'GET', '/external/v1/payments']);
    expect(status).toBe(1);
    expect(err).toMatch(/^There is no key: run "npx --no mp login"/);
  });

  test.each([
    [
      'a wrong secret',
      () => [url, shop.keyId, `mps_${'0'.repeat(64)}`, shop.passphrase],
      /E2007: /,
    ],
    ['an incomplete secret', () => [url, shop.keyId, shop.secret.slice(0, -1)], /A secret is mps_/],
    ['an end', () => [url, shop.keyId], /input ended/],
    ['no service', () => [silent, ...answers().slice(1)], /Nothing answers on/],
    ['no address', () => ['payments'], /must be an http or https URL/],
  ])('stores nothing for %s', async (_, input, message) => {
    const { status, out, err } = await mp(['login'], { input: input() });
    expect({ status, out }).toEqual({ status: 1, out: '' });
    expect(err).toMatch(message);
    await expect(stat(credentials())).rejects.toThrow('ENOENT');
  });

  test('tries the key, and stores it readable by this user only', async () => {
    const { status, out } = await mp(['login'], { input: answers(), staysOpen: true });
    expect(status).toBe(0);
    expect(out).toContain(shop.keyId);
    expect((await stat(credentials())).mode & 0o777).toBe(0o600);
    expect((await stat(join(credentials(), '..'))).mode & 0o777).toBe(0o700);
    expect(JSON.parse(await readFile(credentials(), 'utf8')).secret).toBe(shop.secret);
  });

  test('a file that others can read is not used', async () => {
    await chmod(credentials(), 0o640);
    const { status, err } = await mp(['events']);
    expect(status).toBe(1);
    expect(err).toContain(`Run: chmod 600 ${credentials()}`);
    await chmod(credentials(), 0o600);
  });

  test('a file without a valid key is refused in one sentence', async () => {
    const home = join(project.directory, 'strange');
    const path = join(home, '.config/external-payments/credentials');
    await mkdir(path, { recursive: true, mode: 0o700 });
    const refused = async () => (await mp(['events'], { env: { HOME: home } })).err;
    expect(await refused()).toBe(`The credentials in ${path} cannot be read (EISDIR).\n`);
    await rmdir(path);
    const stored = { url: 'ftp://a', keyId: 'a', secret: 'b', passphrase: 'c' };
    await writeFile(path, JSON.stringify(stored), { mode: 0o600 });
    expect(await refused()).toBe(`${path} is not what "mp login" writes: log in again.\n`);
  });

  test('the stored key goes to no other address, and the environment’s key takes precedence', async () => {
    const elsewhere = { MP_URL: silent };
    const refused = await mp(['events'], { env: elsewhere });
    expect(refused.err).toContain(`is sent to ${url} only`);
    // A path at which a proxy might publish the service, which it does not here.
    const prefixed = await mp(['events', '--url', `${url}/gateway/`]);
    expect(prefixed).toMatchObject({ status: 1, err: expect.stringMatching(/^E3001: /) });
    const other = await addMerchant(service, { key: { scopes: ['blockchains:read'] } });
    const own = await mp(['events'], { env: variables(other) });
    expect(own).toMatchObject({ status: 1, err: expect.stringMatching(/^E2101: /) });
    const half = await mp(['events'], { env: { MP_KEY_ID: shop.keyId } });
    expect(half.err).toMatch(/^MP_SECRET and MP_PASSPHRASE must be set too/);
    const broken = { ...variables(shop), MP_PASSPHRASE: `${shop.passphrase}\n` };
    expect((await mp(['events'], { env: broken })).err).toBe(
      'MP_PASSPHRASE must be visible ASCII characters alone.\n',
    );
  });
});

test('from a first payment over a forwarded event to the same event again', async () => {
  const listener = start(['listen', '--forward-to', receiver.url, '--json']);
  let heard = '';
  listener.stdout.on('data', chunk => {
    heard += chunk;
  });
  await vi.waitUntil(() => heard.includes('\n'), PATIENCE);
  const { secret } = JSON.parse(heard);

  const body = JSON.stringify({ amount: 5000, customerReferenceId: 'Grüße 😀 \u2028' });
  const created = await json('request', 'POST', CREATE, '--body', body);
  const { id } = created.body.prompt;
  await simulate(service, id, 'confirm', new Date());
  await receiver.received(3);
  const types = receiver.requests.map(request => verifyWebhook({ ...request, secret }).type);
  expect(types.toSorted()).toEqual(
    ['created', 'detected', 'successful'].map(type => `payment_prompt.${type}`),
  );
  const ended = new Promise(done => listener.on('close', done));
  listener.kill('SIGINT');
  expect(await ended).toBe(0);

  const [event] = await json('events', '--payment', id, '--type', 'payment_prompt.successful');
  expect(event).toMatchObject({ data: { id, status: 'successful' }, deliveries: [] });
  expect((await mp(['events', '--payment', id])).out).toContain('payment_prompt.detected');
  expect(await json('events', '--undelivered')).toEqual([]);

  const own = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const again = ['resend', event.id, '--to', receiver.url];
  const sent = await mp([...again, '--json'], { env: { WEBHOOK_SECRET: own } });
  expect(JSON.parse(sent.out)).toMatchObject({ eventId: event.id, statusCode: 200 });
  const first = receiver.requests.find(request => request.event.id === event.id);
  const last = receiver.requests.at(-1);
  if (last === undefined) throw new Error('nothing came');
  expect(verifyWebhook({ ...last, secret: own }).id).toBe(event.id);
  expect(last.body).toBe(first?.body);
  receiver.answer = status(500);
  expect((await mp(again)).status).toBe(1);
  const unknown = await mp(['resend', id, '--to', receiver.url]);
  expect(unknown.err).toMatch(/^E3001: .*"mp explain E3001" says more\.\n$/);
});

test('a forced failure is explained', async () => {
  const path = '/external/v1/payments?limit=1';
  const timestamp = String(Math.floor(Date.now() / 1000));
  const sent = ['--timestamp', timestamp, '--nonce', 'n-1'];
  const signed = await mp(['explain', 'GET', '/external/v1/payments', ...sent, '--json']);
  const { headers } = JSON.parse(signed.out);
  // Signed without its query.
  const refused = await fetch(url + path, {
    headers: { ...headers, 'X-MP-PASSPHRASE': shop.passphrase },
  });
  expect(await refused.json()).toMatchObject({ error: { errorCode: 'E2007' } });
  const signature = ['--signature', headers['X-MP-SIGNATURE']];
  const explained = await mp(['explain', 'GET', path, ...sent, ...signature]);
  expect(explained.status).toBe(1);
  expect(explained.out).toContain('with the path without its query');
  const meaning = await mp(['explain', 'e2007']);
  expect(meaning).toMatchObject({ status: 0, err: '' });
  expect(meaning.out).toContain('Sign exactly the bytes that are sent');
});

describe('mp doctor', () => {
  const checks = async (options: Options = {}) => {
    const { status, out } = await mp(['doctor', '--json'], options);
    const { checks } = JSON.parse(out);
    return [status, checks.map((check: Record<string, string>) => `${check.name} ${check.state}`)];
  };
  const SERVICE = ['address ok', 'encryption ok', 'clock ok'];

  test('finds nothing wrong, and creates nothing', async () => {
    const count = () => service.db.selectFrom('payments').select('id').execute();
    const before = await count();
    expect(await checks()).toEqual([
      0,
      [
        ...SERVICE,
        'key ok',
        ...['payment_prompts:write ok', 'payment_prompts:read ok', 'blockchains:read ok'],
      ],
    ]);
    expect(await count()).toEqual(before);
    expect((await mp(['doctor'])).out).toContain('Allowed.');
  });

  test('says what is wrong, and what a key may not do', async () => {
    const wrong = { ...variables(shop), MP_SECRET: `mps_${'0'.repeat(64)}` };
    expect(await checks({ env: wrong })).toEqual([1, [...SERVICE, 'key wrong']]);
    const told = (await mp(['doctor'], { env: wrong })).out;
    expect(told).toContain(
      `E2007: the secret is wrong. ${shop.keyId} and its passphrase are right`,
    );
    expect(told).toContain('Use the secret that came with this passphrase');
    const short = { ...wrong, MP_SECRET: shop.secret.slice(4) };
    expect((await mp(['doctor'], { env: short })).out).toContain('A secret is mps_ and 64');
    const reader = await addMerchant(service, { key: { scopes: ['payment_prompts:read'] } });
    expect(await checks({ env: variables(reader) })).toEqual([
      0,
      [
        ...SERVICE,
        'key ok',
        ...['payment_prompts:write advised', 'payment_prompts:read ok'],
        'blockchains:read advised',
      ],
    ]);
    const partner = await addPartner(service);
    expect(await checks({ env: variables(partner) })).toEqual([0, [...SERVICE, 'key ok']]);
    const alone = { ...variables(shop), MP_URL: silent };
    expect(await checks({ env: alone })).toEqual([1, ['address wrong']]);
  });

  test('detects a wrong clock, and sends the key only to a service', async () => {
    const heard: string[] = [];
    let answer = { status: 200, headers: { 'x-request-id': 'r-1', date: anHourAgo() } };
    const stranger = createServer((request, response) => {
      heard.push(...Object.keys(request.headers));
      response.writeHead(answer.status, answer.headers).end();
    });
    const port = await freePort();
    await new Promise<void>(done => stranger.listen(port, '127.0.0.1', done));
    const env = { ...variables(shop), MP_URL: `http://127.0.0.1:${port}` };
    expect(await checks({ env })).toEqual([1, ['address ok', 'encryption ok', 'clock wrong']]);
    answer = { ...answer, status: 302 };
    expect(await checks({ env })).toEqual([1, ['address wrong']]);
    expect(heard).toContain('host');
    expect(heard.filter(name => name.startsWith('x-mp-'))).toEqual([]);
    stranger.close();
  });
});

describe('without a command that it knows', () => {
  test('it shows its commands, and how to read more', async () => {
    const { status, out, err } = await mp([]);
    expect({ status, out }).toEqual({ status: 2, out: '' });
    expect(err).toContain('\n  listen ');
    expect(err).toMatch(/\nerror: a command is missing\n"npx --no mp help" lists the commands/);
  });

  test.each([
    ['lisen', '. Did you mean "listen"?\n'],
    ['evnets', '. Did you mean "events"?\n'],
    ['sim', '. Did you mean "simulate"?\n'],
    ['payments', '.\n'],
  ])('%s is answered with what was meant', async (name, answer) => {
    const { status, err } = await mp([name]);
    expect(status).toBe(2);
    expect(err).toContain(`error: unknown command '${name}'${answer}`);
  });
});

test('conformance needs neither a key nor a service', async () => {
  const command = `${JSON.stringify(process.execPath)} ${STRANGER}`;
  const right = await mp(['conformance', '--command', command], { env: nobody() });
  expect(right).toMatchObject({ status: 0, err: '' });
});

test('mcp says what to install', async () => {
  const line =
    'mp mcp needs the SDK of the Model Context Protocol: npm install @modelcontextprotocol/server@2\n';
  expect(await mp(['mcp'])).toMatchObject({ status: 1, out: '', err: line });
});

test.each(RUNTIMES)('it runs on $name', async ({ program }) => {
  if (program === undefined) return;
  expect((await mp(['doctor'], { node: program })).status).toBe(0);
  const help = await mp(['help'], { node: program });
  expect(help.out).toContain('conformance');
  const wrong = await mp(['events', '--limit', '0', '--json'], { node: program });
  expect(wrong).toMatchObject({ status: 2, err: expect.stringMatching(/^error: option '--limit/) });
  expect(JSON.parse(wrong.out).error.exitStatus).toBe(2);
  const none = await mp(['explain'], { node: program });
  expect(none).toMatchObject({ status: 2, out: '' });
});
