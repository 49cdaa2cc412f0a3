import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANVIL_MISSING, hasAnvil } from '../helpers/anvil.ts';
import { type EvmChain, startEvm } from '../helpers/evm.ts';
import type { NodeProxy } from '../helpers/node-proxy.ts';
import { putToken } from '../helpers/token.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

const USDC = '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238';
const ID = expect.stringMatching(/^[0-9a-f-]{36}$/);
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

interface Shown {
  readonly id: string;
  readonly label: string;
  readonly role: string;
}

describe.skipIf(!hasAnvil)(hasAnvil ? 'mp node' : `mp node: ${ANVIL_MISSING}`, () => {
  let service: Operated;
  let chain: EvmChain;
  let proxy: NodeProxy;
  let folder: string;
  beforeAll(async () => {
    [service, chain] = await Promise.all([startOperated(), startEvm()]);
    ({ proxy } = chain);
    folder = await mkdtemp(join(tmpdir(), 'mp-node-'));
    await putToken(chain.anvil, USDC, 6);
  });
  afterAll(async () => {
    await Promise.all([chain.stop(), rm(folder, { recursive: true }), service.close()]);
  });

  const file = async (name: string, text: string) => {
    const path = join(folder, name);
    await writeFile(path, text);
    return `@${path}`;
  };

  test('adds, shows, changes and removes nodes, and never shows how they are accessed', async () => {
    const url = await file('url', `${proxy.url}?key=secret-of-the-query\n`);
    const header = await file('header', 'x-api-key: secret-of-the-file\n');
    const headers = ['--secret-header', header, '--secret-header', 'x-other: secret-of-the-flag'];
    const added = await service.ask<Shown>('node', 'add', 'eth-test', '--url', url, ...headers);
    expect(Object.keys(added)[0]).toBe('id');
    expect(added).toMatchObject({
      id: ID,
      chain: 'eth-test',
      label: '127.0.0.1',
      role: 'primary',
      requestsPerSecond: 10,
      callsPerDay: null,
      verifiedAt: INSTANT,
      createdAt: INSTANT,
      identity: 'Ethereum Sepolia (11155111)',
      height: 0,
      networks: [
        { id: 'eth-test', settledBy: 'chain', problem: null },
        { id: 'eth-usdc-test', settledBy: 'chain', problem: null },
        { id: 'eth-usdt-test', settledBy: 'nobody', problem: /^no contract is configured/ },
      ].map(network =>
        network.problem === null
          ? network
          : { ...network, problem: expect.stringMatching(network.problem) },
      ),
    });
    expect(proxy.requests[0]).toMatchObject({
      path: '/v1/secret-of-the-path?key=secret-of-the-query',
      headers: { 'x-api-key': 'secret-of-the-file', 'x-other': 'secret-of-the-flag' },
    });

    const more = [
      '--url',
      proxy.url,
      '--role',
      'check',
      '--name',
      'Own',
      '--requests-per-second',
      '3',
      '--calls-per-day',
      '100000',
    ];
    const check = await service.ask<Shown>('node', 'add', 'eth-test', ...more);
    expect(check).toMatchObject({ label: 'Own', role: 'check', requestsPerSecond: 3 });
    expect(check).toMatchObject({ callsPerDay: 100_000 });
    const list = await service.ask<Shown[]>('node', 'list', '--chain', 'eth-test');
    expect(list.map(({ label }) => label)).toEqual(['127.0.0.1', 'Own']);
    expect(await service.ask('node', 'list', '--chain', 'btc')).toEqual([]);
    const set = ['node', 'set', check.id, '--role', 'primary', '--requests-per-second', '20'];
    expect(await service.ask(...set)).toMatchObject({ role: 'primary', requestsPerSecond: 20 });
    const quota = (value: string) => service.ask('node', 'set', check.id, '--calls-per-day', value);
    expect(await quota('5000')).toMatchObject({ callsPerDay: 5_000, requestsPerSecond: 20 });
    expect(await quota('none')).toMatchObject({ callsPerDay: null, requestsPerSecond: 20 });
    expect(await service.ask('node', 'test', check.id)).toMatchObject({ id: check.id, height: 0 });
    const table = await mpHere(['node', 'list'], service.env);
    expect(table.out).toMatch(
      /^id +chain +label +role +requestsPerSecond +callsPerDay +verifiedAt\n/,
    );

    const removed = await service.ask<Shown>('node', 'remove', check.id);
    expect(removed.label).toBe('Own');
    const audit = await service.ask<{ action: string }[]>('audit');
    expect(audit.slice(0, 7).map(({ action }) => action)).toEqual([
      ...['node.remove', 'node.test', 'node.set', 'node.set', 'node.set', 'node.add', 'node.add'],
    ]);
    expect(JSON.stringify([added, check, list, removed, audit, table])).not.toContain('secret-of');
    await service.ask('node', 'remove', added.id);
  });

  test('refuses nodes that cannot be watched, without repeating their URL', async () => {
    const add = (...flags: string[]) => service.refused('node', 'add', 'eth-test', ...flags);
    expect(await add('--url', 'secret-of-the-url')).toMatch(
      /^The URL of the node is refused: it is/,
    );
    expect(await add('--url', `@${folder}/none`)).toMatch(/^The URL cannot be read from .*ENOENT/);
    const header = ['--secret-header', 'secret-of-the-flag'];
    expect(await add('--url', proxy.url, ...header)).toMatch(/^A header of the node is refused/);
    proxy.alter((method, _, result) => (method === 'eth_chainId' ? '0x1' : result));
    expect(await add('--url', proxy.url)).toBe(
      'The node 127.0.0.1 is refused: it is a node of Ethereum mainnet (1); eth-test expects Ethereum Sepolia (11155111).',
    );
    proxy.alter(null);
    const usage = await mpHere(
      ['node', 'set', '01890a5d-ac96-774b-bcce-b302099a8057'],
      service.env,
    );
    expect(usage).toMatchObject({ status: 2, out: '' });
    expect(usage.err).toMatch(
      /give at least one of --role, --requests-per-second, --calls-per-day/,
    );
    for (const value of ['0', '-1', 'many', '1000000001']) {
      const set = ['node', 'set', '01890a5d-ac96-774b-bcce-b302099a8057', '--calls-per-day', value];
      expect(await mpHere(set, service.env)).toMatchObject({ status: 2, out: '' });
    }
    expect(await service.refused('network', 'set', 'btc', '--finality', 'soon')).toMatch(
      /^The rule "soon" is refused/,
    );
    expect(await service.refused('network', 'set', 'eth', '--contract', USDC)).toMatch(
      /^The contract of eth cannot be set/,
    );
    const rule = ['network', 'set', 'eth', '--finality', '6@5000,final'];
    expect(await service.ask(...rule)).toMatchObject({ finality: '6@5000,final' });
  });
});
