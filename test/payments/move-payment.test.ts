import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { movePayment } from '#payments/move-payment.ts';
import { MOVES, type MoveName } from '#payments/moves.ts';
import { verifyPartner } from '#reports/partners/verify-rollups.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { listTransitions, type PaymentState } from '#storage/repositories/payments/moves.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { addMerchant, addPartner } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addPayment } from '../helpers/payments.ts';

const NAMES = Object.keys(MOVES) as MoveName[];

let service: TestApp;
let merchant: Merchant;
let partnerId: string;

beforeAll(async () => {
  service = await startTestApp();
  const { partner } = await addPartner(service);
  partnerId = partner.id;
  ({ merchant } = await addMerchant(service, { partnerId }));
});
afterAll(() => service.close());

const move = (paymentId: string, name: MoveName) =>
  service.db.transaction().execute(tx =>
    movePayment(tx, {
      paymentId,
      move: name,
      actor: 'test',
      reason: name,
      now: new Date(service.clock.now),
    }),
  );

const newPayment = async () =>
  (await addPayment(service.db, merchant, { created_at: new Date(service.clock.now) })).id;

const eventTypes = async (paymentId: string) =>
  (
    await service.db
      .selectFrom('events')
      .select('type')
      .where('payment_id', '=', paymentId)
      .orderBy('id')
      .execute()
  ).map(event => event.type);

const same = (a: PaymentState, b: PaymentState) => a.status === b.status && a.session === b.session;

test('the table has no way out of an ended payment', () => {
  for (const { from } of Object.values(MOVES)) {
    for (const state of from) expect(state.status).toBe('pending');
  }
});

test('any sequence of moves follows the table exactly, and sends exactly its events', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 8 }),
      async names => {
        const id = await newPayment();
        let state: PaymentState = { status: 'pending', session: 'pending' };
        const events: string[] = [];
        for (const name of names) {
          const { from, to, event } = MOVES[name];
          const allowed = from.some(one => same(one, state));
          expect((await move(id, name)) !== undefined).toBe(allowed);
          if (!allowed) continue;
          state = to;
          if (event !== null) events.push(event);
        }
        const payment = await findPayment(service.db, id);
        expect({ status: payment?.status, session: payment?.session_status }).toEqual(state);
        expect(payment?.paid_at !== null).toBe(state.status === 'successful');
        expect(await eventTypes(id)).toEqual(events);
      },
    ),
    { numRuns: 30 },
  );
});

test('concurrent actors see only states that the table allows, and the history is one chain', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...NAMES), { minLength: 2, maxLength: 12 }),
      async names => {
        const id = await newPayment();
        const outcomes = await Promise.all(names.map(name => move(id, name)));
        const transitions = await listTransitions(service.db, id);
        expect(transitions).toHaveLength(outcomes.filter(outcome => outcome !== undefined).length);

        // The order of commits may differ from the order of IDs: follow the chain from its beginning.
        const left = [...transitions];
        let at = 'pending/pending';
        while (left.length > 0) {
          const next = left.findIndex(
            one => `${one.from_status}/${one.from_session_status}` === at,
          );
          expect(next).toBeGreaterThanOrEqual(0);
          const [taken] = left.splice(next, 1);
          at = `${taken?.to_status}/${taken?.to_session_status}`;
        }
        const payment = await findPayment(service.db, id);
        expect(`${payment?.status}/${payment?.session_status}`).toBe(at);
        const ended = transitions.filter(one => one.to_status !== 'pending');
        expect(ended.length).toBeLessThanOrEqual(1);
        const expected = transitions
          .map(one => MOVES[one.reason as MoveName].event)
          .filter(event => event !== null);
        expect((await eventTypes(id)).toSorted()).toEqual(expected.toSorted());
      },
    ),
    { numRuns: 20 },
  );
  expect(await verifyPartner(service.db, partnerId)).toEqual([]);
});

test('a move that is rolled back leaves neither history nor event', async () => {
  const id = await newPayment();
  await service.db
    .transaction()
    .execute(async tx => {
      await movePayment(tx, {
        paymentId: id,
        move: 'cancel',
        actor: 'test',
        reason: 'cancel',
        now: new Date(service.clock.now),
      });
      throw new Error('changed its mind');
    })
    .catch(() => undefined);
  expect(await listTransitions(service.db, id)).toEqual([]);
  expect(await eventTypes(id)).toEqual([]);
  expect((await findPayment(service.db, id))?.status).toBe('pending');
});
