import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionReport } from '#chains/adapter.ts';
import { recordResponses } from '#chains/nodes/record-responses.ts';
import { keepEvidence } from '#onchain/watching/loop/keep-evidence.ts';
import type { LookedUp } from '#onchain/watching/loop/look-up-deposits.ts';
import type { Watcher } from '#onchain/watching/watcher.ts';
import { listResponses } from '#storage/repositories/deposits/evidence.ts';
import { cloneDatabase, type TestDatabase } from '../../../helpers/database.ts';
import { plainNode } from '../../../helpers/plain-node.ts';

let database: TestDatabase;
let watcher: Pick<Watcher, 'clock' | 'lease'>;

beforeAll(async () => {
  database = await cloneDatabase();
  const lease = { writeBeside: (work: (tx: typeof database.db) => unknown) => work(database.db) };
  watcher = { clock: () => 0, lease } as unknown as typeof watcher;
});
afterAll(() => database.drop());

const deposit = (blockchainId: string, hash: string) => ({
  blockchain_id: blockchainId,
  transaction_hash: hash,
});
const included = { status: 'included', block: { hash: '0xb' } } as TransactionReport;
const final = (...deposits: ReturnType<typeof deposit>[]) =>
  deposits.map(each => ({ deposit: each, report: included })) as unknown as LookedUp[];

/** Records the responses of a node to one call per hash, each of this size in characters. */
async function answered(hashes: readonly string[], size: number) {
  const node = { ...plainNode('http://127.0.0.1:1'), call: async () => 'x'.repeat(size) };
  const recorded = recordResponses(node);
  for (const hash of hashes) await recorded.node.call('receipt', [hash]);
  return recorded;
}

async function keep(recorded: ReturnType<typeof recordResponses>, placed: LookedUp[]) {
  await keepEvidence(watcher as Watcher, recorded, placed);
  const rows = await listResponses(
    database.db,
    placed.map(each => each.deposit),
  );
  return rows.map(row => ({ ...row, answers: JSON.parse(row.answers) }));
}

test('a payout to many addresses is stored once, with the responses about its transaction only', async () => {
  const recorded = await answered(['0x1', '0x2'], 10);
  const many = Array.from({ length: 50 }, () => deposit('eth-usdc', '0x1'));
  const rows = await keep(recorded, final(...many, deposit('eth-usdt', '0x1')));
  expect(rows.map(row => row.blockchain_id).sort()).toEqual(['eth-usdc', 'eth-usdt']);
  for (const { answers } of rows) {
    expect(answers).toEqual([{ method: 'receipt', result: 'x'.repeat(10) }]);
  }
});

test('responses that are too long are left out, which is noted', async () => {
  const [row] = await keep(await answered(['0x3'], 70_000), final(deposit('eth', '0x3')));
  expect(row?.answers).toEqual([{ method: 'receipt', omitted: '70002 characters' }]);
});

test('a later look replaces what was stored', async () => {
  await keep(await answered(['0x4'], 1), final(deposit('eth', '0x4')));
  const rows = await keep(await answered(['0x4'], 2), final(deposit('eth', '0x4')));
  expect(rows).toMatchObject([{ answers: [{ result: 'xx' }] }]);
});
