import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listChains } from '#chains/chain-list.ts';
import { newId } from '#crypto/new-id.ts';
import { updateChain } from '#storage/repositories/chains/chains.ts';
import { addFinding } from '#storage/repositories/chains/findings.ts';
import { addNodeCalls } from '#storage/repositories/chains/node-calls.ts';
import { deleteNode, insertNode, updateNode } from '#storage/repositories/chains/nodes.ts';
import { insertDeposit } from '#storage/repositories/deposits/deposits.ts';
import { registerChainGauges } from '#telemetry/chain-gauges.ts';
import { ADDRESSES, addMerchant } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { nodeRow } from '../helpers/node-row.ts';
import { addPayment } from '../helpers/payments.ts';
import { watchNetworks } from '../helpers/watch-networks.ts';
import { parseExposition } from './exposition.ts';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

const ago = (seconds: number) => new Date(service.clock() - seconds * 1_000);

/** Each sample of the gauges as `name{labels}`, freshly read. */
async function read(): Promise<Record<string, number>> {
  const { db, clock } = service;
  const registry = new Registry();
  const onError = (error: unknown) => {
    throw error;
  };
  registerChainGauges(registry, { db, clock, chains: listChains(), onError });
  const metrics = parseExposition(await registry.metrics());
  const samples = [...metrics.values()].flatMap(metric => metric.samples);
  return Object.fromEntries(
    samples.map(({ name, labels, value }) => [
      [name.replace('eps_', ''), ...Object.values(labels)].join(' '),
      value,
    ]),
  );
}

function addNode(chain: string, seconds: number) {
  return insertNode(service.db, nodeRow(ago(seconds), { chain }));
}

function addSeen(seconds: number, state: 'seen' | 'final', source: 'chain' | 'simulation') {
  const at = ago(seconds);
  return insertDeposit(service.db, {
    id: newId(),
    blockchain_id: 'eth-usdt',
    transaction_hash: newId(),
    position: 0,
    address: ADDRESSES.eth,
    token_amount: 1n,
    block_height: 1,
    state,
    source,
    outcome: 'unknown',
    observed_at: at,
    updated_at: at,
  });
}

test('chains without nodes have no series', async () => {
  expect(await read()).toEqual({});
});

test('nodes report the cost of their calls, and its limit', async () => {
  const { db } = service;
  const { id } = await addNode('avax', 100);
  const before = service.clock.now;
  const noon = Date.UTC(2026, 4, 17, 12);
  service.clock.now = noon;
  await updateNode(db, id, { calls_per_day: 5_000 });
  for (const [calls, seconds] of [
    ...([
      [0, 600],
      [10, 0],
    ] as const),
  ]) {
    await addNodeCalls(db, [{ node: id, calls }], ago(seconds));
  }
  const ofNodes = async () =>
    Object.entries(await read()).filter(([name]) => name.startsWith('node_calls'));
  expect(await ofNodes()).toEqual([
    ['node_calls_today avax node.example', 10],
    ['node_calls_per_day avax node.example', 1_440],
    ['node_calls_expected avax node.example', 730],
    ['node_calls_limit avax node.example', 5_000],
  ]);
  // Nothing was counted since, so there is no current rate, and the next day has its own calls.
  service.clock.now = noon + 12 * 3_600_000;
  await updateNode(db, id, { calls_per_day: null });
  expect(await ofNodes()).toEqual([
    ['node_calls_today avax node.example', 0],
    ['node_calls_expected avax node.example', 0],
  ]);
  await deleteNode(db, id);
  expect(await ofNodes()).toEqual([]);
  service.clock.now = before;
});

test('chains with nodes report how far they are watched, and what waits for that', async () => {
  const { db } = service;
  const { merchant } = await addMerchant(service);
  await addNode('eth', 5_000);
  await addNode('btc', 70);
  await watchNetworks(db, ['eth', 'eth-usdt'], ago(40));
  await updateChain(db, 'eth', {
    head_height: 110,
    final_height: 90,
    cursor_height: 105,
    cursor_hash: '0xa',
    halted: 'no common block',
    expires_until: ago(600),
  });
  // Before the time up to which payments may expire, since then on two of its networks, recently, and in the future.
  for (const [blockchain_id, seconds] of [
    ...([
      ['eth', 900],
      ['eth', 200],
      ['eth-usdt', 150],
      ['eth', 60],
      ['eth', -60],
      ['btc-test', 200],
    ] as const),
  ]) {
    const times = { created_at: ago(7_200), expires_at: ago(seconds) };
    await addPayment(db, merchant, { ...times, blockchain_id });
  }
  await addSeen(300, 'seen', 'chain');
  await addSeen(900, 'final', 'chain');
  await addSeen(900, 'seen', 'simulation');
  for (const height of [1, 2]) {
    const finding = { id: newId(), chain: 'eth', kind: 'disagreement', height, detail: 'why' };
    await addFinding(db, finding, ago(1));
  }

  expect(await read()).toEqual({
    'chain_height eth': 110,
    'chain_scanned_height eth': 105,
    'chain_final_height eth': 90,
    'chain_lag_seconds eth': 40,
    'chain_lag_limit_seconds eth': 180,
    'chain_halted eth': 1,
    'chain_payments_held eth': 2,
    'chain_deposits_seen_oldest_seconds eth': 300,
    'chain_usual_finality_seconds eth': 900,
    // Never watched yet, so its lag starts when it got a node.
    'chain_lag_seconds btc': 70,
    'chain_lag_limit_seconds btc': 120,
    'chain_halted btc': 0,
    'chain_payments_held btc': 0,
    'chain_deposits_seen_oldest_seconds btc': 0,
    'chain_usual_finality_seconds btc': 3_600,
    'findings_open eth disagreement': 2,
    'node_calls_today eth node.example': 0,
    'node_calls_expected eth node.example': 0,
    'node_calls_today btc node.example': 0,
    'node_calls_expected btc node.example': 0,
  });
});
