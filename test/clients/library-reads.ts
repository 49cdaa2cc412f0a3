import { expect, test } from 'vitest';
import { newEvent } from '#payments/new-event.ts';
import { insertEvent } from '#storage/repositories/payments/events.ts';
import { ADDRESSES, addMerchant } from '../helpers/accounts.ts';
import { addPayment } from '../helpers/payments.ts';
import type { Library } from './library.ts';

interface Payment {
  readonly id: string;
  readonly amount: number;
}

interface Created {
  readonly prompt: Payment;
  readonly checkoutUrl: string;
}

const ORDER = {
  amount: 5000,
  customerReferenceId: 'Bestellung №7 & 😀 + 100 %',
  note: '</p>\u2028',
};

/** What a library creates and reads at the service. */
export function describeReads(library: Library): void {
  test('creates, repeats, reads and lists a payment', async () => {
    const order = { payment: ORDER, idempotencyKey: crypto.randomUUID() };
    const { result: created } = await library.calls.real<Created>('create', order);
    expect(created).toMatchObject({
      prompt: {
        object: 'payment_prompt',
        amount: 5000,
        status: 'pending',
        customerReferenceId: ORDER.customerReferenceId,
      },
      checkoutUrl: expect.stringMatching(/^https:/),
    });
    expect((await library.calls.real('create', order)).result).toEqual(created);
    const { result: read } = await library.calls.real('get', { id: created?.prompt.id });
    expect(read).toEqual(created?.prompt);
    const query = {
      customerReferenceId: ORDER.customerReferenceId,
      status: 'pending',
      limit: 1,
      createdAfter: '2020-01-01T00:00:00Z',
      createdBefore: '2100-01-01T00:00:00+02:00',
    };
    const { result: page } = await library.calls.real<{ data: Payment[] }>('list', { query });
    expect(page?.data).toEqual([created?.prompt]);
    const { result: networks } = await library.calls.real<{ id: string }[]>('blockchains');
    expect(networks?.map(({ id }) => id)).toEqual(['btc', 'eth']);
  });

  test('simulates what happens to a payment of a test merchant, and lets its time pass', async () => {
    const { 'btc-test': bitcoin, 'eth-test': ethereum } = ADDRESSES;
    const { keyId, secret, passphrase } = await addMerchant(library.service, {
      environment: 'test',
      addresses: { 'btc-test': bitcoin, 'eth-test': ethereum },
    });
    const tester = { keyId, secret, passphrase };
    const create = async () => {
      const order = { payment: { amount: 5000 } };
      return (await library.calls.real<Created>('create', order, tester)).result?.prompt.id;
    };
    const paid = { id: await create(), case: 'confirm', blockchainId: 'eth-test' };
    const { result } = await library.calls.real('simulate', paid, tester);
    expect(result).toMatchObject({
      payment: { id: paid.id, status: 'successful', blockchainId: 'eth-test' },
      waits: null,
    });
    const late = { id: await create(), seconds: 7 * 24 * 60 * 60 };
    const { result: ended } = await library.calls.real('advance', late, tester);
    expect(ended).toMatchObject({ payment: { id: late.id, status: 'expired' } });
    const { error } = await library.calls.real('simulate', { ...paid, id: late.id }, tester);
    expect(error).toMatchObject({ kind: 'api', errorCode: 'E1040' });
    expect((await library.calls.real('simulate', paid)).error).toMatchObject({
      errorCode: 'E2008',
    });
  });

  test('iterates over every page', async () => {
    const other = await addMerchant(library.service);
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) {
      const created_at = new Date(library.service.clock.now - (index % 3));
      ids.push((await addPayment(library.service.db, other.merchant, { created_at })).id);
    }
    const { keyId, secret, passphrase } = other;
    const key = { keyId, secret, passphrase };
    const all = await library.calls.real<Payment[]>('all', { query: { limit: 2 } }, key);
    expect(all.result?.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    const none = await library.calls.real<Payment[]>('all', { query: { status: 'expired' } }, key);
    expect(none.result).toEqual([]);
  });

  test('iterates over events, the oldest first, from a minute before one or a time', async () => {
    const other = await addMerchant(library.service);
    const { keyId, secret, passphrase } = other;
    const at = (index: number) => new Date(library.service.clock.now - (7 - index) * 25_000);
    const payment = await addPayment(library.service.db, other.merchant, { created_at: at(0) });
    const ids: string[] = [];
    for (let index = 0; index < 7; index++) {
      const event = newEvent('payment_prompt.created', payment, at(index));
      await insertEvent(library.service.db, event);
      ids.push(event.id);
    }
    const real = <T>(name: string, given: object) =>
      library.calls.real<T>(name, given, { keyId, secret, passphrase });
    const walk = async (given: object, query: object = {}) => {
      const { result } = await real<Payment[]>('events', {
        query: { limit: 2, ...query },
        ...given,
      });
      return result?.map(({ id }) => id);
    };
    const [, , , , four = ''] = ids;
    expect(await walk({})).toEqual(ids);
    expect(await walk({ since: at(4).toISOString() })).toEqual(ids.slice(2));
    // All but the event itself, which was already processed.
    expect(await walk({ after: four })).toEqual(ids.slice(2).filter(id => id !== four));
    expect(await walk({}, { endDate: at(1).toISOString() })).toEqual(ids.slice(0, 2));
    expect(await walk({}, { type: 'payment_prompt.expired' })).toEqual([]);
    expect(await walk({}, { delivered: false })).toEqual([]);

    const page = await real<{ data: object[] }>('listEvents', { query: { limit: 1 } });
    expect(page.result).toMatchObject({
      hasMore: true,
      data: [{ id: ids[6], data: { id: payment.id }, deliveries: [] }],
    });
    const { result: read } = await real('event', { id: ids[6] });
    expect(read).toEqual(page.result?.data[0]);
    const missing = { after: '01890000-0000-7000-8000-000000000000', query: {} };
    expect((await real('events', missing)).error).toMatchObject({ errorCode: 'E3001' });
  });

  test('distinguishes refusals', async () => {
    expect((await library.calls.real('create', { payment: { amount: 1 } })).error).toMatchObject({
      kind: 'api',
      status: 400,
      type: 'invalid_request_error',
      code: 'parameter_invalid',
      errorCode: 'E1001',
      message: expect.stringMatching(/^E1001: \w/),
      param: 'amount',
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      docUrl: 'https://pay.example.test/docs/errors/E1001',
      userSafeMessage: false,
      retryable: false,
    });
    const absent = { id: '01890000-0000-7000-8000-000000000000' };
    expect((await library.calls.real('get', absent)).error).toMatchObject({ errorCode: 'E3001' });
    const wrong = { secret: 'mps_0' };
    expect((await library.calls.real('list', { query: {} }, wrong)).error).toMatchObject({
      status: 401,
      errorCode: 'E2007',
    });
  });
}
