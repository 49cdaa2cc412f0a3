import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { chainOf } from '#chains/chain-list.ts';
import { NodeFailure } from '#chains/nodes/node.ts';
import { createSolanaAdapter } from '#chains/solana/adapter.ts';
import { expirePayments } from '#onchain/settlement/expire-on-chain.ts';
import { createLease } from '#onchain/watching/lease.ts';
import { createTick } from '#onchain/watching/loop/tick.ts';
import { createWatchList } from '#onchain/watching/watch-list.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { listOpenFindings } from '#storage/repositories/chains/findings.ts';
import { listDust } from '#storage/repositories/deposits/dust.ts';
import { addMerchant } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { GeneratedSolana, type Sent } from '../../helpers/generated-solana.ts';
import { addPaymentAt, forgetTransfers } from '../../helpers/open-payment.ts';
import { stateOfPayment } from '../../helpers/payments.ts';
import { runs } from '../../helpers/property-runs.ts';
import { newWallet } from '../../helpers/solana-node.ts';
import {
  Killed,
  lapseLease,
  nodeSetOf,
  stepping,
  watchModel,
} from '../../onchain/watching/model-watcher.ts';

const CHAIN = 'sol-dev';
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
/** The default number of calls per second to a node. */
const ALLOWANCE = 10;
const WHOLE = 50_000_000;

let service: TestApp;
let merchant: Merchant;
let chain: GeneratedSolana;

beforeAll(async () => {
  service = await startTestApp();
  ({ merchant } = await addMerchant(service, { addresses: {} }));
});
afterAll(() => service.close());
beforeEach(() => begin());

/** Starts with an empty chain and ledger. */
async function begin(): Promise<void> {
  service.clock.now += 48 * 60 * MINUTE_MS;
  await forgetTransfers(service.db);
  await watchModel(service.db, CHAIN, 'final');
  chain = new GeneratedSolana(service.clock);
}

/** The watcher of one process. */
function startWatcher(holder = 'a') {
  const { db, clock } = service;
  let step: (at: 'call' | 'commit') => void = () => undefined;
  const node = chain.node(ALLOWANCE, () => step('call'));
  const failures: Error[] = [];
  const tick = createTick({
    chain: chainOf(CHAIN),
    adapter: createSolanaAdapter(),
    db,
    clock,
    nodes: nodeSetOf({
      primary: async () => node,
      reportFailure: (_id, failure) => void failures.push(failure),
    }),
    log: pino({ level: 'silent' }),
    lease: stepping(createLease(db, CHAIN, holder), () => step('commit')),
    watchList: createWatchList(CHAIN),
  });
  return {
    failures,
    /** One tick after its pause, repeated while there is more to do. */
    async tick(hook: typeof step = () => undefined): Promise<void> {
      service.clock.now += chainOf(CHAIN).pauseMs;
      step = hook;
      while ((await tick(AbortSignal.timeout(60_000))) === 'more');
    },
  };
}

/** A payment that asks for these lamports. */
async function ask(
  address: string,
  lamports: number,
  endsAt = service.clock.now + 60 * MINUTE_MS,
): Promise<string> {
  const slot = { blockchainId: CHAIN, address, tokenAmount: BigInt(lamports) };
  const expires_at = new Date(endsAt);
  const columns = { amount: 1_000, expires_at, token_decimals: 9 };
  return (await addPaymentAt(service, merchant, slot, columns)).id;
}

const deposits = () => service.db.selectFrom('deposits').selectAll().execute();

/** Sends evenly spaced worthless transfers, and payments at given times. */
function sendAll(
  flood: { readonly address: string; readonly count: number; readonly forMs: number },
  payments: readonly { readonly address: string; readonly lamports: number; readonly at: number }[],
): Sent[] {
  const begin = service.clock.now;
  const dust = Array.from({ length: flood.count }, (_, index) => ({
    address: flood.address,
    lamports: 1 + (index % 1_000),
    at: begin + (index * flood.forMs) / flood.count,
  }));
  const sent = [...dust, ...payments]
    .toSorted((one, other) => one.at - other.at)
    .map(({ address, lamports, at }) => chain.send(address, lamports, at));
  return sent.filter(({ lamports }) => lamports >= WHOLE);
}

