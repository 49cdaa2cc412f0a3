import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#crypto/new-id.ts';
import { updateChain } from '#storage/repositories/chains/chains.ts';
import { addFinding } from '#storage/repositories/chains/findings.ts';
import { addNodeCalls } from '#storage/repositories/chains/node-calls.ts';
import { insertNode, saveNodeStates } from '#storage/repositories/chains/nodes.ts';
import { advanceRescan } from '#storage/repositories/chains/rescans.ts';
import { addMerchant } from '../helpers/accounts.ts';
import { nodeRow } from '../helpers/node-row.ts';
import { addPayment } from '../helpers/payments.ts';
import { watchNetworks } from '../helpers/watch-networks.ts';
import { mpHere, type Operated, startOperated } from './mp.ts';

const NODE = newId();
const CHAIN = 'eth';

let service: Operated;
beforeAll(async () => {
  service = await startOperated();
  const { db, clock } = service;
  const now = new Date(clock());
  await insertNode(db, nodeRow(now, { id: NODE, chain: CHAIN, calls_per_day: 100_000 }));
  await saveNodeStates(
    db,
    [{ node: NODE, state: 'failing', height: 1_009, last_error: 'it answered 502' }],
    now,
  );
  await watchNetworks(db, ['eth', 'eth-usdt'], new Date(clock() - 90_000));
  await updateChain(db, CHAIN, {
    head_height: 1_010,
    final_height: 950,
    cursor_height: 1_000,
    cursor_hash: '0xa',
    swept_height: 950,
    expires_until: new Date(clock() - 600_000),
  });
  await sql`
    update chains set lease_holder = 'worker:7', lease_until = now() + interval '1 minute'
    where id = ${CHAIN}`.execute(db);
});
afterAll(() => service.close());

const audit = async (object: string) => {
  const entries = await service.ask<object[]>('audit', '--object', object, '--limit', '1');
  return entries[0];
};

test('status shows how far a network is watched, by whom, and how many payments wait', async () => {
  const { db, clock } = service;
  const { merchant } = await addMerchant(service);
  const at = (seconds: number) => ({
    created_at: new Date(clock() - 3_600_000),
    expires_at: new Date(clock() + seconds * 1_000),
  });
  // Before the time up to which payments may expire, some time ago, recently, and in the future.
  for (const seconds of [-900, -200, -150, -10, 60]) {
    await addPayment(db, merchant, { ...at(seconds), blockchain_id: 'eth' });
  }
  const [status, ...others] = await service.ask<{ lagSeconds: number }[]>(
    ...['network', 'status', 'eth'],
  );
  expect(others).toEqual([]);
  expect(status).toEqual({
    id: 'eth',
    chain: 'eth',
    watched: true,
    halted: null,
    height: 1_010,
    scannedHeight: 1_000,
    finalHeight: 950,
    lagBlocks: 10,
    lagSeconds: expect.any(Number),
    holder: 'worker:7',
    heldPayments: 2,
    nodes: [
      {
        id: NODE,
        label: 'node.example',
        role: 'primary',
        state: 'failing',
        height: 1_009,
        lastError: 'it answered 502',
        callsToday: 0,
        callsPerDayNow: null,
        callsPerDayLimit: 100_000,
        callsLeft: 100_000,
      },
    ],
  });
  expect(status?.lagSeconds).toBeGreaterThanOrEqual(90);
  expect(status?.lagSeconds).toBeLessThan(120);

  const all = await service.ask<{ id: string; heldPayments: number }[]>('network', 'status');
  expect(all).toHaveLength(24);
  const byId = (id: string) => all.find(network => network.id === id);
  expect(byId('eth-usdt')).toMatchObject({ chain: 'eth', watched: true, heldPayments: 0 });
  expect(byId('btc')).toEqual({
    id: 'btc',
    chain: 'btc',
    watched: false,
    halted: null,
    height: null,
    scannedHeight: null,
    finalHeight: null,
    lagBlocks: null,
    lagSeconds: null,
    holder: null,
    heldPayments: 0,
    nodes: [],
  });
  expect(await service.refused('network', 'status', 'etc')).toBe('There is no network etc.');
});

test('status shows the calls per day at the current rate, and how many are left', async () => {
  const { db, clock } = service;
  const now = clock();
  const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000);
  for (const [calls, minutes] of [
    ...([
      [0, 20],
      [100, 15],
      [400, 10],
      [1_000, 0],
    ] as const),
  ]) {
    await addNodeCalls(db, [{ node: NODE, calls }], minutesAgo(minutes));
  }
  const today = await db.selectFrom('node_calls').select('calls').executeTakeFirstOrThrow();
  const [status] = await service.ask<{ nodes: object[] }[]>('network', 'status', 'eth');
  // A thousand calls in the last ten minutes.
  expect(status?.nodes).toMatchObject([
    {
      callsToday: today.calls,
      callsPerDayNow: 144_000,
      callsPerDayLimit: 100_000,
      callsLeft: 100_000 - today.calls,
    },
  ]);
  const { out } = await mpHere(['network', 'status'], service.env);
  const line =
    /^Node node\.example of eth: [\d,]+ calls today, 144,000 a day at this rate; 9\d,\d+ of 100,000 are left\.$/gm;
  expect(out.match(line)).toHaveLength(1);
});

