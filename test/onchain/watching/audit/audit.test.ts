import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { removeAddress, setAddress } from '#accounts/deposit-addresses.ts';
import { chainOf } from '#chains/chain-list.ts';
import { type AuditedBlocks, auditNetwork } from '#onchain/watching/audit/audit-network.ts';
import { reconcileDays } from '#onchain/watching/audit/reconciliation.ts';
import { CommandRefused } from '#onchain/watching/operate/command-refused.ts';
import { configureNetwork } from '#onchain/watching/operate/configure-network.ts';
import { addNode } from '#onchain/watching/operate/manage-nodes.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { insertReservation } from '#storage/repositories/deposits/reservations.ts';
import { updateOpenPayment } from '#storage/repositories/payments/moves.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import type { Loop } from '#worker/loop.ts';
import { watchChainLoop } from '#worker/watch-chains.ts';
import { addMerchant, operatorOf } from '../../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../../helpers/app.ts';
import { addPayment } from '../../../helpers/payments.ts';
import { sendTokens, TronNode } from '../../../helpers/tron.ts';

const CHAIN = 'tron-test';
const TOKEN = 'tron-usdt-test';
const CONTRACT = 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf';
const ADDRESS = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8';
const OTHER_ADDRESS = 'TDGmmTC7xDgQGwH4FYRGuE7SFH2MePHYeH';
const HOUR_MS = 60 * 60_000;
/** Blocks that make the one below them solid. */
const SOLID = 19;
const LOG = pino({ level: 'silent' });

let service: TestApp;
let merchant: Merchant;
let tron: TronNode;
let stop: () => Promise<void>;
let loop: Loop;
/** Midnight at the beginning of the day that is audited. */
let midnight = Date.UTC(2026, 4, 18);

beforeAll(async () => {
  service = await startTestApp();
  const { db, clock, keyring } = service;
  clock.now = midnight - HOUR_MS;
  ({ merchant } = await addMerchant(service, { addresses: {} }));
  tron = new TronNode(clock);
  stop = await tron.start();
  const operator = operatorOf(service);
  const tools = { keyring, isProduction: false };
  const settings = { chain: CHAIN, url: tron.url, requestsPerSecond: 1_000 };
  await addNode(operator, tools, { ...settings, label: 'first' });
  await addNode(operator, tools, { ...settings, label: 'second', role: 'check' });
  await configureNetwork({ ...operator, db }, tools, TOKEN, { contract: CONTRACT });
  await setAddress(operator, { merchantId: merchant.id }, TOKEN, ADDRESS);
  // Only one of the chain's two networks is audited.
  await sql`update networks set settled_by = 'simulation' where id = ${CHAIN}`.execute(db);
  loop = watchChainLoop(
    { db, clock, keyring, logger: LOG, isProduction: false, watchIntervalMs: null },
    chainOf(CHAIN),
  );
});
afterAll(async () => {
  await loop.end?.();
  await stop();
  await service.close();
});

/** Each test has a day of its own, on which three transfers were recorded. */
let hashes: string[];
let blocks: { from: number; to: number };

beforeEach(async () => {
  const { db, clock } = service;
  await sql`update findings set resolved_at = ${new Date(clock.now)} where resolved_at is null`.execute(
    db,
  );
  await sql`delete from network_audits`.execute(db);
  tron.answersOnly = null;
  midnight += 24 * HOUR_MS;
  clock.now = midnight - HOUR_MS;
  tron.mine();
  clock.now = midnight + HOUR_MS;
  await waitAt(ADDRESS);
  const from = tron.height + 1;
  hashes = [];
  for (const amount of [1_000n, 2_000n, 3_000n]) hashes.push(send(amount));
  await becomeFinal();
  blocks = { from, to: tron.height };
  clock.now = midnight + 24 * HOUR_MS;
  tron.mine(SOLID + 1);
  await look();
  clock.now = midnight + 27 * HOUR_MS;
});

/** A payment for more than anybody sends, but small enough that nothing sent is dust. */
async function waitAt(address: string): Promise<void> {
  const { db, clock } = service;
  const now = new Date(clock.now);
  const { id } = await addPayment(db, merchant, { created_at: now });
  await sql`update reservations set released_at = ${now} where released_at is null`.execute(db);
  const slot = { blockchainId: TOKEN, address, tokenAmount: 100_000n };
  if (!(await insertReservation(db, id, slot, now))) throw new Error('taken');
}

