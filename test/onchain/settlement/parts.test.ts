import { HDKey } from '@scure/bip32';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setAddress, setWallet } from '#accounts/deposit-addresses.ts';
import { setMerchant } from '#accounts/merchants.ts';
import { stockWallets } from '#accounts/wallets.ts';
import { walletAddress } from '#chains/bitcoin/wallet-addresses.ts';
import { historyEntry } from '#cli/payments/history.ts';
import { hashToken, newToken } from '#crypto/token.ts';
import { ConsentNeeded } from '#onchain/settlement/assignment.ts';
import { assignDeposit } from '#onchain/settlement/inbox.ts';
import { lapseIfDue } from '#onchain/settlement/lapse-quotes.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { readRemaining } from '#onchain/settlement/remaining.ts';
import { selectNetwork } from '#onchain/settlement/select-network.ts';
import { countTransfers } from '#payments/counted-transfers.ts';
import { readHistory } from '#payments/history.ts';
import { movePayment } from '#payments/move-payment.ts';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { DepositState } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import { findDepositContexts } from '#storage/repositories/deposits/context.ts';
import { readArrivals } from '#storage/repositories/deposits/deviations.ts';
import { insertReservation } from '#storage/repositories/deposits/reservations.ts';
import { listTransfers } from '#storage/repositories/deposits/transfers.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { readLiveState } from '#surfaces/checkout/checkout.ts';
import { LANGUAGE_TAGS, languageOf } from '#surfaces/checkout/page/texts/languages.ts';
import { ADDRESSES, addMerchant, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addPayment } from '../../helpers/payments.ts';
import { runs } from '../../helpers/property-runs.ts';
import { simulatedTransfer } from '../../helpers/see-transfer.ts';

let service: TestApp;
let merchant: Merchant;
const MINUTE_MS = 60_000;
const rates = createFixedRates();

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service, { addresses: {} }));
  const account = HDKey.fromMasterSeed(Buffer.alloc(32, 1)).derive("m/84'/0'/0'");
  const style = { kind: 'wpkh', prefix: 'bc' } as const;
  await setWallet(
    { ...operatorOf(service), keyring: service.keyring },
    { merchantId: merchant.id },
    'btc',
    { key: account.publicExtendedKey, next: walletAddress(style, account.deriveChild(0), 0) },
  );
  await setAddress(operatorOf(service), { merchantId: merchant.id }, 'eth', ADDRESSES.eth);
});
afterAll(() => service.close());

const now = () => new Date(service.clock.now);

/** A payment with an address of its own, unless 18 others wait. */
async function ask(columns: Partial<Payment> = {}): Promise<Payment> {
  // As if a block had confirmed what has arrived so far.
  await service.db
    .updateTable('wallet_addresses')
    .set({ is_funded: true })
    .where('received_at', 'is not', null)
    .execute();
  await stockWallets(service.db, service.keyring, 20);
  const payment = await addPayment(service.db, merchant, {
    amount: 5_000,
    created_at: now(),
    offered_blockchain_ids: ['btc'],
    ...columns,
  });
  return choose(payment, 'btc');
}

function choose(payment: Payment, blockchainId: string): Promise<Payment> {
  const choice = { payment, blockchainId, offering: 'simulated' } as const;
  return selectNetwork(service.db, rates, choice, now());
}

const PART_HASH = 'f'.repeat(64);
let sent = 0;
function newHash(): string {
  sent += 1;
  return String(sent).padStart(64, '0');
}

function arrive(
  { address, blockchain_id: blockchainId }: Payment,
  tokenAmount: bigint,
  finality: DepositState = 'final',
  transactionHash = newHash(),
  occurredAt = now(),
) {
  const transfer = simulatedTransfer({
    blockchainId: blockchainId ?? '',
    transactionHash,
    address: address ?? '',
    tokenAmount,
    occurredAt,
    finality,
    source: 'chain',
  });
  return observeTransfer(service.db, transfer, now());
}

