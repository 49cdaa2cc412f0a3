import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SIGNING_VECTORS } from '#signing/vectors/index.ts';
import { mpHere } from '../cli/mp.ts';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import type { TestApp } from '../helpers/app.ts';
import { openPage, type PastedPage, startProduction } from '../surfaces/docs/pasted-page.ts';
import { type Installation, LANGUAGES, startDriver } from './installed-libraries.ts';
import { type ScriptedServer, startScriptedServer } from './javascript/scripted-server.ts';
import { callsOf, type Library } from './library.ts';
import { describeAttempts } from './library-attempts.ts';
import { describeReads } from './library-reads.ts';
import { describeSignatures, WEBHOOK } from './library-signatures.ts';

/** Each library is installed from the service as its page says, and behaves like the one for JavaScript. */

let service: TestApp;
let origin: string;
let shop: MerchantWithKey;
let server: ScriptedServer;

beforeAll(async () => {
  ({ service, origin } = await startProduction());
  shop = await addMerchant(service);
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

describe.each(LANGUAGES)('$name', ({ name, slug, missing, env, prepare, install, lint }) => {
  let page: PastedPage;
  let installation: Installation;
  if (missing.length > 0) {
    test.skip(`skipped: no ${missing.join(', no ')}`, () => undefined);
    return;
  }
  beforeAll(async () => {
    page = await openPage(service, slug, env, prepare);
    const { directory } = page;
    const installed = await install(page);
    installation = { directory, ...installed, env: { PATH: process.env.PATH, ...installed.env } };
  });
  afterAll(() => page?.close());

  test('its page keeps its promises, pasted into an empty directory', async () => {
    await page.pasteOthers();
    await page.terminal.paste(lint);
  });

  describeLibrary('the client', () => installation, []);

  // Go's compiler refuses it.
  if (name !== 'Go')
    test('refuses the body that a framework has parsed', async () => {
      const driver = startDriver(installation);
      const answer = await driver.ask({ ...WEBHOOK, isParsed: true });
      await driver.end();
      expect(answer).toEqual({ valid: false, failure: 'body' });
    });

  if (name === 'Python') describeLibrary('the client for asyncio', () => installation, ['--async']);
  if (name === 'PHP')
    test('a missing response says which host and why, whatever the HTTP client', async () => {
      const driver = startDriver(installation);
      const calls = callsOf(driver.ask, { origin, shop, server });
      const url = 'https://nowhere.invalid/gateway';
      const messageOf = async (failsWith?: string) => {
        const given = { query: { customerReferenceId: 'a b' } };
        const { error } = await calls.scripted('list', given, { url, maxAttempts: 1, failsWith });
        return error?.message;
      };
      const begun = `GET ${url}/external/v1/payments got no answer: `;
      const named = 'Could not resolve host: nowhere.invalid';
      expect(await messageOf()).toBe(`${begun}cURL error 6: ${named}`);
      const target = `${url}/external/v1/payments?customerReferenceId=a%20b`;
      expect(await messageOf(`${named} for "${target}".`)).toBe(`${begun}${named}.`);
      const other = ['', 'GET customerReferenceId=a b'];
      for (const text of other) expect(await messageOf(text)).toBe(`${begun}HttpFailure`);
      await driver.end();
    });
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
