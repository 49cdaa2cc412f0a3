import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import { createEvmAdapter } from '#chains/evm/adapter.ts';
import { openAccess } from '#chains/nodes/node-access.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { configureNetwork } from '#onchain/watching/operate/configure-network.ts';
import { addNode, removeNode, setNode, testNode } from '#onchain/watching/operate/manage-nodes.ts';
import type { NodeTools } from '#onchain/watching/operate/node-tools.ts';
import { addToRing } from '#storage/repositories/chains/blocks.ts';
import { findChain, takeLease, updateChain } from '#storage/repositories/chains/chains.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import { findNode, listNodes } from '#storage/repositories/chains/nodes.ts';
import { ANVIL_MISSING, type Anvil, hasAnvil } from '../../../helpers/anvil.ts';
import { cloneDatabase, type TestDatabase } from '../../../helpers/database.ts';
import { type EvmChain, startEvm } from '../../../helpers/evm.ts';
import type { NodeProxy } from '../../../helpers/node-proxy.ts';
import { putToken } from '../../../helpers/token.ts';

const USDC = '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238';
const OWN_USDT = '0xdeadbeefdeadbeefdeadbeefdeadbeefdeadbeef';

describe.skipIf(!hasAnvil)(hasAnvil ? 'nodes' : `nodes: ${ANVIL_MISSING}`, () => {
  let database: TestDatabase;
  let chain: EvmChain;
  let anvil: Anvil;
  let proxy: NodeProxy;
  beforeAll(async () => {
    [database, chain] = await Promise.all([cloneDatabase(), startEvm()]);
    ({ anvil, proxy } = chain);
  });
  afterAll(async () => {
    await Promise.all([chain.stop(), database.drop()]);
  });

  const keyring = createKeyring([randomBytes(32)]);
  const tools: NodeTools = { keyring, isProduction: false };
  let operator: { db: TestDatabase['db']; clock: () => number; actor: string };
  beforeEach(async () => {
    operator = { db: database.db, clock: Date.now, actor: 'alice' };
    await putToken(anvil, USDC, 6);
  });
  afterEach(async () => {
    proxy.misbehave(null);
    proxy.alter(null);
    for (const { id } of await listNodes(database.db)) await removeNode(operator, id);
    await database.db
      .updateTable('networks')
      .set({ contract: null, finality: null })
      .where('id', '=', 'eth-usdt-test')
      .execute();
  });

  const add = (settings: Partial<Parameters<typeof addNode>[2]> = {}, own = tools) =>
    addNode(operator, own, { chain: 'eth-test', url: proxy.url, ...settings });
  const refused = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => expect.unreachable(),
      (error: Error) => {
        expect(error.name).toMatch(/^(Command|Operation)Refused$/);
        return error.message;
      },
    );
  const audited = () => database.db.selectFrom('audit_log').selectAll().execute();
  const settledBy = async (...ids: string[]) =>
    Promise.all(ids.map(async id => (await findNetwork(database.db, id))?.settled_by));
  const NETWORKS = ['eth-test', 'eth-usdc-test', 'eth-usdt-test'];

  test('are verified, sealed and named, and their networks are settled by the chain', async () => {
    const url = proxy.url.replace('//', '//watcher:secret-word@');
    const { node, report, networks } = await add({ url, headers: ['x-key: secret-key'] });
    expect(node).toMatchObject({ chain: 'eth-test', label: '127.0.0.1', role: 'primary' });
    expect(node).toMatchObject({
      requests_per_second: 10,
      master_key_version: keyring.currentVersion,
    });
    expect(node.abilities).toMatchObject({ batch: expect.any(Number), pruneHeight: null });
    expect(node.abilities.batch).toBeGreaterThan(1);
    expect(openAccess(keyring, node)).toEqual({
      url: proxy.url,
      headers: { 'x-key': 'secret-key', authorization: expect.stringMatching(/^Basic /) },
    });
    expect(report).toMatchObject({ identity: '11155111', height: 0 });
    expect(report.networks).toEqual([
      { id: 'eth-test', problem: null },
      { id: 'eth-usdc-test', problem: null },
      {
        id: 'eth-usdt-test',
        problem: 'no contract is configured: mp network set eth-usdt-test --contract ADDRESS',
      },
    ]);
    expect(networks.map(({ settled_by }) => settled_by)).toEqual(['chain', 'chain', 'nobody']);
    expect(await settledBy(...NETWORKS, 'eth')).toEqual(['chain', 'chain', 'nobody', 'simulation']);
    expect((await findChain(database.db, 'eth-test'))?.identity).toBe('11155111');
    const log = await audited();
    expect(log).toMatchObject([{ actor: 'alice', action: 'node.add', object_id: node.id }]);
    expect(JSON.stringify(log)).not.toMatch(/secret|127\.0\.0\.1:/);

    const second = await add({ role: 'check', requestsPerSecond: 3 });
    expect(second.node).toMatchObject({ label: '127.0.0.1-2', role: 'check' });
    const third = await add({ label: 'archive' });
    expect(third.node.position).toBeGreaterThan(second.node.position);
    expect(await refused(add({ label: 'archive' }))).toBe(
      'eth-test has a node named archive already.',
    );
    expect((await listNodes(database.db, 'eth-test')).map(({ label }) => label)).toEqual([
      '127.0.0.1',
      'archive',
      '127.0.0.1-2',
    ]);
  });

  test('get no larger batches than they accept', async () => {
    proxy.misbehave({ kind: 'batch-refused', size: 1 });
    const { node } = await add();
    expect(node.abilities.batch).toBe(1);
    proxy.misbehave(null);
    expect((await testNode(operator, tools, node.id)).node.abilities.batch).toBeGreaterThan(1);
  });

  test('of another chain are refused, and nothing is stored', async () => {
    const before = (await audited()).length;
    expect(await refused(add({ chain: 'eth' }))).toBe(
      'The node 127.0.0.1 is refused: it is a node of Ethereum Sepolia (11155111); eth expects Ethereum mainnet (1).',
    );
    proxy.alter((method, _, result) => (method === 'eth_chainId' ? '0x7a69' : result));
    expect(await refused(add())).toBe(
      'The node 127.0.0.1 is refused: it is a node of 31337; eth-test expects Ethereum Sepolia (11155111).',
    );
    proxy.alter(null);
    proxy.misbehave({ kind: 'html' });
    expect(await refused(add())).toBe(
      'The node could not be asked: 127.0.0.1: an answer that is no JSON.',
    );
    expect(await refused(add({ url: 'http://8.8.8.8/' }))).toMatch(/plain http is for loopback/);
    expect(await refused(add({ headers: ['secret'] }))).not.toContain('secret');
    expect(await refused(add({ chain: 'doge' }))).toMatch(
      /^There is no chain doge\. The chains are/,
    );
    expect(await listNodes(database.db)).toEqual([]);
    expect(await settledBy(...NETWORKS)).toEqual(Array(3).fill('simulation'));
    expect((await findChain(database.db, 'eth-test'))?.identity).toBeNull();
    expect(await audited()).toHaveLength(before);
  });

  test('of one chain must agree on its identity, and private ones are kept from production', async () => {
    const testnet = '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943';
    const regtest = '0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206';
    let identity = regtest;
    const adapter = { ...createEvmAdapter(chainOf('eth-test')), identify: async () => identity };
    const bitcoin: NodeTools = { ...tools, adapterOf: () => adapter };
    const settings = { chain: 'btc-test' };
    expect(await refused(add(settings, { ...bitcoin, isProduction: true }))).toMatch(
      /it is a node of Bitcoin regtest \(0f91.*\); btc-test in production expects Bitcoin testnet4 .*signet \(\w+\)\.$/,
    );
    await add(settings, bitcoin);
    identity = testnet;
    expect(await refused(add(settings, bitcoin))).toBe(
      `The node 127.0.0.1 is refused: it is a node of Bitcoin testnet3 (${testnet}); the others of btc-test are of Bitcoin regtest (${regtest}).`,
    );
    // Two that are verified concurrently are compared when the second one is stored.
    for (const { id } of await listNodes(database.db)) await removeNode(operator, id);
    const both = await Promise.allSettled([
      add(settings, bitcoin),
      add(settings, {
        ...bitcoin,
        adapterOf: () => ({ ...adapter, identify: async () => regtest }),
      }),
    ]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('show which tokens they can see', async () => {
    await putToken(anvil, USDC, 18);
    const { node, networks } = await add();
    expect(networks.map(({ settled_by }) => settled_by)).toEqual(['chain', 'nobody', 'nobody']);
    const { report } = await testNode(operator, tools, node.id);
    expect(report.networks[1]).toEqual({
      id: 'eth-usdc-test',
      problem: `the token at ${USDC} has 18 decimals; USDC has 6`,
    });
    await anvil.rpc('anvil_setCode', [USDC, '0x']);
    expect((await testNode(operator, tools, node.id)).report.networks[1]?.problem).toBe(
      `there is no token at ${USDC}; USDC with 6 decimals was expected`,
    );
    await putToken(anvil, USDC, 6);
    await testNode(operator, tools, node.id);
    expect(await settledBy(...NETWORKS)).toEqual(['chain', 'chain', 'nobody']);
    // A token that one node saw must not be denied by another.
    proxy.alter((method, _, result) =>
      method === 'eth_call' ? `0x${'12'.padStart(64, '0')}` : result,
    );
    expect(await refused(add())).toBe(
      `The node contradicts the others of its chain on eth-usdc-test: the token at ${USDC} has 18 decimals; USDC has 6.`,
    );
    expect(await settledBy(...NETWORKS)).toEqual(['chain', 'chain', 'nobody']);
  });

  test('settle nothing without a primary one, and reset the chain when the last one is removed', async () => {
    const { db } = database;
    const [{ node: first }, { node: second }] = [await add({ role: 'check' }), await add()];
    expect(await settledBy(...NETWORKS)).toEqual(['chain', 'chain', 'nobody']);
    await setNode(operator, tools, second.id, { role: 'check' });
    expect(await settledBy(...NETWORKS)).toEqual(Array(3).fill('nobody'));
    proxy.misbehave({ kind: 'status', status: 503 });
    expect(await refused(setNode(operator, tools, first.id, { role: 'primary' }))).toMatch(/503/);
    proxy.misbehave(null);
    await setNode(operator, tools, first.id, { role: 'primary', requestsPerSecond: 7 });
    expect(await findNode(db, first.id)).toMatchObject({ role: 'primary', requests_per_second: 7 });
    expect(await settledBy(...NETWORKS)).toEqual(['chain', 'chain', 'nobody']);
    expect(await refused(setNode(operator, tools, first.id, {}))).toMatch(/^Nothing to change/);

    const epoch = await takeLease(db, 'eth-test', 'worker', 20_000);
    const at = new Date();
    await updateChain(db, 'eth-test', {
      cursor_height: 7,
      cursor_hash: '0x7',
      swept_height: 5,
      watched_until: at,
      halted: 'why',
    });
    await addToRing(db, { chain: 'eth-test', height: 0, hash: '0x0', at });
    await removeNode(operator, second.id);
    expect(await findChain(db, 'eth-test')).toMatchObject({ cursor_height: 7, lease_epoch: epoch });
    await removeNode(operator, first.id);
    expect(await settledBy(...NETWORKS)).toEqual(Array(3).fill('simulation'));
    expect(await findChain(db, 'eth-test')).toMatchObject({
      identity: null,
      cursor_height: null,
      cursor_hash: null,
      swept_height: null,
      watched_until: null,
      halted: null,
      lease_holder: null,
      lease_until: null,
      lease_epoch: (epoch ?? 0) + 1,
    });
    expect(await db.selectFrom('chain_blocks').selectAll().execute()).toEqual([]);
    expect(await refused(removeNode(operator, first.id))).toBe(`There is no node ${first.id}.`);
  });

  test('verify the contract of a test token', async () => {
    const configure = (id: string, change: Parameters<typeof configureNetwork>[3], own = tools) =>
      configureNetwork(operator, own, id, change);
    const contract = OWN_USDT;
    expect(await refused(configure('eth-usdt', { contract }))).toMatch(
      /^The contract of eth-usdt cannot be set: only those of eth-usdt-test, /,
    );
    expect(await refused(configure('eth-usdt-test', { contract: '0x12' }))).toMatch(
      /^The contract is refused: after 0x 40 characters must follow/,
    );
    expect(await refused(configure('eth-usdt-test', { contract: USDC.toLowerCase() }))).toBe(
      `${USDC} is the contract of eth-usdc-test already.`,
    );
    // It cannot be verified without a node.
    const canonical = '0xDeaDbeefdEAdbeefdEadbEEFdeadbeEFdEaDbeeF';
    expect(await configure('eth-usdt-test', { contract })).toMatchObject({
      contract: canonical,
      settled_by: 'simulation',
    });
    expect((await add()).report.networks[2]?.problem).toBe(
      `there is no token at ${canonical}; USDT with 6 decimals was expected`,
    );
    await putToken(anvil, contract, 8);
    expect(await refused(configure('eth-usdt-test', { contract }))).toBe(
      `The contract is refused: the token at ${canonical} has 8 decimals; USDT has 6.`,
    );
    expect(await settledBy('eth-usdt-test')).toEqual(['nobody']);
    await putToken(anvil, contract, 6);
    expect(await configure('eth-usdt-test', { contract })).toMatchObject({ settled_by: 'chain' });
    await anvil.rpc('anvil_setCode', [contract, '0x']);
  });

  test('are needed in production before a network is switched on', async () => {
    const production = { ...tools, isProduction: true };
    const on = (id: string) => configureNetwork(operator, production, id, { active: true });
    expect(await refused(on('eth-test'))).toBe(
      'eth-test cannot be switched on: eth-test has no verified primary node. Add one with mp node add eth-test --url URL.',
    );
    await add();
    expect(await on('eth-test')).toMatchObject({ is_active: true, settled_by: 'chain' });
    expect(await refused(on('eth-usdt-test'))).toMatch(
      /^eth-usdt-test cannot be switched on: no primary node of eth-test has been found/,
    );
    expect(await configureNetwork(operator, production, 'eth', { active: false })).toMatchObject({
      is_active: false,
    });
    expect(await configureNetwork(operator, tools, 'eth', { active: true })).toMatchObject({
      is_active: true,
    });
  });

  test('know when transfers are final', async () => {
    const set = (id: string, finality: string) =>
      configureNetwork(operator, tools, id, { finality });
    expect(await set('eth-usdt-test', '2@500,final')).toMatchObject({ finality: '2@500,final' });
    expect(await set('eth-usdt-test', 'default')).toMatchObject({ finality: null });
    expect(await refused(set('eth-test', '0'))).toMatch(/^The rule "0" is refused: "0" is neither/);
    expect(await refused(set('btc', '1@100,final'))).toMatch(/btc has no finality of its own/);
  });
});