test('a rescan is queued, audited, and shown until it is done', async () => {
  const range = ['--from', '900', '--to', '999'];
  const rescan = await service.ask<{ id: number }>('network', 'rescan', 'eth-usdt', ...range);
  expect(rescan).toMatchObject({
    network: 'eth-usdt',
    from: 900,
    to: 999,
    next: 900,
    askedBy: 'alice',
    doneAt: null,
  });
  expect(await audit('eth-usdt')).toMatchObject({
    action: 'network.rescan',
    actor: 'alice',
    detail: { rescan: rescan.id, from: 900, to: 999 },
  });
  await advanceRescan(service.db, rescan.id, { height: 950, doneAt: null });
  const { out } = await mpHere(['network', 'status'], service.env);
  expect(out).toContain(`Rescan ${rescan.id} of eth-usdt, 900 to 999: 50 of 100 blocks.`);
  const one = await mpHere(['network', 'status', 'eth-usdt'], service.env);
  expect(one.out).toMatch(/rescans:\n.*\n +\d+ +eth-usdt +900 +999 +950 +alice/);
  const other = await mpHere(['network', 'status', 'btc'], service.env);
  expect(other.out).not.toContain('eth-usdt');
});

test.each([
  ['an unknown network', 'etc', [1, 2], 'There is no network etc.'],
  ['a chain without nodes', 'btc', [1, 2], 'btc has no node: nothing is watched there.'],
  ['a range that is none', 'eth', [2, 1], 'Block 1 is below block 2.'],
  ['a range above the head', 'eth', [1_000, 1_011], 'The newest block of eth is 1010.'],
  ['a range too long', 'eth', [0, 100_000], 'These are 100001 blocks'],
])('a rescan is refused of %s', async (_, id, [from, to], message) => {
  const range = ['--from', String(from), '--to', String(to)];
  expect(await service.refused('network', 'rescan', id, ...range)).toContain(message);
});

test('a chain is resumed where it is halted, or from a given block', async () => {
  const { db } = service;
  expect(await service.refused('network', 'resume', 'eth')).toContain('eth is not halted.');
  expect(await service.refused('network', 'resume', 'eth-usdt')).toContain('There is no chain');
  expect(await service.refused('network', 'resume', 'btc', '--from', '1')).toContain('no node');
  expect(await service.refused('network', 'resume', 'eth', '--from', '1011')).toBe(
    'The newest block of eth is 1010.',
  );
  await updateChain(db, CHAIN, { halted: 'no common block' });
  expect(await service.ask('network', 'resume', 'eth')).toMatchObject({
    id: 'eth',
    halted: null,
    scannedHeight: 1_000,
    holder: null,
  });
  expect(await audit('eth')).toMatchObject({
    action: 'network.resume',
    detail: { from: null, halted: 'no common block', cursor: 1_000 },
  });
  expect(await service.ask('network', 'resume', 'eth', '--from', '990')).toMatchObject({
    scannedHeight: 989,
    lagBlocks: 21,
  });
});

test('findings are listed until they are resolved', async () => {
  const { db, clock } = service;
  const id = newId();
  const found = {
    id,
    chain: CHAIN,
    kind: 'disagreement',
    blockchainId: 'eth-usdt',
    transactionHash: '0xabc',
    position: 3,
    address: '0xdef',
    amount: 1_500_000n,
    height: 900,
    detail: 'The check node does not know it.',
  };
  const at = new Date(clock());
  await addFinding(db, found, at);
  const shown = {
    id,
    chain: 'eth',
    kind: 'disagreement',
    network: 'eth-usdt',
    transactionHash: '0xabc',
    position: 3,
    address: '0xdef',
    amount: '1.5',
    height: 900,
    detail: found.detail,
    foundAt: at.toISOString(),
  };
  expect(await service.ask('finding', 'list')).toEqual([shown]);
  expect(await service.ask('finding', 'resolve', id, '--note', 'Ticket 7')).toEqual(shown);
  expect(await audit(id)).toMatchObject({
    action: 'finding.resolve',
    detail: { chain: 'eth', kind: 'disagreement', note: 'Ticket 7' },
  });
  expect(await service.ask('finding', 'list')).toEqual([]);
  expect(await service.refused('finding', 'resolve', id)).toBe(`There is no open finding ${id}.`);
});