const wholeOf = (payment: Payment) => BigInt(payment.token_amount ?? 0);
async function stateOf({ id }: Payment): Promise<string> {
  const payment = await findPayment(service.db, id);
  return `${payment?.status}/${payment?.session_status}`;
}

describe('at an address that one payment alone was asked to pay to', () => {
  test('parts of any size add up, and the last one completes the payment', async () => {
    const payment = await ask();
    const whole = wholeOf(payment);
    const [third, sixth] = [whole / 3n, whole / 6n];
    expect((await arrive(payment, third)).outcome).toBe('under');
    expect((await arrive(payment, sixth, 'seen')).outcome).toBe('under');
    const open = await findPayment(service.db, payment.id);
    expect(open).toMatchObject({ status: 'pending', last_error_code: 'amount_underpaid' });
    expect(open?.last_error_message).toContain('Several transfers to this address add up.');
    expect(open && (await readRemaining(service.db, open))).toEqual({
      received: third + sixth,
      remaining: whole - third - sixth,
    });
    expect((await arrive(payment, whole - third - sixth)).outcome).toBe('rest');
    // One of the parts is not final yet.
    expect(await stateOf(payment)).toBe('pending/completed');
  });

  test('a part that is final last settles it, by the transfer that completed it', async () => {
    const payment = await ask();
    const whole = wholeOf(payment);
    const first = newHash();
    await arrive(payment, whole / 2n, 'seen', first);
    const last = await arrive(payment, whole, 'final');
    expect(last.outcome).toBe('exact');
    expect(await stateOf(payment)).toBe('successful/completed');
    await arrive(payment, whole / 2n, 'final', first);

    const other = await ask();
    const early = newHash();
    await arrive(other, wholeOf(other) / 2n, 'seen', early);
    const rest = await arrive(other, wholeOf(other) - wholeOf(other) / 2n + 5n, 'final');
    expect(rest.outcome).toBe('rest');
    expect(await stateOf(other)).toBe('pending/completed');
    await arrive(other, wholeOf(other) / 2n, 'final', early);
    expect(await findPayment(service.db, other.id)).toMatchObject({
      status: 'successful',
      transaction_hash: rest.transaction_hash,
      token_amount: other.token_amount,
      last_error_code: null,
    });
  });

  test.each([
    ['twice the amount', (whole: bigint) => whole * 2n, 'over'],
    ['one satoshi more', (whole: bigint) => whole + 1n, 'over'],
    ['what a wallet has cut', (whole: bigint) => whole - (whole % 1_000n), 'tolerated'],
    ['a hundredth', (whole: bigint) => whole / 100n, 'under'],
  ])('%s is for it', async (_, amount, outcome) => {
    const payment = await ask();
    expect(await arrive(payment, amount(wholeOf(payment)))).toMatchObject({
      payment_id: payment.id,
      outcome,
    });
    expect(await stateOf(payment)).toBe(
      outcome === 'under' ? 'pending/pending' : 'successful/completed',
    );
  });

  test('the merchant’s tolerance counts for the sum', async () => {
    await setMerchant(operatorOf(service), merchant.id, { underpaymentToleranceBps: 200 });
    try {
      const payment = await ask();
      const whole = wholeOf(payment);
      await arrive(payment, whole / 2n);
      await arrive(payment, (whole * 48n) / 100n + 1n);
      expect(await stateOf(payment)).toBe('successful/completed');
    } finally {
      await setMerchant(operatorOf(service), merchant.id, { underpaymentToleranceBps: 0 });
    }
  });

  test('a sum that was tolerated stays enough when the merchant tolerates less afterwards', async () => {
    await setMerchant(operatorOf(service), merchant.id, { underpaymentToleranceBps: 200 });
    const payment = await ask();
    const whole = wholeOf(payment);
    const [first, second] = [newHash(), newHash()];
    const parts = [whole / 2n, (whole * 48n) / 100n + 1n] as const;
    await arrive(payment, parts[0], 'seen', first);
    await arrive(payment, parts[1], 'seen', second);
    expect(await stateOf(payment)).toBe('pending/completed');
    await setMerchant(operatorOf(service), merchant.id, { underpaymentToleranceBps: 0 });
    await arrive(payment, parts[0], 'final', first);
    expect(await findPayment(service.db, payment.id)).toMatchObject({
      session_status: 'completed',
      last_error_code: null,
    });
    await arrive(payment, parts[1], 'final', second);
    expect(await stateOf(payment)).toBe('successful/completed');
  });

  test('a part that is undone opens it again, and its replacement completes it', async () => {
    const payment = await ask();
    const whole = wholeOf(payment);
    const [first, second] = [newHash(), newHash()];
    await arrive(payment, whole / 2n, 'seen', first);
    await arrive(payment, whole, 'seen', second);
    expect(await stateOf(payment)).toBe('pending/completed');
    await arrive(payment, whole, 'reversed', second);
    await arrive(payment, whole - whole / 2n, 'seen');
    expect(await stateOf(payment)).toBe('pending/completed');
    await arrive(payment, whole / 2n, 'reversed', first);
    expect(await stateOf(payment)).toBe('pending/pending');
    const open = await findPayment(service.db, payment.id);
    expect(open && (await readRemaining(service.db, open))?.received).toBe(whole - whole / 2n);
    expect((await arrive(payment, whole / 2n, 'seen')).outcome).toBe('rest');
    expect(await stateOf(payment)).toBe('pending/completed');
  });

  describe('of a payment whose price has lapsed', () => {
    const HOUR_MS = 60 * 60_000;
    const FIXED = { expiry_fixed: true };

    /** The payment's next quote on the network, after its price has lapsed. */
    async function quoteAgain({ id }: Payment, price: string): Promise<Payment> {
      service.clock.now += 3 * HOUR_MS;
      await transact(service.db, tx => lapseIfDue(tx, id, now()));
      const payment = await findPayment(service.db, id);
      if (payment?.status !== 'pending' || payment.blockchain_id !== null) {
        throw new Error('its price has not lapsed');
      }
      const choice = { payment, blockchainId: 'btc', offering: 'simulated' } as const;
      return selectNetwork(service.db, createFixedRates({ BTC: price }), choice, now());
    }

    test('are told to count for the next quote', async () => {
      const payment = await ask({ ...FIXED, expires_at: new Date(now().getTime() + 24 * HOUR_MS) });
      const part = wholeOf(payment) / 4n;
      await arrive(payment, part);
      const again = await quoteAgain(payment, '90000');
      expect(again.address).toBe(payment.address);
      expect(again.last_error_message).toContain('Several transfers to this address add up.');
      expect((await readRemaining(service.db, again))?.remaining).toBe(wholeOf(again) - part);
      expect((await arrive(again, wholeOf(again) - part)).outcome).toBe('rest');
      expect(await stateOf(payment)).toBe('successful/completed');
    });

    test('settle it if they suffice for the next quote', async () => {
      const payment = await ask({ ...FIXED, expires_at: new Date(now().getTime() + 24 * HOUR_MS) });
      const part = await arrive(payment, (wholeOf(payment) * 9n) / 10n);
      expect(await quoteAgain(payment, '120000')).toMatchObject({
        status: 'successful',
        transaction_hash: part.transaction_hash,
      });
    });
  });

  describe('under another quote, after its payer has chosen another network', () => {
    const DAY = { expiry_fixed: true, offered_blockchain_ids: ['btc', 'eth'] };
    const askBoth = () =>
      ask({ ...DAY, expires_at: new Date(now().getTime() + 24 * 60 * MINUTE_MS) });

    test.each([
      ['after it', 0],
      ['before it', MINUTE_MS],
    ])('a part sent %s waits in the inbox for it, and is told on its page', async (_, before) => {
      const payment = await askBoth();
      service.clock.now += 2 * MINUTE_MS;
      const elsewhere = await choose(payment, 'eth');
      const part = wholeOf(payment) / 3n;
      const sentAt = new Date(now().getTime() - before);
      const deposit = await arrive(payment, part, 'final', newHash(), sentAt);
      expect(deposit).toMatchObject({ outcome: 'superseded', payment_id: null });
      expect(await findPayment(service.db, payment.id)).toMatchObject({
        blockchain_id: 'eth',
        token_amount: elsewhere.token_amount,
        last_error_code: null,
      });
      const { newest } = await listTransfers(service.db, payment.id);
      expect(newest).toMatchObject([{ id: deposit.id, stray_kind: 'superseded' }]);
      const context = (await findDepositContexts(service.db, [deposit])).get(deposit.id);
      expect(context?.fits).toMatchObject([
        { paymentId: payment.id, tokenAmount: payment.token_amount },
      ]);
    });

    test('what had arrived before counts when the payer comes back', async () => {
      const payment = await askBoth();
      const part = wholeOf(payment) / 3n;
      await arrive(payment, part);
      await choose(payment, 'eth');
      const back = await choose(payment, 'btc');
      expect((await readRemaining(service.db, back))?.remaining).toBe(wholeOf(payment) - part);
      await arrive(back, wholeOf(payment) - part);
      expect(await stateOf(payment)).toBe('successful/completed');
    });

    test('a part that is final once the payment was paid elsewhere waits in the inbox', async () => {
      const payment = await askBoth();
      const part = await arrive(payment, wholeOf(payment) / 3n, 'seen', PART_HASH);
      const elsewhere = await choose(payment, 'eth');
      await arrive(elsewhere, wholeOf(elsewhere));
      expect(await stateOf(payment)).toBe('successful/completed');
      const final = await arrive(payment, wholeOf(payment) / 3n, 'final', PART_HASH);
      expect(final).toMatchObject({ id: part.id, payment_id: null, outcome: 'late' });
      const { newest } = await listTransfers(service.db, payment.id);
      expect(newest.map(({ id }) => id)).toContain(part.id);
    });

    test('is told to count: at the address, and if the payer comes back there', async () => {
      const payment = await askBoth();
      const token = newToken();
      await service.db
        .updateTable('payments')
        .set({ checkout_token_hash: hashToken(token) })
        .where('id', '=', payment.id)
        .execute();
      await arrive(payment, wholeOf(payment) / 3n);
      const told = async (language = 'en') => {
        const open = await findPayment(service.db, payment.id);
        const url = `/checkout/${token}?lang=${language}`;
        const { body } = await service.app.inject({ url, headers: { accept: 'text/html' } });
        return { message: open?.last_error_message, page: body };
      };
      const here = await told();
      expect(here.page).toContain('several transfers are fine');
      expect(here.page).toContain('BTC more in time to complete');
      expect(here.page).not.toContain('in one transfer');
      service.clock.now += 3 * 60 * MINUTE_MS;
      expect((await told()).page).toContain('What you have sent counts if you choose its network');
      await transact(service.db, tx => lapseIfDue(tx, payment.id, now()));
      const withdrawn = await told();
      expect(withdrawn.message).toContain('it counts if its network is chosen again');
      expect(withdrawn.page).toContain('It counts if you choose this network again.');
      await choose(payment, 'eth');
      const elsewhere = await told();
      expect(elsewhere.message).toContain('it counts if its network is chosen again');
      expect(elsewhere.page).toContain(
        'What you have sent counts if you choose its network again.',
      );
      for (const language of LANGUAGE_TAGS) {
        const { texts } = languageOf(language);
        const { page } = await told(language);
        expect(page, language).toContain(texts.transfers.countedFor.elsewhere);
        expect(page, language).not.toContain(texts.waiting.noRest('', '').slice(0, 12));
      }
      expect(elsewhere.page).not.toContain('Parts are not added up');
    });

    test('the part that completes the sum settles it while the price holds', async () => {
      const payment = await askBoth();
      const part = wholeOf(payment) / 3n;
      await arrive(payment, part, 'seen');
      await choose(payment, 'eth');
      const last = await arrive(payment, wholeOf(payment) - part, 'seen');
      expect(last.outcome).toBe('rest');
      expect(await findPayment(service.db, payment.id)).toMatchObject({
        session_status: 'completed',
        blockchain_id: 'btc',
        address: payment.address,
        token_amount: payment.token_amount,
        transaction_hash: last.transaction_hash,
      });
      const open = await findPayment(service.db, payment.id);
      const texts = open && (await readHistory(service.db, open)).map(historyEntry);
      expect(JSON.stringify(texts)).toContain('it pays a former quote');
    });

    test.each([
      ['too much', (whole: bigint) => whole * 2n, 'over'],
      ['the amount', (whole: bigint) => whole, 'exact'],
      ['what a wallet has cut', (whole: bigint) => whole - (whole % 1_000n), 'tolerated'],
    ])('%s settles it while the price holds', async (_, amount, outcome) => {
      const payment = await askBoth();
      await choose(payment, 'eth');
      expect(await arrive(payment, amount(wholeOf(payment)))).toMatchObject({ outcome });
      expect(await findPayment(service.db, payment.id)).toMatchObject({
        status: 'successful',
        blockchain_id: 'btc',
        token_amount: payment.token_amount,
      });
    });

    test('once the price does not hold, whatever comes waits in the inbox for it', async () => {
      const payment = await askBoth();
      service.clock.now += 62 * MINUTE_MS;
      await transact(service.db, tx => lapseIfDue(tx, payment.id, now()));
      await choose(payment, 'eth');
      for (const amount of [wholeOf(payment), wholeOf(payment) * 2n, wholeOf(payment) / 2n]) {
        const deposit = await arrive(payment, amount);
        expect(deposit).toMatchObject({ outcome: 'superseded', payment_id: null });
      }
      expect(await stateOf(payment)).toBe('pending/pending');
    });

    test('what was sent in time for a quote that is withdrawn by now pays it, with its commission', async () => {
      const payment = await askBoth();
      service.clock.now += 62 * MINUTE_MS;
      await transact(service.db, tx => lapseIfDue(tx, payment.id, now()));
      expect(await findPayment(service.db, payment.id)).toMatchObject({ commission_amount: null });
      const sentAt = new Date(now().getTime() - 10 * MINUTE_MS);
      await arrive(payment, wholeOf(payment), 'final', newHash(), sentAt);
      expect(await findPayment(service.db, payment.id)).toMatchObject({
        status: 'successful',
        commission_amount: payment.commission_amount,
      });
    });

    test('what was seen there stays when a part becomes final', async () => {
      const payment = await askBoth();
      const part = await arrive(payment, wholeOf(payment) / 3n, 'seen');
      const elsewhere = await choose(payment, 'eth');
      const funds = await arrive(elsewhere, wholeOf(elsewhere), 'seen');
      await arrive(payment, wholeOf(payment) / 3n, 'final', part.transaction_hash);
      expect(await findPayment(service.db, payment.id)).toMatchObject({
        session_status: 'completed',
        blockchain_id: 'eth',
        transaction_hash: funds.transaction_hash,
        last_error_code: null,
      });
    });
  });

  test('a rest that no wallet can send is raised to one that can be sent', async () => {
    const payment = await ask();
    await arrive(payment, wholeOf(payment) - 200n);
    const open = await findPayment(service.db, payment.id);
    expect(open?.last_error_message).toContain('remaining 0.00000588 BTC');
    expect(open && (await readRemaining(service.db, open))?.remaining).toBe(588n);
    const shown = { has_transfers: true, merchant_environment: 'live' } as const;
    const page = open && (await readLiveState(service.db, { ...open, ...shown }, now()));
    expect(page?.progress.rest).toMatchObject({ remaining: 588n });
  });

  test('one that was not recognised completes the sum by an operator’s hand, without more consent', async () => {
    const payment = await ask();
    const part = wholeOf(payment) / 4n;
    await arrive(payment, wholeOf(payment) - part);
    const { id } = await arrive(payment, part / 2n);
    const { id: other } = await arrive(payment, part / 3n);
    // As if the payer had chosen another network meanwhile.
    await service.db
      .updateTable('deposits')
      .set({ payment_id: null, outcome: 'unknown' })
      .where('id', 'in', [id, other])
      .execute();
    const assign = (deposit: string) => assignDeposit(operatorOf(service), deposit, payment.id);
    await expect(assign(id)).rejects.toBeInstanceOf(ConsentNeeded);
    await service.db
      .updateTable('deposits')
      .set({ token_amount: part.toString() })
      .where('id', '=', id)
      .execute();
    expect((await assign(id)).outcome).toBe('assigned');
    expect(await stateOf(payment)).toBe('successful/completed');
  });

  test('that were added up stay so when another payment is asked to pay there', async () => {
    const payment = await ask();
    const place = { blockchainId: 'btc', address: payment.address ?? '' };
    const [first, last] = [newHash(), newHash()];
    const part = wholeOf(payment) / 2n;
    const rest = wholeOf(payment) - part;
    await arrive(payment, part, 'seen', first);
    await arrive(payment, rest, 'seen', last);
    // As the previous release does, and a branch that has the address as a static one.
    const other = await addPayment(service.db, merchant, { created_at: now() });
    const slot = { ...place, tokenAmount: wholeOf(payment) + 1n };
    expect(await insertReservation(service.db, other.id, slot, now())).toBe(true);
    await arrive(payment, rest, 'final', last);
    expect(await stateOf(payment)).toBe('pending/completed');
    await arrive(payment, part, 'final', first);
    expect(await stateOf(payment)).toBe('successful/completed');
  });

  test('are counted in what the payer and the merchant are told', async () => {
    const payment = await ask();
    const counted = async () => {
      const open = await findPayment(service.db, payment.id);
      const transfers = await listTransfers(service.db, payment.id);
      return open && countTransfers(open, transfers);
    };
    const whole = wholeOf(payment);
    await arrive(payment, whole / 2n);
    expect((await counted())?.listed).toMatchObject([{ countedFor: 'first', became: null }]);
    // A rest that is much too much.
    const over = await ask();
    await arrive(over, wholeOf(over) / 2n, 'seen');
    const rest = (wholeOf(over) * 9n) / 10n;
    await arrive(over, rest);
    const arrivals = (await readArrivals(service.db, [over.id])).get(over.id);
    expect(arrivals).toMatchObject({ over: true, under: false });
    const transfers = await listTransfers(service.db, over.id);
    expect(countTransfers(over, transfers).excess?.token_amount).toBe(
      String(wholeOf(over) / 2n + rest - wholeOf(over)),
    );
  });

  test('whatever order parts are seen, final and undone in, the sum decides', async () => {
    const part = fc.record({
      share: fc.integer({ min: 1, max: 120 }),
      fate: fc.constantFrom('final', 'seen', 'reversed'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 2, maxLength: 6 }),
        fc.array(fc.nat(), { minLength: 12, maxLength: 12 }),
        play,
      ),
      { numRuns: runs(60) },
    );

    /** Each part is seen, then meets its fate, in an order that `picks` choose. */
    async function play(
      parts: readonly { readonly share: number; readonly fate: string }[],
      picks: readonly number[],
    ) {
      const payment = await ask();
      const whole = wholeOf(payment);
      const flights = parts.map(({ share, fate }) => ({
        hash: newHash(),
        amount: (whole * BigInt(share)) / 100n,
        ahead: fate === 'seen' ? ['seen'] : ['seen', fate],
        state: '',
        isOurs: false,
      }));
      for (const pick of picks) {
        const waiting = flights.filter(({ ahead }) => ahead.length > 0);
        const flight = waiting[pick % Math.max(waiting.length, 1)];
        const next = flight?.ahead.shift();
        if (flight === undefined || next === undefined) break;
        const deposit = await arrive(payment, flight.amount, next as DepositState, flight.hash);
        flight.state = next;
        flight.isOurs = deposit.payment_id === payment.id;
        await agree(payment, whole, flights);
      }
    }

    async function agree(
      payment: Payment,
      whole: bigint,
      flights: readonly { amount: bigint; state: string; hash: string }[],
    ) {
      const deposits = await service.db
        .selectFrom('deposits')
        .select(['transaction_hash', 'payment_id'])
        .where('address', '=', payment.address ?? '')
        .execute();
      const isOurs = (hash: string) =>
        deposits.some(each => each.transaction_hash === hash && each.payment_id === payment.id);
      const sum = (...states: readonly string[]) =>
        flights
          .filter(({ hash, state }) => states.includes(state) && isOurs(hash))
          .reduce((all, { amount }) => all + amount, 0n);
      // A cent, or a thousandth, may be missing.
      const enough = whole - whole / 1_000n;
      const [status, session] = (await stateOf(payment)).split('/');
      expect(status === 'successful').toBe(sum('final') >= enough);
      expect(session === 'completed').toBe(sum('seen', 'final') >= enough);
      // While it waits, everything that is there is its own.
      if (session === 'pending') {
        const all = flights.filter(({ state }) => state === 'seen' || state === 'final');
        expect(all.every(({ hash }) => isOurs(hash))).toBe(true);
      }
    }
  });
});