function send(amount: bigint, to = ADDRESS): string {
  const sent = sendTokens({ contract: CONTRACT, to, amount });
  tron.pool.push(sent);
  tron.mine();
  return sent.id;
}

async function look(): Promise<void> {
  await loop.run(AbortSignal.timeout(15_000), () => undefined);
}

async function becomeFinal(): Promise<void> {
  await look();
  tron.mine(SOLID);
  await look();
}

/** Sets what the chain shows from now on of one of the day's transactions; null hides it. */
function change(hash: string, amount: bigint | null): void {
  const place = tron.blocks.findIndex(({ transactions }) =>
    transactions.some(({ id }) => id === hash),
  );
  const block = tron.blocks[place];
  if (block === undefined) throw new Error(`there is no ${hash}`);
  const transactions = block.transactions.flatMap(each => {
    if (each.id !== hash) return [each];
    return amount === null ? [] : [{ ...each, logs: each.logs.map(log => ({ ...log, amount })) }];
  });
  tron.blocks[place] = { ...block, transactions };
}

const audit = (range: AuditedBlocks = blocks) => {
  const { db, keyring } = service;
  const tools = { keyring, isProduction: false };
  return auditNetwork({ ...operatorOf(service), db }, tools, TOKEN, range);
};
const daily = () => {
  const { db, keyring, clock } = service;
  return reconcileDays(
    { db, keyring, clock, logger: LOG, isProduction: false },
    AbortSignal.timeout(15_000),
  );
};
const findings = () =>
  listOpenFindings(service.db, 100, { chain: CHAIN, kind: 'ledger_difference' });
const audits = () => service.db.selectFrom('network_audits').selectAll().execute();

