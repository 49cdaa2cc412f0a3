import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { NodeFailure } from '#chains/nodes/node.ts';
import { sealAccess } from '#chains/nodes/node-access.ts';
import type { NodeSet } from '#chains/nodes/node-set.ts';
import { openNodeSet } from '#chains/nodes/open-node-set.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { newId } from '#crypto/new-id.ts';
import { insertNode } from '#storage/repositories/chains/nodes.ts';
import { createTickPace } from '#worker/tick-pace.ts';
import { cloneDatabase, type TestDatabase } from '../../helpers/database.ts';
import { createRandom, type Random } from '../../onchain/settlement/truth/random.ts';

/** The pause between two ticks of chains with fast blocks, in milliseconds. */
const INTERVAL_MS = 3_000;
/** Duration of a request, in milliseconds. */
const REQUEST_MS = 50;
const BLOCK_MS = 400;
const HOURS = 0.5;
const HOUR_MS = 60 * 60_000;
const SECOND_MS = 1_000;
const REST_SECONDS = 40;

type Answer = {
  readonly status?: number;
  readonly headers?: Record<string, number>;
  readonly body: string;
} | null;
const HTML: Answer = { body: '<!doctype html><h1>Bad Gateway</h1>' };
const TOO_MANY: Answer = { status: 429, headers: { 'retry-after': REST_SECONDS }, body: '' };

interface Played {
  /** 95th percentile of the age of the last complete scan, sampled every second, in seconds. */
  readonly lag: number;
  /** Share of ticks that called a node. */
  readonly asked: number;
  /** Pauses after failed ticks, in milliseconds. */
  readonly pauses: readonly number[];
}

