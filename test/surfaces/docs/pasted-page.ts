import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'vitest';
import { setExampleAddresses } from '#accounts/example-addresses.ts';
import { forbidSimulation } from '#storage/repositories/simulated-services.ts';
import { addMerchant, type MerchantWithKey, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { COMPILE_CACHE } from '../../helpers/compile-cache.ts';
import { freePort } from '../../helpers/redis-server.ts';
import { watchNetworks } from '../../helpers/watch-networks.ts';
import { openTerminal, type Terminal } from './terminal.ts';
import { expectVerifies } from './webhook-receiver.ts';

/**
 * Somebody who has nothing but a key of a test merchant pastes the blocks of a page into an empty directory, one after the
 * other, and gets what the page promises: from a service in production, and without a package registry.
 */
export interface PastedPage {
  /** The directory that its first block makes, and installs the client or library in. */
  readonly directory: string;
  readonly terminal: Terminal;
  /** Pastes the blocks after the first one, and expects of each what it promises. */
  pasteOthers(): Promise<void>;
  close(): Promise<void>;
}

const PUBLIC_URL = 'https://pay.example.test';
/** The directory that every page makes. */
const SHOP = 'shop';

/**
 * Starts a service as in production: payments of live merchants are settled by nodes alone, of Bitcoin and Ethereum here,
 * and nobody watches a test network.
 */
export async function startProduction(): Promise<{ service: TestApp; origin: string }> {
  const service = await startTestApp({
    env: {
      NODE_ENV: 'production',
      PUBLIC_URL,
      DATABASE_URL: 'postgres://not-used.test/eps',
      MASTER_KEY: randomBytes(32).toString('base64'),
    },
  });
  await forbidSimulation(service.db);
  await watchNetworks(service.db, ['btc', 'eth']);
  // Programs sign with the real time.
  service.clock.now = Date.now();
  return { service, origin: await service.app.listen({ host: '127.0.0.1', port: 0 }) };
}

/** What the service has of a page's merchant. */
interface Records {
  /** Of its only payment; empty before that is created. */
  readonly id: string;
  /** IDs and types of its events, oldest first. */
  readonly events: readonly string[];
}

/** Which commands are meant, and a check of what they have printed, after which the service has these records. */
type Check = readonly [commands: RegExp, check: (output: string, records: Records) => void];

/** What starts a server that verifies webhooks, with a secret in the environment. */
const SERVER = /WEBHOOK_SECRET=/;

/** What the page for a language promises. */
const PROGRAMS: readonly Check[] = [
  [
    /\bcreate(\.\w+)?$/,
    (output, { id }) => {
      const [checkoutUrl = '', read, ...again] = output.split('\n');
      expect(checkoutUrl).toMatch(new RegExp(`^${PUBLIC_URL}/checkout/\\S+$`));
      expect(read).toBe(`${id} pending`);
      expect(again).toEqual([checkoutUrl, read, '']);
    },
  ],
  [/\bpay(\.\w+)?$/, (output, { id }) => expect(output).toBe(`${id} successful\n`)],
  [/\blist(\.\w+)?$/, (output, { id }) => expect(output).toContain(`${id} 5000`)],
  [
    /\bevents(\.\w+)?$/,
    (output, { events }) => {
      expect(events.at(-1)).toMatch(/ payment_prompt\.successful$/);
      const printed = output.trimEnd().split('\n');
      expect(printed.map(line => line.split(' ').slice(0, 2).join(' '))).toEqual(events);
    },
  ],
  [/\berrors(\.\w+)?$/, output => expect(output).toMatch(/^E1001 amount [0-9a-f-]{36}\n$/)],
  [SERVER, () => undefined],
  [/\/hooks/, output => expect(output).toMatch(/\b204\b/)],
];

/** What the quickstart promises. */
const COMMANDS: readonly Check[] = [
  [/ doctor$/, output => expect(output).not.toMatch(/^wrong/m)],
  [/ request POST /, (output, { id }) => expect(output).toContain(`"id": "${id}"`)],
  [/ simulate /, output => expect(output).toContain('The payment is successful.')],
  [/ request GET /, output => expect(output).toContain('"status": "successful"')],
  [
    / events$/,
    (output, { events }) => {
      for (const event of events) expect(output).toContain(event.replace(' ', '  '));
    },
  ],
];

/** npm may need the client alone: no registry responds here. */
const OFFLINE_NPM = {
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_audit: 'false',
  npm_config_update_notifier: 'false',
};

/**
 * Opens a page, and pastes its first block.
 * @param prepare Prepares the directory that is the home of the terminal, too.
 */
export async function openPage(
  service: TestApp,
  slug: string,
  env: NodeJS.ProcessEnv = {},
  prepare?: (home: string) => Promise<void>,
): Promise<PastedPage> {
  const shop = await addMerchant(service, { environment: 'test', addresses: {} });
  await setExampleAddresses(operatorOf(service), shop.merchant.id);
  const port = await freePort();
  const [first, ...others] = await blocksOf(service, slug, port, shop);
  const terminal = await openTerminal({ ...COMPILE_CACHE, ...OFFLINE_NPM, ...env });
  try {
    await prepare?.(terminal.directory);
    await terminal.paste(first?.text ?? '');
  } catch (error) {
    await terminal.close();
    throw error;
  }
  return {
    directory: join(terminal.directory, SHOP),
    terminal,
    async pasteOthers() {
      service.clock.now = Date.now();
      const checks = slug === 'quickstart' ? COMMANDS : PROGRAMS;
      const left = new Set(checks);
      for (const { file, text } of others) {
        if (file !== undefined) {
          await terminal.save(file, text);
          continue;
        }
        const { id } = await recordsOf(service, shop);
        const output = await terminal.paste(text.replace('PAYMENT', id));
        const kept = checks.find(([commands]) => commands.test(text));
        if (kept === undefined) continue;
        left.delete(kept);
        const [commands, check] = kept;
        check(output, await recordsOf(service, shop));
        if (commands !== SERVER) continue;
        const secret = await terminal.paste('echo "$WEBHOOK_SECRET"');
        await expectVerifies(`http://127.0.0.1:${port}/hooks`, secret.trim());
      }
      expect([...left]).toEqual([]);
    },
    close: () => terminal.close(),
  };
}

interface Block {
  /** What it is saved as; undefined for commands. */
  readonly file: string | undefined;
  readonly text: string;
}

/** The blocks of a page that somebody with a key pastes: its files and its commands. */
async function blocksOf(
  { app }: TestApp,
  slug: string,
  port: number,
  { keyId, secret, passphrase }: MerchantWithKey,
): Promise<Block[]> {
  const { statusCode, body } = await app.inject({ url: `/docs/${slug}.md` });
  expect(statusCode).toBe(200);
  const markdown = body
    // There is no TLS here, and the port of the page's server may be in use.
    .replaceAll(PUBLIC_URL, app.listeningOrigin)
    .replaceAll('8080', String(port))
    .replace('=mpk_…\n', () => `=${keyId}\n`)
    .replace('=mps_…\n', () => `=${secret}\n`)
    .replace('MP_PASSPHRASE=…\n', () => `MP_PASSPHRASE=${passphrase}\n`);
  return [...markdown.matchAll(/^([^\n]+)\n\n```(\w+)\n(.*?)\n```$/gms)].flatMap(
    ([, introduction = '', language, text = '']) => {
      const [, file] = /\bSave .* as `([^`]+)`.*:$/.exec(introduction) ?? [];
      return file === undefined && language !== 'sh' ? [] : [{ file, text }];
    },
  );
}

async function recordsOf({ db }: TestApp, { merchant }: MerchantWithKey): Promise<Records> {
  const payments = await db
    .selectFrom('payments')
    .select('id')
    .where('merchant_id', '=', merchant.id)
    .execute();
  expect(payments.length).toBeLessThanOrEqual(1);
  const events = await db
    .selectFrom('events')
    .select(['id', 'type'])
    .where('merchant_id', '=', merchant.id)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return { id: payments[0]?.id ?? '', events: events.map(({ id, type }) => `${id} ${type}`) };
}
