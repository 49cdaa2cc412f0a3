import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import { parseNodeAccess, sealAccess } from '#chains/nodes/node-access.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { newId } from '#crypto/new-id.ts';
import { insertNode } from '#storage/repositories/chains/nodes.ts';
import { createTickPace } from '#worker/tick-pace.ts';
import { watchChainLoop } from '#worker/watch-chains.ts';
import { ANVIL_MISSING, type Anvil, hasAnvil, startAnvil } from '../helpers/anvil.ts';
import { cloneDatabase, type TestDatabase } from '../helpers/database.ts';
import { type Alter, type NodeProxy, startNodeProxy } from '../helpers/node-proxy.ts';

describe.skipIf(!hasAnvil)(hasAnvil ? 'a watched chain' : `chains: ${ANVIL_MISSING}`, () => {
  const chain = chainOf('eth-test');
  const keyring = createKeyring([randomBytes(32)]);
  let database: TestDatabase;
  let anvil: Anvil;
  let proxies: NodeProxy[];
  beforeAll(async () => {
    [database, anvil] = await Promise.all([cloneDatabase(), startAnvil()]);
    proxies = await Promise.all([startNodeProxy(anvil.url), startNodeProxy(anvil.url)]);
  });
  afterAll(async () => {
    await Promise.all([...proxies.map(proxy => proxy.stop()), database.drop()]);
    await anvil.stop();
  });

  test('is looked at again at once with the next node, otherwise after a second', async () => {
    let now = Date.now();
    for (const [position, { url }] of proxies.entries()) {
      const id = newId();
      const at = new Date(now);
      await insertNode(database.db, {
        id,
        chain: chain.id,
        role: 'primary',
        label: `node ${position}`,
        position,
        requests_per_second: 1000,
        access: sealAccess(keyring, id, parseNodeAccess(url, [])),
        master_key_version: keyring.currentVersion,
        abilities: { trace: null, logRange: null, batch: 20, archive: false, pruneHeight: null },
        verified_at: at,
        created_at: at,
        updated_at: at,
      });
    }
    const loop = watchChainLoop(
      {
        db: database.db,
        keyring,
        clock: () => now,
        logger: pino({ level: 'silent' }),
        isProduction: false,
        watchIntervalMs: null,
      },
      chain,
    );
    const run = async () => {
      await loop.run(new AbortController().signal, () => undefined);
      // Nodes that are not in use are asked for their height.
      return proxies.map(({ calls }) =>
        calls.splice(0).some(({ params }) => params[0] === 'finalized'),
      );
    };
    expect(loop.intervalMs).toBe(chain.pauseMs);
    const wrong: Alter = (method, _, result) => (method === 'eth_getBlockByNumber' ? [] : result);
    proxies[0]?.alter(wrong);
    expect(await run()).toEqual([true, false]);
    expect(loop.intervalMs).toBe(0);
    expect(await run()).toEqual([false, true]);
    expect(loop.intervalMs).toBe(chain.pauseMs);

    for (const proxy of proxies) proxy.alter(wrong);
    now += 60_000;
    expect(await run()).toEqual([true, false]);
    expect(await run()).toEqual([false, true]);
    expect(loop.intervalMs).toBe(1_000);
    await loop.end?.();
  });
});

test('a tick whose node failed is repeated as soon as a node is available', () => {
  let remaining = 0;
  const pace = createTickPace(6_000, { pausedFor: () => remaining });
  expect(pace.pauseMs).toBe(6_000);
  pace.failed();
  expect(pace.pauseMs).toBe(0);
  // No faster when every node fails.
  pace.failed();
  expect(pace.pauseMs).toBe(1_000);
  remaining = 3_500;
  expect(pace.pauseMs).toBe(3_500);
  remaining = 60_000;
  expect(pace.pauseMs).toBe(6_000);
  pace.succeeded();
  expect(pace.pauseMs).toBe(6_000);
});