describe('a watcher whose node responds badly', () => {
  const keyring = createKeyring([randomBytes(32)]);
  const { signal } = new AbortController();
  let database: TestDatabase;
  let servers: Server[];
  let now: number;
  let random: Random;
  let set: NodeSet;
  /** How a node responds to a request; null for a good response. */
  let answer: (node: number, method: string) => Answer = () => null;
  let requests: number[] = [];

  beforeAll(async () => {
    database = await cloneDatabase();
    servers = [0, 1].map(node =>
      createServer(async (request, response) => {
        let text = '';
        for await (const part of request) text += part;
        now += REQUEST_MS;
        requests[node] = (requests[node] ?? 0) + 1;
        const { id, method } = JSON.parse(text);
        const bad = answer(node, method);
        const body = bad?.body ?? JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' });
        response.writeHead(bad?.status ?? 200, bad?.headers).end(body);
      }).listen(0, '127.0.0.1'),
    );
    await Promise.all(servers.map(server => once(server, 'listening')));
  });
  afterAll(async () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
    await database.drop();
  });
  beforeEach(() => {
    now = Date.UTC(2026, 4, 17);
    random = createRandom('bad answers', 7);
    vi.spyOn(Math, 'random').mockImplementation(() => random.below(1_000_000) / 1_000_000);
    // The rate limit uses this clock.
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    requests = [0, 0];
    answer = () => null;
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await set.close();
    await database.db.deleteFrom('nodes').execute();
  });

  async function open(count: number): Promise<void> {
    set = openNodeSet({
      db: database.db,
      chain: 'bnb',
      staleHeadMs: 30_000,
      blockMs: BLOCK_MS,
      keyring,
      clock: () => now,
      logger: { error: () => undefined, warn: () => undefined, info: () => undefined },
      verify: async node => void (await node.call('eth_chainId', [])),
      async wait(milliseconds) {
        now += Math.ceil(milliseconds);
      },
    });
    for (const [position, server] of servers.slice(0, count).entries()) {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const id = newId();
      await insertNode(database.db, {
        id,
        chain: 'bnb',
        role: 'primary',
        label: `node ${position}`,
        position,
        requests_per_second: 1_000,
        access: sealAccess(keyring, id, { url, headers: {} }),
        master_key_version: keyring.currentVersion,
        abilities: { trace: null, logRange: null, batch: 20, archive: false, pruneHeight: null },
        verified_at: new Date(now),
        created_at: new Date(now),
        updated_at: new Date(now),
      });
    }
    await set.refresh();
  }

  /**
   * Plays the ticks of an hour: each requests the heads, and then the contents of blocks.
   * @param isWrong Whether the node's responses in a tick contradict each other.
   */
  async function play(isWrong: (label: string) => boolean = () => false): Promise<Played> {
    const end = now + HOURS * HOUR_MS;
    const pace = createTickPace(INTERVAL_MS, set);
    const lags: number[] = [];
    const pauses: number[] = [];
    let readUntil = now;
    let [ticks, asked] = [0, 0];

    async function tick(): Promise<void> {
      const node = await set.primary(signal);
      asked += 1;
      try {
        await node.call('eth_blockNumber', []);
        await set.acceptHead(node.id, Math.floor(now / BLOCK_MS), signal);
        await node.call('eth_getLogs', []);
        if (isWrong(node.label)) throw new NodeFailure(`${node.label}: a log came unasked`);
        set.reportSuccess(node.id);
      } catch (error) {
        if (error instanceof NodeFailure) set.reportFailure(node.id, error);
        throw error;
      }
    }

    while (now < end) {
      ticks += 1;
      const started = now;
      try {
        await tick();
        for (let at = readUntil + SECOND_MS; at <= now; at += SECOND_MS) lags.push(at - readUntil);
        readUntil = started;
        pace.succeeded();
      } catch (error) {
        if (!(error instanceof NodeFailure)) throw error;
        pace.failed();
        pauses.push(pace.pauseMs);
      }
      now += pace.pauseMs;
    }
    lags.sort((one, other) => one - other);
    const lag = (lags[Math.floor(lags.length * 0.95)] ?? Number.POSITIVE_INFINITY) / SECOND_MS;
    return { lag, asked: asked / ticks, pauses };
  }

  test.each([
    { percent: 5, goal: 10 },
    { percent: 30, goal: 30 },
  ])(
    'in $percent % of its ticks lags at most $goal s, 95 % of the time',
    async ({ percent, goal }) => {
      await open(1);
      const wrong = await play(() => random.chance(percent));
      expect(wrong.lag).toBeLessThanOrEqual(goal);
      expect(wrong.asked).toBeGreaterThan(0.95);
      // Each tick has one request for logs.
      answer = (_, method) => (method === 'eth_getLogs' && random.chance(percent) ? HTML : null);
      const unusable = await play();
      expect(unusable.lag).toBeLessThanOrEqual(goal);
      expect(unusable.asked).toBeGreaterThan(0.95);
    },
    60_000,
  );

  test('asks the next node at once', async () => {
    await open(2);
    const { lag, asked, pauses } = await play(label => label === 'node 0' && random.chance(30));
    expect(lag).toBeLessThanOrEqual(4);
    expect(asked).toBe(1);
    expect(pauses.length).toBeGreaterThan(HOURS * 250);
    expect(new Set(pauses)).toEqual(new Set([0]));
  }, 60_000);

  test('does not hammer a node that is dead, or wrong each time', async () => {
    await open(1);
    answer = () => HTML;
    await play();
    // Once a minute, and a little sooner: pauses vary by up to a quarter.
    expect(requests[0]).toBeLessThan(HOURS * 60 * 1.4);
    answer = () => null;
    requests = [0, 0];
    await play(() => true);
    // Each attempt verifies the node, and makes two more requests.
    expect(requests[0]).toBeLessThan(HOURS * 60 * 1.4 * 3);
  }, 60_000);

  test('pauses for as long as the node asks', async () => {
    await open(1);
    let deniedAt = Number.NEGATIVE_INFINITY;
    let early = 0;
    answer = () => {
      if (now - deniedAt < REST_SECONDS * SECOND_MS) early += 1;
      if (!random.chance(5)) return null;
      deniedAt = now;
      return TOO_MANY;
    };
    const { lag } = await play();
    expect(lag).toBeGreaterThan(REST_SECONDS);
    expect(early).toBe(0);
  }, 60_000);
});
