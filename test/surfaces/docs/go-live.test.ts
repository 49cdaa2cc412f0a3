import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FirstPayment } from '#onchain/settlement/first-payment.ts';
import { setPerson } from '#storage/repositories/people/memberships.ts';
import { mpHere, type Operated, startOperated } from '../../cli/mp.ts';
import { ANVIL_MISSING, type Anvil, hasAnvil, startAnvil } from '../../helpers/anvil.ts';
import { addPerson, entryOf, open } from '../../helpers/panel.ts';
import { watchNetworks } from '../../helpers/watch-networks.ts';
import { type Receiver, startReceiver } from '../../payments/webhooks/receiver.ts';

/** Runs every command of the guide unchanged and in order, on a local node. */

const GUIDE = readFileSync(
  new URL('../../../src/surfaces/docs/guides/operating/go-live.md', import.meta.url),
  'utf8',
);
const PREFIX = 'npx --no mp ';

/** The commands of a section, by the start of its heading. */
function commandsOf(heading: string): string[] {
  const [, section = ''] = GUIDE.split(`\n## ${heading}`);
  const blocks = [...(section.split('\n## ')[0] ?? '').matchAll(/```sh\n(.*?)```/gs)];
  return blocks.flatMap(([, block = '']) => block.trim().split('\n'));
}

/** The words of a line without variables, as a shell splits it. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}

describe.skipIf(!hasAnvil)(hasAnvil ? 'the guide' : `the guide: ${ANVIL_MISSING}`, () => {
  let service: Operated;
  let anvil: Anvil;
  let receiver: Receiver;
  /** Replacements for the guide's placeholders. */
  const own = new Map<string, string>();
  /** The variables that the reader exports. */
  const env: Record<string, string> = { SIMULATION: 'off', PROCESSOR: '' };

  beforeAll(async () => {
    [service, anvil, receiver] = await Promise.all([
      startOperated(),
      startAnvil({ chainId: 1 }),
      startReceiver(),
    ]);
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = service.app.server.address() as AddressInfo;
    own.set('https://pay.example.com', `http://127.0.0.1:${port}`);
    own.set('https://eth.provider.example/v2/KEY', anvil.url);
    own.set('https://shop.example.com/hooks', receiver.url);
  });
  afterAll(async () => {
    await Promise.all([service.close(), anvil.stop(), receiver.close()]);
  });

  // biome-ignore lint/suspicious/noExplicitAny: each step says what it expects.
  async function follow(line: string): Promise<any> {
    expect(line.startsWith(PREFIX), line).toBe(true);
    const args = wordsOf(line.slice(PREFIX.length)).map(word => own.get(word) ?? word);
    const { status, out, err } = await mpHere([...args, '--json'], { ...service.env, ...env });
    expect([err, status], line).toEqual(['', 0]);
    return JSON.parse(out);
  }

  async function stateOf(name: string): Promise<string | undefined> {
    const args = ['doctor', own.get('MERCHANT') ?? '', '--json'];
    const { out } = await mpHere(args, { ...service.env, ...env });
    const { steps }: FirstPayment = JSON.parse(out);
    return steps.find(step => step.name === name)?.state;
  }

  test('makes a merchant', async () => {
    const [create = '', ...others] = commandsOf('0.');
    expect(others).toEqual([]);
    own.set('MERCHANT', (await follow(create)).id);
    expect(await stateOf('account')).toBe('done');
  });

  test('gives it a node, an address and a domain', async () => {
    for (const [section, name, before] of [
      ['1.', 'node', 'missing'],
      ['2.', 'address', 'missing'],
      ['3.', 'domain', 'advised'],
    ] as const) {
      const [command = '', check = '', ...others] = commandsOf(section);
      expect(others).toEqual([]);
      expect(await stateOf(name)).toBe(before);
      await follow(command);
      expect(await follow(check)).not.toEqual([]);
      expect(await stateOf(name)).toBe('done');
    }
    expect(await stateOf('worker')).toBe('missing');
    await watchNetworks(service.db, ['eth']);
    expect(await stateOf('worker')).toBe('done');
  });

  test('makes a key that signs', async () => {
    const [create = '', exported = '', check = '', ...others] = commandsOf('4.');
    expect(others).toEqual([]);
    expect(await stateOf('key')).toBe('missing');
    const { keyId, secret, passphrase } = await follow(create);
    const values = { MP_KEY_ID: keyId, MP_SECRET: secret, MP_PASSPHRASE: passphrase };
    expect(exported).toMatch(/^export /);
    for (const [name, value] of Object.entries(values)) {
      const example = new RegExp(` ${name}=(\\w{0,4})…`).exec(exported)?.[1];
      expect(example, name).toBe(value.slice(0, example?.length));
      env[name] = value;
    }
    expect(await follow(check)).toMatchObject({ status: 200 });
    expect(await stateOf('key')).toBe('done');
  });

  test('adds an endpoint that responds', async () => {
    const [create = '', check = '', ...others] = commandsOf('5.');
    expect(others).toEqual([]);
    own.set('ENDPOINT', (await follow(create)).id);
    await follow(check);
    expect(receiver.requests).toHaveLength(1);
    expect(await stateOf('webhook')).toBe('done');
  });

  test('invites a person, who signs in', async () => {
    const [create = '', check = '', ...others] = commandsOf('6.');
    expect(others).toEqual([]);
    const { id, link } = await follow(create);
    expect((await open(service, new URL(link).pathname)).statusCode).toBe(200);
    expect(await follow(check)).toMatchObject([{ id, signsIn: false }]);
    expect(await stateOf('person')).toBe('advised');
    await setPerson(service.db, 'merchant', id, entryOf(service, await addPerson(service)));
    expect(await follow(check)).toMatchObject([{ id, signsIn: true }]);
  });

  test('ends with a payment', async () => {
    const [doctor = '', create = '', history = '', ...others] = commandsOf('7.');
    expect(others).toEqual([]);
    const { steps, canSettle }: FirstPayment = await follow(doctor);
    expect(canSettle).toBe(true);
    expect(steps.map(({ state }) => state)).toEqual(steps.map(() => 'done'));
    const { status, body } = await follow(create);
    expect(status).toBe(201);
    own.set('ID', body.prompt.id);
    expect(await follow(history)).not.toEqual([]);
  });
});
