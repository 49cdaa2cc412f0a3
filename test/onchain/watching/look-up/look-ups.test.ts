import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionReport } from '#chains/adapter.ts';
import { type Node, NodeFailure } from '#chains/nodes/node.ts';
import { createLookUps, type LookUpsOptions } from '#onchain/watching/look-up/look-ups.ts';
import type { Network } from '#storage/database/network-tables.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import { cloneDatabase, type TestDatabase } from '../../../helpers/database.ts';
import { plainNode } from '../../../helpers/plain-node.ts';

let database: TestDatabase;
let network: Network;
beforeAll(async () => {
  database = await cloneDatabase();
  network = (await findNetwork(database.db, 'eth')) as Network;
});
afterAll(() => database?.drop());

interface Script {
  /** The chain's report on a hash. */
  readonly lookUp?: (hash: string) => Promise<TransactionReport>;
  readonly primary?: (signal: AbortSignal) => Promise<Node>;
  readonly waitMs?: number;
  readonly open?: LookUpsOptions['open'];
}

/** Look-ups of a chain that responds by a script. */
function start({ lookUp = async () => ({ status: 'unknown' }), primary, waitMs, open }: Script) {
  const seen = { asked: [] as string[], opened: 0, closed: 0, logs: [] as unknown[] };
  const clock = { now: Date.UTC(2026, 0, 1) };
  const node = plainNode('http://127.0.0.1:1');
  const lookUps = createLookUps({
    db: database.db,
    clock: () => clock.now,
    logger: { info: (line: unknown) => void seen.logs.push(line) },
    ...(waitMs === undefined ? {} : { waitMs }),
    open:
      open ??
      (() => {
        seen.opened += 1;
        return {
          adapter: {
            lookUp(_node, { transactionHash }) {
              seen.asked.push(transactionHash);
              return lookUp(transactionHash);
            },
          },
          nodes: {
            refresh: () => Promise.resolve(),
            primary: primary ?? (() => Promise.resolve(node)),
            async close() {
              seen.closed += 1;
            },
          },
        };
      }),
  });
  const ask = (transactionHash: string, payment = transactionHash, client = transactionHash) => {
    const question = {
      network,
      transactionHash,
      watch: [],
      cents: 1,
      since: null,
      askedBy: `payment ${payment}`,
      now: new Date(clock.now),
    };
    return lookUps.ask(question, client);
  };
  return { seen, clock, ask, close: () => lookUps.close() };
}

test('an answer is cached for 15 seconds, and concurrent requests share one look-up', async () => {
  const { ask, seen, clock, close } = start({});
  const answers = await Promise.all([ask('0x1'), ask('0x1'), ask('0x2')]);
  expect(answers.map(answer => answer?.verdict)).toEqual(['unknown', 'unknown', 'unknown']);
  clock.now += 14_999;
  await ask('0x1');
  // The order of the two look-ups is not defined.
  expect(seen.asked.toSorted()).toEqual(['0x1', '0x2']);
  expect(seen.opened).toBe(1);
  clock.now += 1;
  await ask('0x1');
  expect(seen.asked.slice(2)).toEqual(['0x1']);
  await close();
  expect(seen.closed).toBe(1);
});

test('nobody waits longer than three seconds, and the next request looks up again', async () => {
  const { ask, seen } = start({ waitMs: 20, lookUp: () => new Promise(() => undefined) });
  expect(await ask('0x1')).toBeNull();
  expect(await ask('0x1')).toBeNull();
  expect(seen.asked).toHaveLength(2);
  expect(seen.logs).toHaveLength(2);
});

test('a node that fails causes no error for the caller', async () => {
  const { ask, seen } = start({ primary: () => Promise.reject(new NodeFailure('eth is gone')) });
  expect(await ask('0x1')).toBeNull();
  expect(seen.logs).toEqual([{ err: new NodeFailure('eth is gone'), chain: 'eth' }]);
});

test('of many concurrent requests, all but a few are rejected', async () => {
  const { promise, resolve } = Promise.withResolvers<TransactionReport>();
  const { ask, seen } = start({ lookUp: () => promise });
  const asked = Array.from({ length: 10 }, (_, index) => ask(`0x${index}`));
  const turnedAway = await Promise.all(asked.slice(4));
  expect(turnedAway).toEqual(Array(6).fill(null));
  resolve({ status: 'unknown' });
  const answers = await Promise.all(asked.slice(0, 4));
  expect(answers.map(answer => answer?.verdict)).toEqual(Array(4).fill('unknown'));
  expect(seen.asked).toHaveLength(4);
  // Rejected requests may be retried at once.
  expect(await ask('0x9')).toMatchObject({ verdict: 'unknown' });
});

test('neither one payment nor one client takes all slots', async () => {
  const { promise, resolve } = Promise.withResolvers<TransactionReport>();
  const { ask, seen } = start({ lookUp: () => promise });
  const hashes = Array.from({ length: 10 }, (_, index) => `0x${index}`);
  const ofPayment = hashes.map(hash => ask(hash, 'one', hash));
  const ofClient = hashes.map(hash => ask(hash, hash, 'one'));
  const others = ask('0xa');
  const turnedAway = [...ofPayment.slice(1), ...ofClient.slice(2)];
  expect(await Promise.all(turnedAway)).toEqual(Array(17).fill(null));
  resolve({ status: 'unknown' });
  expect(await others).toMatchObject({ verdict: 'unknown' });
  await Promise.all([...ofPayment, ...ofClient]);
  expect(seen.asked.toSorted()).toEqual(['0x0', '0x0', '0x1', '0xa']);
  // Their slots are free again.
  expect(await ask('0xb', 'one', 'one')).toMatchObject({ verdict: 'unknown' });
});

test('a chain that this release cannot look up is opened once and never asked', async () => {
  let opened = 0;
  const open = () => {
    opened += 1;
    return null;
  };
  const { ask } = start({ open });
  expect([await ask('0x1'), await ask('0x2')]).toEqual([null, null]);
  expect(opened).toBe(1);
});