/** Ticks until everything is recorded. Returns how long each payment took from when it was sent, in milliseconds. */
async function watchFor(
  forMs: number,
  sent: readonly Sent[],
  restartAfterMs = forMs,
): Promise<number[]> {
  let watcher = startWatcher();
  const begin = service.clock.now;
  const end = begin + forMs;
  let isRestarted = false;
  const seenAt = new Map<string, number>();
  while (service.clock.now < end) {
    if (!isRestarted && service.clock.now - begin >= restartAfterMs) {
      watcher = startWatcher();
      await lapseLease(service.db, CHAIN);
      isRestarted = true;
    }
    await watcher.tick();
    for (const { transaction_hash: hash } of await deposits()) {
      if (!seenAt.has(hash)) seenAt.set(hash, service.clock.now);
    }
  }
  expect(watcher.failures).toEqual([]);
  return sent.map(({ signature, at }) => (seenAt.get(signature) ?? Number.POSITIVE_INFINITY) - at);
}

test.each([
  ['at their own address and at another', 10_000],
  ['of as many as two in a slot', 3_000],
])(
  'worthless transfers %s delay an exact payment by at most 15 s',
  async (_, count) => {
    const [flooded, other] = [newWallet().address, newWallet().address];
    // Alternately at the flooded address and at another one.
    const payments = Array.from({ length: 36 }, (_each, index) => ({
      address: index % 2 === 0 ? flooded : other,
      lamports: WHOLE + index * 1_000,
      at: service.clock.now + 10 * SECOND_MS + (index + 1) * 15_850,
    }));
    for (const { address, lamports } of payments) await ask(address, lamports);
    await ask(flooded, WHOLE * 2);
    service.clock.now += 10 * SECOND_MS;
    const sent = sendAll({ address: flooded, count, forMs: 10 * MINUTE_MS }, payments);
    const delays = await watchFor(11 * MINUTE_MS, sent);
    expect(Math.max(...delays)).toBeLessThanOrEqual(15 * SECOND_MS);
    expect(await deposits()).toHaveLength(payments.length);
    expect((await deposits()).every(({ outcome }) => outcome === 'exact')).toBe(true);
    expect(await listDust(service.db, 10)).toMatchObject([{ address: flooded, transfers: count }]);
  },
  120_000,
);

test('a worker that starts amid a flood delays no payment by more than 15 s, and holds those that end unread', async () => {
  const flooded = newWallet().address;
  const begun = service.clock.now;
  const payments = Array.from({ length: 18 }, (_, index) => ({
    address: flooded,
    lamports: WHOLE + index * 1_000,
    at: begun + 10 * SECOND_MS + (index + 1) * 31_700,
  }));
  for (const { address, lamports } of payments) await ask(address, lamports);
  const endsAt = begun + 6 * MINUTE_MS;
  const held = await ask(flooded, WHOLE * 2, endsAt);
  const other = await ask(newWallet().address, WHOLE * 2, endsAt);
  service.clock.now += 10 * SECOND_MS;
  const sent = sendAll({ address: flooded, count: 10_000, forMs: 10 * MINUTE_MS }, payments);
  const delays = await watchFor(11 * MINUTE_MS, sent, 5 * MINUTE_MS);
  expect(Math.max(...delays)).toBeLessThanOrEqual(15 * SECOND_MS);
  await expirePayments(service.db, new Date(service.clock.now), 100);
  expect(await stateOfPayment(service.db, other)).toBe('expired/expired');
  // Too many have come to read all of them again.
  expect(await stateOfPayment(service.db, held)).toBe('pending/pending');
  const findings = await listOpenFindings(service.db, 10);
  expect(findings).toMatchObject([{ kind: 'unreadable', address: flooded }]);
}, 120_000);

/** What happens to the watchers during a tick. */
const act = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'none' as const }) },
  fc.record({ kind: fc.constant('kill' as const), steps: fc.nat(30) }),
  fc.record({ kind: fc.constant('fail' as const), steps: fc.nat(30) }),
  fc.record({ kind: fc.constant('unwritten' as const), steps: fc.nat(5) }),
  fc.constant({ kind: 'overtake' as const }),
  fc.constant({ kind: 'hide' as const }),
);
const history = fc.record({
  flood: fc.record({
    count: fc.integer({ min: 100, max: 600 }),
    forMs: fc.integer({ min: 5_000, max: 40_000 }),
  }),
  /** A swept payment leaves the balance unchanged. */
  payments: fc.array(fc.record({ to: fc.nat(2), after: fc.nat(50_000), isSwept: fc.boolean() }), {
    minLength: 1,
    maxLength: 5,
  }),
  acts: fc.array(act, { minLength: 8, maxLength: 8 }),
});

