import { type ControlledTransaction, sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { observeIn } from '#onchain/settlement/observe-transfer.ts';
import { newDeposit, type ObservedTransfer } from '#onchain/settlement/observed-transfer.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { movePayment } from '#payments/move-payment.ts';
import type { Merchant, MerchantEnvironment } from '#storage/database/account-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { Tables } from '#storage/database/tables.ts';
import { insertDeposit } from '#storage/repositories/deposits/deposits.ts';
import { allowSimulation, forbidSimulation } from '#storage/repositories/simulated-services.ts';
import { ADDRESSES, addMerchant } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPayment, stateOfPayment } from '../helpers/payments.ts';

/** Simulation, while another process changes what decides on it. */

type Transaction = ControlledTransaction<Tables>;

const REFUSED = 'are not simulated';
const UNPAID = 'pending/pending';
const PAID = 'successful/completed';

let service: TestApp;
let merchants: Record<MerchantEnvironment, Merchant>;
beforeAll(async () => {
  service = await startTestApp();
  const add = async (environment: MerchantEnvironment) => {
    const addresses = { 'eth-test': ADDRESSES['eth-test'] };
    return (await addMerchant(service, { environment, addresses })).merchant;
  };
  merchants = { test: await add('test'), live: await add('live') };
});
afterAll(() => service.close());
beforeEach(() => forbidSimulation(service.db));

const now = () => new Date(service.clock.now);
const begin = (): Promise<Transaction> => service.db.startTransaction().execute();

/** A payment that waits for its transfer. */
async function addWaiting(environment: MerchantEnvironment): Promise<Payment> {
  const payment = await addPayment(service.db, merchants[environment], {
    created_at: now(),
    offered_blockchain_ids: ['eth-test'],
  });
  const choice = { payment, blockchainId: 'eth-test', offering: 'simulated' } as const;
  return selectNetwork(service.db, service.rates, choice, now());
}

function transferTo({ id, address, token_amount: amount }: Payment): ObservedTransfer {
  return {
    blockchainId: 'eth-test',
    transactionHash: `0x${id}`,
    position: 0,
    address: address ?? '',
    tokenAmount: BigInt(amount ?? 0),
    blockHeight: 1,
    blockHash: null,
    occurredAt: now(),
    source: 'simulation',
    finality: 'final',
  };
}

/** What happens to an open transaction, in order; it is committed unless a statement failed. */
interface Course {
  readonly steps: readonly ((tx: Transaction) => Promise<unknown>)[];
}

/** Every order in which two courses of some lengths can take their steps: 'ab', for example, and 'ba'. */
function interleavings(a: number, b: number): string[] {
  if (a === 0 && b === 0) return [''];
  return [
    ...(a === 0 ? [] : interleavings(a - 1, b).map(rest => `a${rest}`)),
    ...(b === 0 ? [] : interleavings(a, b - 1).map(rest => `b${rest}`)),
  ];
}

/** Runs two courses on two connections. @returns For each the error that ended it, or null. */
async function interleave(order: string, a: Course, b: Course): Promise<(string | null)[]> {
  const run = ({ steps }: Course) => {
    let tx: Transaction | undefined;
    let failure: string | null = null;
    const all = [
      async () => {
        tx = await begin();
      },
      ...steps.map(step => async () => {
        if (tx !== undefined && failure === null) await step(tx);
      }),
      async () => void (await (failure === null ? tx?.commit() : tx?.rollback())?.execute()),
    ];
    let at = 0;
    const next = async () => {
      await all[at++]?.().catch((error: Error) => {
        failure = error.message;
      });
    };
    return { next, failure: () => failure };
  };
  const running = { a: run(a), b: run(b) };
  for (const each of order) await running[each as 'a' | 'b'].next();
  return [running.a.failure(), running.b.failure()];
}

const changeTo = (environment: MerchantEnvironment, { id }: Merchant): Course => ({
  steps: [tx => tx.updateTable('merchants').set({ environment }).where('id', '=', id).execute()],
});

describe('while a process changes what a merchant is, which is refused whatever the order', () => {
  const orders = interleavings(3, 3);

  test.each(orders)('%s: its payment is simulated if it is a test merchant’s', async order => {
    for (const [is, becomes, expected] of [
      ['test', 'live', PAID],
      ['live', 'test', UNPAID],
    ] as const) {
      const payment = await addWaiting(is);
      const course = { steps: [(tx: Transaction) => observeIn(tx, transferTo(payment), now())] };
      const [simulated, changed] = await interleave(
        order,
        course,
        changeTo(becomes, merchants[is]),
      );
      expect(changed).toContain('never changes');
      if (is === 'test') expect(simulated).toBe(null);
      else expect(simulated).toContain(REFUSED);
      expect(await stateOfPayment(service.db, payment.id)).toBe(expected);
    }
  });

  test.each(orders)('%s: its first payment is created', async order => {
    const { merchant } = await addMerchant(service, { environment: 'test', addresses: {} });
    const create = (tx: Transaction) => addPayment(tx, merchant, { created_at: now() });
    const results = await interleave(order, { steps: [create] }, changeTo('live', merchant));
    expect(results).toEqual([null, expect.stringContaining('never changes')]);
  });
});