describe('an audit of a range', () => {
  test('agrees with the ledger, through the check node', async () => {
    const found = await audit();
    expect(found).toEqual({
      blockchainId: TOKEN,
      ...blocks,
      node: 'second',
      role: 'check',
      transfers: 3,
      differences: [],
      corrected: 0,
    });
    const logged = await service.db
      .selectFrom('audit_log')
      .select('detail')
      .where('action', '=', 'network.audit')
      .orderBy('id', 'desc')
      .executeTakeFirst();
    expect(logged?.detail).toMatchObject({ node: 'second', transfers: 3, differences: 0 });
  });

  test('finds what the watcher did not see', async () => {
    tron.hidesLogs = true;
    service.clock.now = midnight + 28 * HOUR_MS;
    const hash = send(4_000n);
    await becomeFinal();
    tron.mine(60);
    await look();
    tron.hidesLogs = false;
    const from = tron.blocks.findIndex(each => each.transactions.some(({ id }) => id === hash));
    const { differences } = await audit({ from, to: from + 1 });
    expect(differences).toMatchObject([
      { kind: 'missing', transactionHash: hash, amount: 4_000n, height: from, address: ADDRESS },
    ]);
    const [finding] = await findings();
    expect(finding).toMatchObject({ transaction_hash: hash, amount: '4000', height: from });
    expect(finding?.detail).toContain(`mp network rescan ${TOKEN} --from ${from} --to ${from}`);
  });

  test('finds another amount or address, and reports each once', async () => {
    const [first = '', second = ''] = hashes;
    change(first, 1_001n);
    await sql`update deposits set state = 'reversed' where transaction_hash = ${second}`.execute(
      service.db,
    );
    const { differences } = await audit();
    expect(differences).toMatchObject([
      { kind: 'differs', transactionHash: first, amount: 1_001n },
      { kind: 'differs', transactionHash: second, amount: 2_000n },
    ]);
    expect(differences.map(({ detail }) => detail)).toEqual([
      expect.stringContaining('in the ledger its amount is 1000.'),
      expect.stringMatching(/in the ledger it is reversed\.$/),
    ]);
    await audit();
    expect(await findings()).toHaveLength(2);
  });

  test('records final transfers that were not credited, as the chain shows them, if asked to', async () => {
    const { db, clock } = service;
    const [first = '', second = ''] = hashes;
    const read = () =>
      db
        .selectFrom('deposits')
        .select(['transaction_hash', 'token_amount', 'outcome', 'payment_id', 'state'])
        .where('transaction_hash', 'in', [first, second])
        .orderBy('token_amount')
        .execute();
    const other = await addPayment(db, merchant, { created_at: new Date(midnight) });
    await sql`update deposits set payment_id = ${other.id} where transaction_hash = ${first}`.execute(
      db,
    );
    const [credited, free] = await read();
    expect(free).toMatchObject({ token_amount: '2000', payment_id: null, state: 'final' });
    const now = new Date(midnight);
    const { id } = await addPayment(db, merchant, {
      created_at: now,
      expires_at: new Date(clock.now + HOUR_MS),
    });
    const slot = { blockchainId: TOKEN, address: ADDRESS, tokenAmount: 2_222n };
    await insertReservation(db, id, slot, now);
    await updateOpenPayment(db, id, {
      blockchain_id: TOKEN,
      address: ADDRESS,
      token_amount: 2_222n,
      token_decimals: 6,
    });
    change(first, 1_111n);
    change(second, 2_222n);
    expect(await audit()).toMatchObject({ corrected: 0 });
    expect((await findings()).map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/its amount is 1000\.$/),
      expect.stringContaining(`mp network audit ${TOKEN} --from`),
    ]);
    expect(await audit({ ...blocks, corrects: true })).toMatchObject({ corrected: 1 });
    expect(await read()).toEqual([
      credited,
      { ...free, token_amount: '2222', outcome: 'exact', payment_id: id },
    ]);
    expect(await findPayment(db, id)).toMatchObject({ status: 'successful' });
    expect(await audit({ ...blocks, corrects: true })).toMatchObject({ corrected: 0 });
  });

  test('finds deposits that are final in the ledger and that the chain does not show', async () => {
    const [first = '', second = ''] = hashes;
    change(first, null);
    const place = tron.blocks.findIndex(each => each.transactions.some(({ id }) => id === second));
    const block = tron.blocks[place];
    const [moved] = block?.transactions ?? [];
    if (block === undefined || moved === undefined) throw new Error('there is no second');
    tron.blocks[place] = { ...block, transactions: [] };
    const next = tron.blocks[place + 5];
    if (next !== undefined) tron.blocks[place + 5] = { ...next, transactions: [moved] };
    const { differences } = await audit();
    expect(differences).toMatchObject([
      // The same transaction in another block than in the ledger.
      { kind: 'differs', transactionHash: second },
      { kind: 'not_on_chain', transactionHash: first },
    ]);
    expect(differences[1]?.detail).toMatch(/second says that its transaction is \w+\.$/);
  });

  test('ignores transfers to an address that is no longer configured', async () => {
    const operator = operatorOf(service);
    const place = { merchantId: merchant.id };
    await removeAddress(operator, place, TOKEN, ADDRESS);
    await waitAt(OTHER_ADDRESS);
    expect(await audit()).toMatchObject({ transfers: 0, differences: [] });
    change(hashes[0] ?? '', null);
    expect((await audit()).differences).toMatchObject([{ kind: 'not_on_chain' }]);
    await setAddress(operator, place, TOKEN, ADDRESS);
  });

  test('ignores transfers to an address at which no payment was open', async () => {
    const operator = operatorOf(service);
    const place = { merchantId: merchant.id };
    await setAddress(operator, place, TOKEN, OTHER_ADDRESS);
    service.clock.now = midnight + 28 * HOUR_MS;
    send(7_000n, OTHER_ADDRESS);
    await becomeFinal();
    const to = tron.height - SOLID;
    expect(await audit({ from: to, to })).toMatchObject({ transfers: 1, differences: [] });
    await removeAddress(operator, place, TOKEN, OTHER_ADDRESS);
  });

  test.each([
    ['an empty range', () => ({ from: 20, to: 19 }), /below block/],
    ['a range that is too long', () => ({ from: 0, to: 100_000_000 }), /at most/],
    ['blocks that are not final', () => ({ from: 1, to: tron.height }), /newest final block/],
  ])('refuses %s', async (_, range, message) => {
    const refused = audit(range());
    await expect(refused).rejects.toBeInstanceOf(CommandRefused);
    await expect(refused).rejects.toThrow(message);
  });

  test('says which node does not answer', async () => {
    tron.answersOnly = { error: { code: -32_000, message: 'overloaded' } };
    await expect(audit()).rejects.toThrow(/^second cannot be asked: /);
    expect(await findings()).toEqual([]);
  });

  test('says so too where its calls cannot be counted', async () => {
    tron.answersOnly = { error: { code: -32_000, message: 'overloaded' } };
    await sql`alter table node_calls rename to node_calls_away`.execute(service.db);
    try {
      await expect(audit()).rejects.toThrow(/^second cannot be asked: /);
    } finally {
      await sql`alter table node_calls_away rename to node_calls`.execute(service.db);
    }
  });
});