test('every payment among worthless transfers is recorded once, even after failures of watchers', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ flood, payments, acts }) => {
      await begin();
      const addresses = [0, 1, 2].map(() => newWallet().address);
      const [flooded = '', , ended = ''] = addresses;
      const asked = payments.map(({ to, after, isSwept }, index) => ({
        address: addresses[to] ?? '',
        lamports: WHOLE + index * 1_000,
        at: service.clock.now + after,
        endsAt: service.clock.now + after + SECOND_MS / 2,
        isSwept: isSwept && addresses[to] !== ended,
      }));
      for (const { address, lamports, endsAt } of asked) await ask(address, lamports, endsAt);
      await ask(flooded, WHOLE * 2);
      // No payment is open there any more, so a person has to handle what comes.
      await ask(ended, WHOLE * 2);
      const released_at = new Date(service.clock.now);
      await service.db
        .updateTable('reservations')
        .set({ released_at })
        .where('address', '=', ended)
        .execute();
      await service.db
        .updateTable('payments')
        .set({ status: 'cancelled', session_status: 'cancelled' })
        .where('address', '=', ended)
        .execute();
      const swept = asked
        .filter(each => each.isSwept)
        .map(({ address, lamports, at }) => ({ address, lamports: -lamports, at: at + 1 }));
      const sent = sendAll({ ...flood, address: flooded }, [...asked, ...swept]);
      /** Payments without a deposit that may expire now. */
      const endUnpaid = async () => {
        const until = (await findChain(service.db, CHAIN))?.expires_until?.getTime() ?? 0;
        const amounts = (await deposits()).map(each => Number(each.token_amount));
        const held = (await listOpenFindings(service.db, 100)).map(({ address }) => address);
        expect(held.filter(address => address !== flooded)).toEqual([]);
        const over = asked.filter(each => each.endsAt <= until && each.address !== ended);
        return over.filter(
          ({ address, lamports }) => !amounts.includes(lamports) && !held.includes(address),
        );
      };
      const watchers = [startWatcher('a'), startWatcher('b')];
      let current = 0;
      for (const each of acts) {
        chain.showsBlocks = each.kind !== 'hide';
        if (each.kind === 'overtake') {
          current = 1 - current;
          await lapseLease(service.db, CHAIN);
        }
        let left = 'steps' in each ? each.steps : Number.POSITIVE_INFINITY;
        const failure = each.kind === 'kill' ? new Killed() : new NodeFailure('away');
        const step = (at: 'call' | 'commit') => {
          if (each.kind === 'unwritten' && at === 'call') return;
          if (left === 0) throw failure;
          left -= 1;
        };
        try {
          await watchers[current]?.tick(step);
        } catch (error) {
          if (error !== failure) throw error;
          expect(await endUnpaid()).toEqual([]);
          if (error instanceof NodeFailure) continue;
          watchers[current] = startWatcher(current === 0 ? 'a' : 'b');
          await lapseLease(service.db, CHAIN);
        }
      }
      chain.showsBlocks = true;
      service.clock.now = Math.max(service.clock.now, ...sent.map(({ at }) => at + SECOND_MS));
      // A swept payment is found once its payment ends, or its address's turn to be listed comes.
      for (let ticks = 0; ticks < 25; ticks++) {
        await watchers[current]?.tick();
        expect(await endUnpaid()).toEqual([]);
      }
      const found = await deposits();
      expect(found.map(each => each.transaction_hash).sort()).toEqual(
        sent.map(({ signature }) => signature).sort(),
      );
      for (const { transaction_hash: hash, address, outcome, occurred_at: at } of found) {
        const madeAt = sent.find(({ signature }) => signature === hash)?.at ?? 0;
        expect({ hash, outcome }).toEqual({ hash, outcome: address === ended ? 'late' : 'exact' });
        expect((at?.getTime() ?? 0) - madeAt).toBeGreaterThan(-SECOND_MS);
        expect((at?.getTime() ?? 0) - madeAt).toBeLessThan(2 * MINUTE_MS);
      }
    }),
    { numRuns: Number(process.env.FLOODS ?? runs(25)), seed: Number(process.env.SEED ?? 1) },
  );
}, 300_000);
