import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dismissDeposit } from '#onchain/settlement/inbox.ts';
import { observeAll } from '#onchain/settlement/observe-all.ts';
import { correctFinal, observeIn, observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import type { ObservedTransfer } from '#onchain/settlement/observed-transfer.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import { transact } from '#storage/database/transaction.ts';
import { addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPaymentAt } from '../../helpers/open-payment.ts';
import { stateOfPayment } from '../../helpers/payments.ts';

const NETWORK = 'eth-usdc';

let service: TestApp;
let merchant: Merchant;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service));
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);

async function ask(address: string, tokenAmount: bigint): Promise<string> {
  const slot = { blockchainId: NETWORK, address, tokenAmount };
  const { id } = await addPaymentAt(service, merchant, slot, { token_decimals: 6 });
  service.clock.now += 1_000;
  return id;
}

function transfer(
  transactionHash: string,
  address: string,
  tokenAmount: bigint,
  finality: 'seen' | 'final',
): ObservedTransfer {
  return {
    blockchainId: NETWORK,
    transactionHash,
    position: 0,
    address,
    tokenAmount,
    finality,
    blockHeight: 1,
    blockHash: 'one',
    occurredAt: now(),
    source: 'chain',
  };
}

const depositsAt = (address: string) =>
  service.db
    .selectFrom('deposits')
    .selectAll()
    .where('address', '=', address)
    .orderBy('transaction_hash')
    .execute();

const statusOf = (id: string) => stateOfPayment(service.db, id);

test('a duplicate takes the payment of a deposit that is corrected in the same batch', async () => {
  const { db } = service;
  const id = await ask('A', 10_000_000n);
  await observeTransfer(db, transfer('a1', 'A', 10_000_000n, 'seen'), now());
  await observeTransfer(db, transfer('a2', 'A', 10_000_000n, 'seen'), now());
  const corrected = transfer('a1', 'A', 5_000_000n, 'seen');
  const chunk = [
    { ...corrected, isCorrection: true } as const,
    transfer('a2', 'A', 10_000_000n, 'final'),
  ];
  await transact(db, tx => observeAll(tx, chunk, now()));
  expect(await statusOf(id)).toBe('successful/completed');
  expect(await depositsAt('A')).toMatchObject([
    { token_amount: '5000000', state: 'seen' },
    { token_amount: '10000000', state: 'final', payment_id: id },
  ]);
});

test.each(['seen', 'final'] as const)(
  'a deposit that was dismissed while %s pays nothing once it is corrected',
  async finality => {
    const { db } = service;
    const address = `dismissed ${finality}`;
    const id = await ask(address, 7_000_000n);
    const { id: deposit } = await observeTransfer(
      db,
      transfer(finality, address, 9_000_000n, finality),
      now(),
    );
    await dismissDeposit(operatorOf(service), deposit, {
      remedy: 'returned',
      to: 'whoever sent it',
      hash: '0x01',
    });
    const told = {
      ...transfer(finality, address, 7_000_000n, finality),
      isCorrection: true,
    } as const;
    await (finality === 'final'
      ? transact(db, tx => correctFinal(tx, told, now(), 'operator'))
      : observeTransfer(db, told, now()));
    expect(await statusOf(id)).toBe('pending/pending');
    expect(await depositsAt(address)).toMatchObject([
      { token_amount: '7000000', payment_id: null, dismissed_at: expect.any(Date) },
    ]);
  },
);

test('a final deposit that only moves to another block keeps its outcome', async () => {
  const { db } = service;
  await observeTransfer(db, transfer('b1', 'B', 7_000_000n, 'final'), now());
  const id = await ask('B', 7_000_000n);
  const events = sql<{ count: number }>`select count(*)::int as count from events`;
  const before = await events.execute(db);
  const told = { ...transfer('b1', 'B', 7_000_000n, 'final'), blockHash: 'two' };
  await transact(db, tx => correctFinal(tx, told, now(), 'operator'));
  expect(await depositsAt('B')).toMatchObject([{ block_hash: 'two', payment_id: null }]);
  expect(await statusOf(id)).toBe('pending/pending');
  expect((await events.execute(db)).rows).toEqual(before.rows);
});

test('a single reading with another amount takes nothing from a payment', async () => {
  const { db } = service;
  const id = await ask('C', 3_000_000n);
  await observeTransfer(db, transfer('c1', 'C', 3_000_000n, 'seen'), now());
  await observeTransfer(db, transfer('c1', 'C', 4_000_000n, 'seen'), now());
  expect(await statusOf(id)).toBe('pending/completed');
  expect(await depositsAt('C')).toMatchObject([
    { token_amount: '3000000', payment_id: id, block_hash: null, state: 'seen' },
  ]);
});

const waitingForLocks = async () =>
  (
    await sql`
      select from pg_locks join pg_database on pg_database.oid = pg_locks.database
      where locktype = 'advisory' and not granted and datname = current_database()`.execute(
      service.db,
    )
  ).rows.length;

type Correct = (tx: Connection, told: ObservedTransfer) => Promise<unknown>;

test.each<[string, 'seen' | 'final', Correct]>([
  ['one by one', 'seen', (tx, told) => observeIn(tx, told, now())],
  ['with others', 'seen', (tx, told) => observeAll(tx, [told], now())],
  ['when it is final', 'final', (tx, told) => correctFinal(tx, told, now(), 'operator')],
])(
  'a deposit that was at another address is corrected %s without a deadlock',
  async (how, finality, correct) => {
    const { db } = service;
    const [first, second] = [`P ${how}`, `Q ${how}`];
    await observeTransfer(db, transfer(how, first, 4_000_000n, finality), now());
    const told = { ...transfer(how, second, 4_000_000n, finality), isCorrection: true } as const;
    let correcting: Promise<unknown> = Promise.resolve();
    await transact(db, async tx => {
      await observeIn(tx, transfer(`${how} 1`, first, 1_000_000n, 'seen'), now());
      correcting = transact(db, each => correct(each, told));
      await expect.poll(waitingForLocks).toBe(1);
      await observeIn(tx, transfer(`${how} 2`, second, 2_000_000n, 'seen'), now());
    });
    await correcting;
    expect(await depositsAt(second)).toMatchObject([{ transaction_hash: how }, {}]);
  },
);

test('a batch with a reversed transfer locks addresses in the same order as any other', async () => {
  const { db } = service;
  await observeTransfer(db, transfer('y1', 'Y', 4_000_000n, 'seen'), now());
  const undone = { ...transfer('y1', 'Y', 4_000_000n, 'seen'), finality: 'reversed' } as const;
  let undoing: Promise<unknown> = Promise.resolve();
  await transact(db, async tx => {
    await observeIn(tx, transfer('x2', 'X', 1_000_000n, 'seen'), now());
    const both = [undone, transfer('x1', 'X', 3_000_000n, 'seen')];
    undoing = transact(db, each => observeAll(each, both, now()));
    await expect.poll(waitingForLocks).toBe(1);
    await observeIn(tx, transfer('y2', 'Y', 2_000_000n, 'seen'), now());
  });
  await undoing;
  expect(await depositsAt('Y')).toMatchObject([{ state: 'reversed' }, { state: 'seen' }]);
});
