import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SIGNING_VECTORS } from '#signing/vectors/index.ts';
import { mpHere } from '../cli/mp.ts';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { type Installation, LANGUAGES, startDriver } from './installed-libraries.ts';
import { type ScriptedServer, startScriptedServer } from './javascript/scripted-server.ts';
import { callsOf, type Library } from './library.ts';
import { describeAttempts } from './library-attempts.ts';
import { describeReads } from './library-reads.ts';
import { describeSignatures, WEBHOOK } from './library-signatures.ts';

const run = promisify(execFile);

/** Each library is installed from the service as its README says, and behaves like the one for JavaScript. */

let service: TestApp;
let origin: string;
let shop: MerchantWithKey;
let server: ScriptedServer;

beforeAll(async () => {
  service = await startTestApp();
  // The libraries sign with the real time.
  service.clock.now = Date.now();
  shop = await addMerchant(service);
  origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
  server = await startScriptedServer();
});
afterAll(async () => {
  await Promise.all([service.close(), server.close()]);
});

/** @param flags Arguments of the program that executes the calls it reads. */
function describeLibrary(title: string, installed: () => Installation, flags: readonly string[]) {
  describe(title, () => {
    // Complete before the first test runs.
    const library = {} as Library;
    beforeAll(() => {
      const driver = startDriver(installed(), ...flags);
      const calls = callsOf(driver.ask, { origin, shop, server });
      const header = (name: string) => server.received.map(({ headers }) => headers[name]);
      Object.assign(library, { driver, calls, service, server, header } satisfies Library);
    });
    afterAll(async () => {
      expect(await library.driver.end()).toEqual({ status: 0, err: '' });
    });

    describeSignatures(library);
    describeReads(library);
    describeAttempts(library);
  });
}

describe.each(LANGUAGES)('$name', ({ name, fence, file, missing, install }) => {
  let installation: Installation;
  if (missing.length > 0) {
    test.skip(`skipped: no ${missing.join(', no ')}`, () => undefined);
    return;
  }
  beforeAll(async () => {
    installation = await install(origin);
  });
  afterAll(() => installation?.remove());
  describeLibrary('the client', () => installation, []);

  // Go's compiler refuses it.
  if (name !== 'Go')
    test('refuses the body that a framework has parsed', async () => {
      const driver = startDriver(installation);
      const answer = await driver.ask({ ...WEBHOOK, isParsed: true });
      await driver.end();
      expect(answer).toEqual({ valid: false, failure: 'body' });
    });

  test('the example of the guide creates one payment and reads it', async () => {
    const { body } = await service.app.inject({ url: '/docs/libraries.md' });
    const [, program = ''] = new RegExp(`\\n\`\`\`${fence}\\n(.*?)\\n\`\`\``, 's').exec(body) ?? [];
    await writeFile(join(installation.directory, file), program);
    const other = await addMerchant(service);
    const [command, ...args] = installation.start(file);
    const { stdout, stderr } = await run(command, args, {
      cwd: installation.directory,
      env: {
        ...installation.env,
        MP_URL: origin,
        MP_KEY_ID: other.keyId,
        MP_SECRET: other.secret,
        MP_PASSPHRASE: other.passphrase,
      },
    });
    expect(stderr).toBe('');
    const payments = await service.db
      .selectFrom('payments')
      .select(['id', 'amount', 'customer_reference_id'])
      .where('merchant_id', '=', other.merchant.id)
      .execute();
    expect(payments).toMatchObject([{ amount: 5000, customer_reference_id: 'order-1001' }]);
    const [checkoutUrl, read] = stdout.split('\n');
    expect(checkoutUrl).toMatch(/^https:\/\/pay\.example\.test\/checkout\/\S+$/);
    expect(read).toBe(`${payments[0]?.id} pending`);
  });
  if (name === 'Python') describeLibrary('the client for asyncio', () => installation, ['--async']);
  if (name !== 'Go') return;
  // Iterations of the others have no such field.
  test('an iteration accepts no cursor for going back', async () => {
    const driver = startDriver(installation);
    const calls = callsOf(driver.ask, { origin, shop, server });
    server.script({ status: 200, body: { object: 'list', data: [], hasMore: false } });
    const { result } = await calls.scripted('all', { query: { endingBefore: 'a', limit: 2 } });
    expect(result).toEqual([]);
    expect(server.received.map(({ path }) => path)).toEqual(['/external/v1/payments?limit=2']);
    await driver.end();
  });

  // Starting the others for every example takes seconds.
  test('mp conformance finds nothing wrong', async () => {
    const [program] = installation.command;
    const { status, out } = await mpHere(['conformance', '--command', program]);
    expect([status, out]).toEqual([0, expect.not.stringContaining('WRONG')]);
    const total = SIGNING_VECTORS.requests.length + SIGNING_VECTORS.webhooks.length;
    expect(out).toContain(`${total} of ${total} are right.`);
  });
});