describe('while a service in production forbids what another does', () => {
  beforeEach(() => allowSimulation(service.db, now()));

  test('it waits for a simulation under way, after which there is none', async () => {
    const payment = await addWaiting('live');
    const simulating = await begin();
    await observeIn(simulating, transferTo(payment), now());
    const forbidding = forbidSimulation(service.db);
    await untilWaiting().finally(() => simulating.commit().execute());
    await forbidding;
    expect(await stateOfPayment(service.db, payment.id)).toBe(PAID);
    const next = transferTo(await addWaiting('live'));
    await expect(observeOnce(next)).rejects.toThrow(REFUSED);
  });

  test('a simulation waits for it, and is refused', async () => {
    const payment = await addWaiting('live');
    const forbidding = await begin();
    await forbidSimulation(forbidding);
    const simulating = observeOnce(transferTo(payment)).catch((error: Error) => error.message);
    await untilWaiting().finally(() => forbidding.commit().execute());
    expect(await simulating).toContain(REFUSED);
    expect(await stateOfPayment(service.db, payment.id)).toBe(UNPAID);
  });

  test('what was simulated and not final yet cannot become so, but may be undone', async () => {
    const payment = await addWaiting('live');
    await observeOnce({ ...transferTo(payment), finality: 'seen' });
    await forbidSimulation(service.db);
    for (const finality of ['final', 'failed'] as const) {
      await expect(observeOnce({ ...transferTo(payment), finality })).rejects.toThrow(REFUSED);
    }
    await observeOnce({ ...transferTo(payment), finality: 'reversed' });
    expect(await stateOfPayment(service.db, payment.id)).toBe(UNPAID);
  });

  test('what the sandbox began is neither paid nor failed', async () => {
    const { merchant } = await addMerchant(service, { kind: 'us', addresses: {} });
    const created_at = now();
    const { id } = await addPayment(service.db, merchant, { created_at, processor: 'sandbox' });
    await forbidSimulation(service.db);
    const moved = (columns: { status: 'pending' | 'successful' | 'unsuccessful' }) =>
      service.db
        .updateTable('payments')
        .set({ ...columns, session_status: 'completed' })
        .where('id', '=', id)
        .execute();
    for (const status of ['pending', 'successful', 'unsuccessful'] as const) {
      await expect(moved({ status })).rejects.toThrow(REFUSED);
    }
    await movePaymentTo(id, 'worker');
    expect(await stateOfPayment(service.db, id)).toBe('expired/expired');
  });

  async function untilWaiting(): Promise<void> {
    const waiting = sql`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await waiting.execute(service.db)).rows.length).toBe(1);
  }
});

test('nothing is done to a live merchant’s payment in the name of the simulation', async () => {
  const { id } = await addWaiting('live');
  await expect(movePaymentTo(id, 'simulation')).rejects.toThrow(REFUSED);
  expect(await stateOfPayment(service.db, id)).toBe(UNPAID);
});

test.each(['read committed', 'repeatable read', 'serializable'] as const)(
  'a payment that began after the transaction of a transfer is judged by its merchant: %s',
  async isolation => {
    const tx = await service.db.startTransaction().setIsolationLevel(isolation).execute();
    await sql`select from payments limit 1`.execute(tx);
    const payment = await addWaiting('live');
    // As code would that has its ID from elsewhere: the foreign key sees the payment, whatever the snapshot.
    const match = { outcome: 'exact', payment_id: payment.id } as const;
    const inserted = insertDeposit(tx, newDeposit(transferTo(payment), match, now()));
    const refusal = await inserted.catch((error: Error) => error.message);
    await tx.rollback().execute();
    expect(refusal).toContain(REFUSED);
  },
);

const observeOnce = (transfer: ObservedTransfer) =>
  service.db.transaction().execute(tx => observeIn(tx, transfer, now()));

const movePaymentTo = (paymentId: string, actor: string) =>
  service.db
    .transaction()
    .execute(tx =>
      movePayment(tx, { paymentId, move: 'expire', actor, reason: 'for a test', now: now() }),
    );