describe('the audit of yesterday', () => {
  const day = () => new Date(midnight).toISOString().slice(0, 10);

  test('runs at a quiet hour, once, and covers the whole day', async () => {
    service.clock.now = midnight + 27 * HOUR_MS - 1;
    expect(await daily()).toBe(false);
    expect(await audits()).toEqual([]);
    change(hashes[2] ?? '', 3_001n);
    service.clock.now += 1;
    while (await daily());
    const done = await audits();
    expect(done).toMatchObject([
      { blockchain_id: TOKEN, differences: 1, done_at: new Date(service.clock.now) },
    ]);
    expect(done[0]?.next_height).toBe((done[0]?.to_height ?? 0) + 1);
    // The last block before the next midnight.
    expect(tron.blocks[done[0]?.to_height ?? 0]?.time).toBeLessThan(midnight + 24 * HOUR_MS);
    expect(tron.blocks[done[0]?.next_height ?? 0]?.time).toBeGreaterThanOrEqual(
      midnight + 24 * HOUR_MS,
    );
    expect(await findings()).toMatchObject([{ transaction_hash: hashes[2], amount: '3001' }]);
    service.clock.now += 20 * HOUR_MS;
    expect(await daily()).toBe(false);
  });

  test('two workers share it, and report no difference twice', async () => {
    for (const [index, hash] of hashes.entries()) change(hash, BigInt(5_000 + index));
    const asked = tron.requests;
    await daily();
    const alone = tron.requests - asked;
    await sql`delete from network_audits`.execute(service.db);
    const before = tron.requests;
    await Promise.all([daily(), daily(), daily()]);
    expect(tron.requests - before).toBe(alone);
    expect(await findings()).toHaveLength(3);
    expect(await audits()).toMatchObject([{ differences: 3 }]);
  });

  test('resumes where it stopped, and is taken over from a worker that died', async () => {
    while (await daily());
    await sql`update network_audits set done_at = null, next_height = to_height - 1,
              claimed_until = ${new Date(service.clock.now + 60_000)}`.execute(service.db);
    expect(await daily()).toBe(false);
    service.clock.now += 60_000;
    const asked = tron.asked.length;
    expect(await daily()).toBe(true);
    expect(tron.asked.slice(asked)).not.toContain('/walletsolidity/getnowblock');
    expect((await audits())[0]?.done_at).not.toBeNull();
  });

  test('waits half an hour for a check node that fails or is behind', async () => {
    tron.answersOnly = { error: { code: -32_000, message: 'overloaded' } };
    expect(await daily()).toBe(true);
    expect(await audits()).toMatchObject([{ next_height: null, to_height: null, done_at: null }]);
    expect(await daily()).toBe(false);
    tron.answersOnly = null;
    const newer = tron.blocks.splice(tron.blocks.length - SOLID - 1);
    tron.solid = tron.height;
    service.clock.now += 30 * 60_000;
    expect(await daily()).toBe(true);
    expect(await audits()).toMatchObject([{ next_height: null, done_at: null }]);
    tron.blocks.push(...newer);
    service.clock.now += 30 * 60_000;
    while (await daily());
    const [done] = await audits();
    expect(done).toMatchObject({ differences: 0, done_at: new Date(service.clock.now) });
    expect(String(done?.day)).toContain(day());
  });
});
