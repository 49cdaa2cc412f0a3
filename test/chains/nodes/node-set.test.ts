import { randomBytes } from 'node:crypto';
import { register } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { LaggingNode, type Node, NodeFailure, WrongIdentity } from '#chains/nodes/node.ts';
import { parseNodeAccess, sealAccess } from '#chains/nodes/node-access.ts';
import type { NodeSet } from '#chains/nodes/node-set.ts';
import { openNodeSet } from '#chains/nodes/open-node-set.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { newId } from '#crypto/new-id.ts';
import type { NodeRole } from '#storage/database/watching-tables.ts';
import { listNodeCalls } from '#storage/repositories/chains/node-calls.ts';
import {
  deleteNode,
  insertNode,
  listSeenNodes,
  updateNode,
} from '#storage/repositories/chains/nodes.ts';
import { ANVIL_MISSING, type Anvil, hasAnvil, startAnvil } from '../../helpers/anvil.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { type NodeProxy, RpcRefusal, startNodeProxy } from '../../helpers/node-proxy.ts';

const CHAIN = 'eth-test';
const STALE_MS = 90_000;
const keyring = createKeyring([randomBytes(32)]);

describe.skipIf(!hasAnvil)(hasAnvil ? 'a set of nodes' : `nodes: ${ANVIL_MISSING}`, () => {
  let database: TestDatabase;
  let anvil: Anvil;
  let one: NodeProxy;
  let two: NodeProxy;
  beforeAll(async () => {
    [database, anvil] = await Promise.all([cloneDatabase(), startAnvil()]);
    [one, two] = await Promise.all([startNodeProxy(anvil.url), startNodeProxy(anvil.url)]);
  });
  afterAll(async () => {
    await Promise.all([one.stop(), two.stop(), database.drop()]);
    await anvil.stop();
  });

  let now = Date.UTC(2026, 4, 17);
  let set: NodeSet;
  let positions = 0;
  let logged: string[] = [];
  const log = (_: object, message?: string) => void logged.push(message ?? '');
  const { signal } = new AbortController();

  function openSet(
    readHeight?: (node: Node) => Promise<number>,
    hasBlock?: (node: Node, height: number) => Promise<boolean>,
    reports = true,
  ): NodeSet {
    return openNodeSet({
      db: database.db,
      chain: CHAIN,
      staleHeadMs: STALE_MS,
      blockMs: 12_000,
      keyring,
      clock: () => now,
      logger: { error: log, warn: log, info: log },
      verify: async node => {
        const id = Number(await node.call('eth_chainId', []));
        if (id !== 11_155_111) throw new WrongIdentity(`its chain ID is ${id}, not 11155111`);
      },
      ...(readHeight && { readHeight }),
      ...(hasBlock && { hasBlock }),
      reports,
    });
  }

  async function addNode(
    url: string,
    label: string,
    role: NodeRole = 'primary',
    callsPerDay: number | null = null,
  ): Promise<string> {
    const id = newId();
    const at = new Date(now);
    await insertNode(database.db, {
      id,
      chain: CHAIN,
      role,
      label,
      requests_per_second: 1000,
      calls_per_day: callsPerDay,
      position: positions++,
      access: sealAccess(keyring, id, parseNodeAccess(url, [])),
      master_key_version: keyring.currentVersion,
      abilities: { trace: null, logRange: null, batch: 20, archive: false, pruneHeight: null },
      verified_at: at,
      created_at: at,
      updated_at: at,
    });
    await set.refresh();
    return id;
  }

  const label = async () => (await set.primary(signal)).label;
  const asked = (proxy: NodeProxy) => proxy.calls.splice(0).map(({ method }) => method);
  const reasonOf = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => expect.unreachable(),
      (error: Error) => {
        expect(error).toBeInstanceOf(NodeFailure);
        return error.message;
      },
    );

  beforeEach(() => {
    set = openSet();
    logged = [];
  });
  afterEach(async () => {
    await set.close();
    for (const proxy of [one, two]) {
      proxy.misbehave(null);
      proxy.alter(null);
      proxy.calls.length = 0;
    }
    await database.db.deleteFrom('nodes').execute();
  });

  test('notices nodes that are added, changed and removed', async () => {
    await set.refresh();
    expect(await reasonOf(set.primary(signal))).toBe('eth-test has no primary node');
    expect(await set.check(signal)).toBeNull();

    const first = await addNode(one.url, 'one');
    await addNode(two.url, 'two');
    expect(await label()).toBe('one');
    now += 1;
    const change = { role: 'check', updated_at: new Date(now) } as const;
    await updateNode(database.db, first, change);
    await set.refresh();
    expect(await label()).toBe('two');
    expect(await set.check(signal)).toMatchObject({ label: 'one', role: 'check' });
    await deleteNode(database.db, first);
    const held = await set.check(signal);
    await set.refresh();
    expect(await set.check(signal)).toBeNull();
    expect(await reasonOf(held?.call('eth_chainId', []) ?? Promise.resolve())).toMatch(/no answer/);
    expect(set.states().map(state => state.label)).toEqual(['two']);
  });

  test('finds another node than the given one, of any role', async () => {
    const first = await addNode(one.url, 'one');
    await set.refresh();
    expect(await set.another(first, signal)).toBeNull();
    const second = await addNode(two.url, 'two');
    now += 1;
    await updateNode(database.db, second, { role: 'check', updated_at: new Date(now) });
    await set.refresh();
    expect(await set.another(first, signal)).toMatchObject({ label: 'two' });
    expect(await set.another(second, signal)).toMatchObject({ label: 'one' });
    const third = await addNode(one.url, 'three');
    expect(await set.another(first, signal)).toMatchObject({ label: 'two' });
    set.distrust(second, 'it lies');
    expect(await set.another(first, signal)).toMatchObject({ label: 'three' });
    set.distrust(third, 'it lies as well');
    expect(await reasonOf(set.another(first, signal))).toContain('it lies');
  });

  test('verifies a node initially, hourly and after failures', async () => {
    await addNode(one.url, 'one');
    expect(asked(one)).toEqual([]);
    const node = await set.primary(signal);
    await Promise.all([set.primary(signal), set.primary(signal)]);
    expect(asked(one)).toEqual(['eth_chainId']);
    now += 60 * 60_000 - 1;
    await set.primary(signal);
    expect(asked(one)).toEqual([]);
    now += 1;
    await set.primary(signal);
    expect(asked(one)).toEqual(['eth_chainId']);

    one.misbehave({ kind: 'reset' }, 1);
    await reasonOf(node.call('eth_blockNumber', []));
    now += 1000;
    await set.primary(signal);
    expect(asked(one)).toEqual(['eth_blockNumber', 'eth_chainId']);
  });

  test('does not call a node that now belongs to another chain', async () => {
    const first = await addNode(one.url, 'one');
    await addNode(two.url, 'two');
    expect(await label()).toBe('one');
    one.alter((method, _, result) => (method === 'eth_chainId' ? '0x1' : result));
    now += 60 * 60_000;
    expect(await label()).toBe('two');
    expect(set.state(first)).toEqual({
      id: first,
      label: 'one',
      role: 'primary',
      state: 'refused',
      height: null,
      lastError: 'its chain ID is 1, not 11155111',
    });
    asked(one);
    expect(await label()).toBe('two');
    expect(asked(one)).toEqual([]);
    one.alter(null);
    now += 60_000;
    expect(await label()).toBe('one');
    expect(set.state(first)).toMatchObject({ state: 'up', lastError: null });

    set.distrust(first, 'it has another block 0');
    expect(await label()).toBe('two');
    two.misbehave({ kind: 'status', status: 503 });
    now += 60 * 60_000;
    one.alter(() => '0x1');
    expect(await reasonOf(set.primary(signal))).toBe(
      'no node of eth-test can be asked: one: its chain ID is 1, not 11155111; two: status 503',
    );
  });

  test('uses the next one once the daily calls of all processes are used up', async () => {
    const look = { kind: 'open', ownMs: 6_000, longestMs: 60_000 } as const;
    const first = await addNode(one.url, 'one', 'primary', 10);
    await addNode(two.url, 'two');
    const other = openSet(undefined, undefined, false);
    await other.refresh();
    const asking = await other.primary(signal);
    await asking.batch(
      Array.from({ length: 5 }, () => ({ method: 'eth_blockNumber', params: [] })),
    );
    await other.close();
    now += 10_000;
    await set.refresh();
    // One earlier call for its identity, and five.
    expect(await listNodeCalls(database.db, new Date(now))).toMatchObject([
      { node: first, today: 6, limit: 10, perDay: null },
      { today: 0, limit: null },
    ]);
    expect(set.mayLook(look)).toBe(true);
    const node = await set.primary(signal);
    expect(node.label).toBe('one');
    await node.batch(Array.from({ length: 3 }, () => ({ method: 'eth_blockNumber', params: [] })));
    expect(await label()).toBe('two');
    expect(set.mayLook(look)).toBe(true);

    // A process that restarts knows the count, and the next day starts anew.
    await set.close();
    set = openSet();
    await set.refresh();
    expect(await label()).toBe('two');
    now = Date.UTC(2026, 4, 18) + 10_000;
    await set.refresh();
    expect(await label()).toBe('one');
    now += 10 * 60_000;
    await set.refresh();
    // One call in ten minutes.
    const [counted] = await listNodeCalls(database.db, new Date(now));
    expect(counted).toMatchObject({ node: first, today: 1, perDay: 144 });
    now += 31 * 60_000;
    expect((await listNodeCalls(database.db, new Date(now)))[0]?.perDay).toBeNull();
  });

  test('makes the calls of a check node last for the day, too', async () => {
    now = Date.UTC(2026, 4, 20);
    const look = { kind: 'open', ownMs: 6_000, longestMs: 60_000 } as const;
    const idle = { kind: 'idle', ownMs: 30_000, longestMs: 120_000 } as const;
    await addNode(one.url, 'one');
    const second = await addNode(two.url, 'two', 'check', 10);
    const calls = (count: number) =>
      Array.from({ length: count }, () => ({ method: 'eth_blockNumber', params: [] }));
    expect(set.mayLook(look)).toBe(true);
    const check = await set.check(signal, true);
    await check?.batch(calls(5));
    now += 59_999;
    expect(set.mayLook(look)).toBe(false);
    expect(set.mayLook(idle)).toBe(true);
    now += 1;
    expect(set.mayLook(look)).toBe(true);
    await check?.batch(calls(4));
    await set.refresh();
    // What alerts are based on.
    expect(await listNodeCalls(database.db, new Date(now))).toContainEqual(
      expect.objectContaining({ node: second, today: 10, limit: 10 }),
    );
    // After that, the node is used only for final confirmation, and holds up nothing.
    expect(set.mayLook(look)).toBe(true);
    expect(await reasonOf(set.check(signal, true))).toMatch(/has a call left today/);
    expect(await set.check(signal)).toMatchObject({ label: 'two' });
  });

  test('does not take a node that could not be verified for one of another chain', async () => {
    const first = await addNode(one.url, 'one');
    one.alter(() => {
      throw new RpcRefusal(-32603, 'Internal error');
    });
    const reason = 'one: could not be verified: it answered "Internal error" (-32603)';
    expect(await reasonOf(set.primary(signal))).toBe(`no node of eth-test can be asked: ${reason}`);
    expect(set.state(first)).toMatchObject({ state: 'failing', lastError: reason });
    expect(set.pausedFor()).toBeGreaterThan(0);
    one.alter(null);
    now += 1000;
    expect(set.pausedFor()).toBe(0);
    expect(set.state(first)).toMatchObject({ state: 'failing' });
    expect(await label()).toBe('one');
    expect(set.state(first)).toMatchObject({ state: 'up' });

    // Nor one that limits calls, or responds with nonsense.
    for (const how of [
      { kind: 'status', status: 429, retryAfter: 60 },
      { kind: 'html' },
    ] as const) {
      one.misbehave(how, 1);
      now += 60 * 60_000;
      expect(await reasonOf(set.primary(signal))).toMatch(/limits calls|no JSON/);
      expect(set.state(first)?.state).toBe('failing');
    }
  });

  test('pauses a node whose server lags only for a short while, however often', async () => {
    const first = await addNode(one.url, 'one');
    for (let lags = 0; lags < 10; lags += 1) {
      set.reportFailure(first, new LaggingNode('one: header not found'));
      expect(set.pausedFor()).toBeLessThanOrEqual(4_000);
      expect(set.pausedFor()).toBeGreaterThan(0);
      now += 4_000;
    }
    // A lag does not count as a wrong response.
    set.reportFailure(first, new NodeFailure('one: block 7 has the number 8'));
    expect(set.pausedFor()).toBeLessThanOrEqual(1_000);
  });

  test('uses the next one while a node is suspended', async () => {
    const first = await addNode(one.url, 'one');
    await addNode(two.url, 'two');
    one.misbehave({ kind: 'status', status: 429, retryAfter: 60 });
    expect(await label()).toBe('two');
    expect(set.state(first)).toMatchObject({ state: 'failing', lastError: 'one: limits calls' });
    one.misbehave(null);
    now += 59_000;
    expect(await label()).toBe('two');
    now += 1000;
    expect(await label()).toBe('one');
  });

  test("uses the next one while a node's responses are far too large, even with good ones in between", async () => {
    const first = await addNode(one.url, 'one');
    await addNode(two.url, 'two');
    const node = await set.primary(signal);
    one.misbehave({ kind: 'oversized' }, 1);
    expect(await reasonOf(node.call('eth_blockNumber', []))).toBe(
      'one: an answer of more than 4 KiB',
    );
    expect(await label()).toBe('two');
    expect(set.state(first)).toMatchObject({
      state: 'failing',
      lastError: 'one: an answer of more than 4 KiB',
    });
    now += 59_999;
    expect(await label()).toBe('two');
    now += 1;
    expect(await label()).toBe('one');
  });

  test('suspends a node whose responses contradict each other', async () => {
    const first = await addNode(one.url, 'one');
    await addNode(two.url, 'two');
    expect(await label()).toBe('one');
    set.reportFailure(first, new NodeFailure('one: block 7 has the number 8'));
    expect(await label()).toBe('two');
    expect(set.state(first)).toMatchObject({
      state: 'failing',
      lastError: 'one: block 7 has the number 8',
    });
    now += 1000;
    expect(await label()).toBe('one');
    // Good responses in between do not count: they are as many as the bad ones.
    set.reportFailure(first, new NodeFailure('one: block 7 has the number 8'));
    now += 1000;
    expect(await label()).toBe('two');
    now += 1000;
    expect(await label()).toBe('one');
    // A task that was completed with good responses only resets the count of failures.
    set.reportSuccess(first);
    set.reportFailure(first, new NodeFailure('one: block 8 has the number 9'));
    expect(await label()).toBe('two');
    now += 1000;
    expect(await label()).toBe('one');
    // After five minutes it is forgotten.
    now += 5 * 60_000;
    expect(set.state(first)).toMatchObject({ state: 'up', lastError: null });
    set.reportFailure(first, new NodeFailure('one: block 9 has the number 8'));
    now += 1000;
    expect(await label()).toBe('one');

    one.misbehave({ kind: 'reset' }, 1);
    const node = await set.primary(signal);
    const failure = await node.call('eth_blockNumber', []).catch((error: Error) => error);
    set.reportFailure(first, failure as Error);
    now += 1000;
    expect(await label()).toBe('one');
  });

  test('prefers a node whose head moves and is not behind', async () => {
    const [first, second] = [await addNode(one.url, 'one'), await addNode(two.url, 'two')];
    await set.acceptHead(first, 100, signal);
    now += STALE_MS;
    await set.acceptHead(first, 100, signal);
    expect(await label()).toBe('one');
    now += 1;
    // A lagging backend of the same node is no new block.
    await set.acceptHead(first, 99, signal);
    expect(await label()).toBe('two');
    expect(set.state(first)).toMatchObject({ state: 'behind', height: 99 });
    await set.acceptHead(first, 101, signal);
    expect(await label()).toBe('one');

    // It advances, but is further behind than the limit.
    await set.acceptHead(second, 200, signal);
    now += STALE_MS - 1;
    await set.acceptHead(first, 199, signal);
    expect(await label()).toBe('one');
    now += 1;
    await set.acceptHead(first, 199, signal);
    expect(await label()).toBe('two');
    // If all are behind, the chain may have stopped.
    await set.acceptHead(second, 200, signal);
    now += STALE_MS;
    await set.acceptHead(first, 199, signal);
    await set.acceptHead(second, 200, signal);
    expect(set.states().map(({ state }) => state)).toEqual(['behind', 'behind']);
    expect(await label()).toBe('two');
  });

  test('accepts an unreachable height only from a node that still belongs to the chain', async () => {
    const [first, second] = [await addNode(one.url, 'one'), await addNode(two.url, 'two')];
    expect(await label()).toBe('one');
    await set.acceptHead(first, 100, signal);
    asked(one);
    now += 12_000;
    await set.acceptHead(first, 101, signal);
    expect(asked(one)).toEqual([]);

    one.alter((method, _, result) => (method === 'eth_chainId' ? '0x1' : result));
    expect(await reasonOf(set.acceptHead(first, 9e15, signal))).toContain('its chain ID is 1');
    await set.acceptHead(second, 102, signal);
    expect(set.state(first)).toMatchObject({ state: 'refused', height: null });
    expect(set.state(second)).toMatchObject({ state: 'up', height: 102 });
    // Nor a head that goes back as far.
    two.alter((method, _, result) => (method === 'eth_chainId' ? '0x1' : result));
    expect(await reasonOf(set.acceptHead(second, 50, signal))).toContain('its chain ID is 1');
  });

  test('accepts no height at which the node has no blocks', async () => {
    await set.close();
    let far = 0;
    const readHeight = async (node: Node) => (node.label === 'two' ? far : 100);
    const shown: number[] = [];
    set = openSet(readHeight, async (_, height) => {
      shown.push(height);
      return height < 1_000;
    });
    const [first, second] = [await addNode(one.url, 'one'), await addNode(two.url, 'two')];
    await expect.poll(() => set.states().map(({ height }) => height)).toEqual([100, 0]);
    expect(await reasonOf(set.acceptHead(first, 9e15, signal))).toBe(
      `one has no block ${9e15 - 3}, and says that its newest is ${9e15}`,
    );
    expect(shown.at(-1)).toBe(9e15 - 3);
    // Nor from a node that is not in use.
    far = 9e15;
    now += 45_000;
    await set.acceptHead(first, 103, signal);
    shown.length = 0;
    await set.refresh();
    await expect.poll(() => shown).toEqual([9e15 - 3]);
    now += STALE_MS;
    await set.acceptHead(first, 110, signal);
    expect(set.state(first)).toMatchObject({ state: 'up', height: 110 });
    expect(set.state(second)).toMatchObject({ height: 0 });
  });

  test('accepts no height from a connection to another chain', async () => {
    const first = await addNode(one.url, 'one');
    const node = await set.primary(signal);
    await set.acceptHead(first, 100, signal);
    one.disconnect();
    one.alter((method, _, result) => (method === 'eth_chainId' ? '0x1' : result));
    await expect.poll(() => node.call('eth_blockNumber', [])).toMatch(/^0x/);
    expect(await reasonOf(set.acceptHead(first, 101, signal))).toContain('its chain ID is 1');
    expect(set.state(first)).toMatchObject({ state: 'refused' });
  });

  test('stores what it sees for operators', async () => {
    await set.close();
    set = openSet(async node => Number(await node.call('eth_blockNumber', [])));
    const [first] = [await addNode(one.url, 'one'), await addNode(two.url, 'two', 'check')];
    await expect.poll(() => set.states().map(({ height }) => height)).toEqual([0, 0]);
    two.misbehave({ kind: 'html' });
    now += 45_000;
    await anvil.rpc('anvil_mine', ['0x2']);
    await set.acceptHead(first, 2, signal);
    await set.refresh();
    await expect.poll(() => set.states()[1]?.state).toBe('failing');
    await set.refresh();
    const at = new Date(now);
    expect(await listSeenNodes(database.db)).toMatchObject([
      { label: 'one', role: 'primary', state: 'up', height: 2, lastError: null, at },
      { label: 'two', role: 'check', state: 'failing', height: 0 },
    ]);
    const [, failing] = await listSeenNodes(database.db);
    expect(failing?.lastError).toBe('two: an answer that is no JSON');
    expect(logged).toEqual(['node is up', 'node is up', 'node is not up']);
    const gauge = await register.getSingleMetricAsString('eps_node_up');
    expect(gauge).toContain('eps_node_up{chain="eth-test",node="one",role="primary"} 1');
    expect(gauge).toContain('eps_node_up{chain="eth-test",node="two",role="check"} 0');

    // Small changes are written every ten seconds.
    await set.acceptHead(first, 3, signal);
    now += 9_999;
    await set.refresh();
    expect((await listSeenNodes(database.db))[0]).toMatchObject({ height: 2, at });
    now += 1;
    await set.refresh();
    expect((await listSeenNodes(database.db))[0]).toMatchObject({ height: 3 });
    // A worker that no longer watches the chain exports nothing about its nodes.
    now += 120_001;
    expect(await register.getSingleMetricAsString('eps_node_up')).not.toContain('eth-test');
    await set.refresh();
    expect(await register.getSingleMetricAsString('eps_node_up')).toContain('eth-test');
    await set.close();
    expect(await register.getSingleMetricAsString('eps_node_up')).not.toContain('eth-test');
  });

  test('continues without a node whose credentials cannot be opened', async () => {
    const first = await addNode(one.url, 'one');
    await addNode(two.url, 'two');
    const other = createKeyring([randomBytes(32)]);
    now += 1;
    await updateNode(database.db, first, {
      access: sealAccess(other, first, { url: one.url, headers: {} }),
      master_key_version: other.currentVersion,
      updated_at: new Date(now),
    });
    await set.refresh();
    await set.refresh();
    expect(await label()).toBe('two');
    expect(logged.filter(line => line === 'node cannot be opened')).toHaveLength(1);
  });

  test('has a check node even if its credentials cannot be opened', async () => {
    await addNode(one.url, 'one');
    const check = await addNode(two.url, 'two', 'check');
    const other = createKeyring([randomBytes(32)]);
    now += 1;
    await updateNode(database.db, check, {
      access: sealAccess(other, check, { url: two.url, headers: {} }),
      master_key_version: other.currentVersion,
      updated_at: new Date(now),
    });
    await set.refresh();
    expect(await reasonOf(set.check(signal))).toContain('can be asked');
  });

  test('stops with its signals', async () => {
    await addNode(one.url, 'one');
    one.misbehave({ kind: 'hanging' });
    const controller = new AbortController();
    const reason = new Error('the tick ends');
    const waiting = set.primary(controller.signal).catch((error: unknown) => error);
    controller.abort(reason);
    expect(await waiting).toBe(reason);
    const second = set.primary(signal).catch((error: unknown) => error);
    await set.close();
    expect(await second).toBeInstanceOf(Error);
  });
});