describe('elsewhere', () => {
  test('nobody is asked where something has arrived, and no more behind it than wallets look at', async () => {
    const payments = [];
    for (let count = 0; count < 18; count += 1) payments.push(await ask());
    for (const payment of payments) await arrive(payment, wholeOf(payment), 'seen');
    const late = await addPayment(service.db, merchant, {
      amount: 5_000,
      created_at: now(),
      offered_blockchain_ids: ['btc'],
    });
    const choice = { payment: late, blockchainId: 'btc', offering: 'simulated' } as const;
    await expect(selectNetwork(service.db, rates, choice, now())).rejects.toMatchObject({
      errorCode: 'E5002',
    });
    expect(await ask()).toMatchObject({ blockchain_id: 'btc' });
  });

  test('at an address of the wallet that two payments had, parts do not add up', async () => {
    const payments = [];
    for (let count = 0; count < 40; count += 1) payments.push(await ask());
    const shared = Map.groupBy(payments, ({ address }) => address)
      .values()
      .find(at => at.length > 1);
    const [first] = shared ?? [];
    if (first === undefined) throw new Error('no address is shared');
    const part = await arrive(first, wholeOf(first) / 2n);
    expect(part).toMatchObject({ payment_id: null, outcome: 'ambiguous' });
  });
});

describe('after its end', () => {
  test('whatever comes after its end is told as late for it, and after it was paid as a second time', async () => {
    const [late, paid] = [await ask(), await ask()];
    await arrive(paid, wholeOf(paid));
    await movePayment(service.db, {
      paymentId: late.id,
      move: 'expire',
      actor: 'worker',
      reason: 'nothing came',
      now: now(),
    });
    service.clock.now += 48 * 60 * MINUTE_MS;
    for (const [payment, outcome] of [
      [late, 'late'],
      [paid, 'duplicate'],
    ] as const) {
      const deposit = await arrive(payment, wholeOf(payment) / 3n);
      expect(deposit).toMatchObject({ outcome, payment_id: null });
      const { newest } = await listTransfers(service.db, payment.id);
      expect(newest.map(({ id }) => id)).toContain(deposit.id);
    }
  });
});
