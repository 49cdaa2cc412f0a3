import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chainOf, listChains } from '#chains/chain-list.ts';
import {
  createDailyQuota,
  type Look,
  SPENT_PAUSE_MS,
  stretchedPause,
} from '#chains/nodes/daily-quota.ts';
import { lookAt } from '#onchain/watching/loop/idle-watch.ts';
import { utcDay } from '#time/days.ts';
import { runs } from '../../helpers/property-runs.ts';

const SECOND_MS = 1_000;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;
const MIDNIGHT = Date.UTC(2026, 4, 17);

const chains = fc.constantFrom(...listChains());
const kinds = fc.constantFrom<Look['kind']>('open', 'late', 'idle');
const calls = fc.integer({ min: 0, max: 5_000_000 });
const costs = fc.integer({ min: 1, max: 400 });
const rests = fc.integer({ min: 1, max: DAY_MS });

describe('a stretched pause', () => {
  test('is never shorter than the chain’s own, nor longer than what keeps the network offered', () => {
    fc.assert(
      fc.property(chains, kinds, calls, costs, rests, (chain, kind, left, cost, ms) => {
        const look = lookAt(chain, kind);
        const pause = stretchedPause({ calls: left, ms }, cost, look);
        expect(pause).toBeGreaterThanOrEqual(look.ownMs);
        const isSpent = left * (kind === 'open' ? 1 : 0.25) < cost;
        if (isSpent) expect(pause).toBe(SPENT_PAUSE_MS);
        else expect(pause).toBeLessThan(chain.offeredLagMs);
      }),
    );
  });

  test('is shorter with open payments, and with more calls left', () => {
    fc.assert(
      fc.property(chains, calls, calls, costs, rests, (chain, left, more, cost, ms) => {
        const pauseOf = (kind: Look['kind'], count: number) =>
          stretchedPause({ calls: count, ms }, cost, lookAt(chain, kind));
        const open = pauseOf('open', left);
        expect(open).toBeLessThanOrEqual(pauseOf('late', left));
        expect(open).toBeLessThanOrEqual(pauseOf('idle', left));
        expect(pauseOf('open', left + more)).toBeLessThanOrEqual(open);
      }),
    );
  });
});

/** A watcher whose looks all cost the same. */
class Watcher {
  now: number;
  made = 0;
  looks: number[] = [];
  readonly #perDay: number | null;
  #written = { day: '2026-05-17', calls: 0 };
  quota: ReturnType<typeof createDailyQuota>;

  constructor(perDay: number | null, now = MIDNIGHT) {
    this.#perDay = perDay;
    this.now = now;
    this.quota = this.#open();
  }

  #open() {
    const before = this.made;
    const made = () => this.made - before;
    return createDailyQuota({ perDay: this.#perDay, made, clock: () => this.now });
  }

  /** Restarts the process, which reads the counts from the database. */
  restart(written: number): void {
    this.quota = this.#open();
    this.#written = { day: '2026-05-17', calls: written };
  }

  watch(look: Look, until: number, cost: number): void {
    while (this.now < until) {
      this.#write();
      if (this.quota.isDue(look)) {
        this.quota.begin(look);
        this.looks.push(this.now);
        this.made += cost;
      }
      this.now += look.ownMs;
    }
  }

  /** Writes the calls at each step, under the current day. */
  #write(): void {
    const day = utcDay(new Date(this.now));
    const unwritten = this.quota.unwritten();
    const former = this.#written.day === day ? this.#written.calls : 0;
    this.#written = { day, calls: former + unwritten };
    this.quota.wrote(unwritten, this.#written);
  }

  get longest(): number {
    const pauses = this.looks.slice(1).map((at, index) => at - (this.looks[index] ?? at));
    return Math.max(...pauses);
  }
}

describe('a daily quota', () => {
  test('is used at a steady rate, if the network stays offered with it', () => {
    fc.assert(
      fc.property(
        chains,
        costs,
        fc.double({ min: 1.01, max: 40, noNaN: true }),
        (chain, cost, factor) => {
          const look = lookAt(chain, 'open');
          // The least with which no look has to wait too long; a pause ends with a look of the loop.
          const least = (DAY_MS / (look.longestMs - look.ownMs)) * cost;
          const perDay = Math.ceil(least * factor);
          const watcher = new Watcher(perDay);
          watcher.watch(look, MIDNIGHT + DAY_MS, cost);
          expect(watcher.made).toBeLessThanOrEqual(perDay);
          expect(watcher.longest).toBeLessThan(chain.offeredLagMs);
          // The quota is used up: a look is worth more than an unused call.
          const unhurried = Math.floor(DAY_MS / look.ownMs) * cost;
          expect(watcher.made).toBeGreaterThan(Math.min(perDay, unhurried) / 2 - 2 * cost);
        },
      ),
      { numRuns: runs(30) },
    );
  });

  test('that is too small lasts as long as the network stays offered, and then a look takes minutes', () => {
    const chain = chainOf('eth');
    const look = lookAt(chain, 'open');
    const watcher = new Watcher(1_000);
    watcher.watch(look, MIDNIGHT + DAY_MS, 4);
    const late = watcher.looks.findIndex(
      (at, index) => at - (watcher.looks[index - 1] ?? at) > look.longestMs,
    );
    expect(late).toBe(250);
    expect(watcher.longest).toBe(SPENT_PAUSE_MS);
    watcher.now -= 1;
    expect(watcher.quota.isSpent()).toBe(true);
    watcher.now += 1;
    expect(watcher.quota.isSpent()).toBe(false);
    watcher.watch(look, watcher.now + 60 * SECOND_MS, 4);
    expect(watcher.quota.isSpent()).toBe(false);
  });

  test('without a limit does not delay looks', () => {
    const look = lookAt(chainOf('bnb'), 'open');
    const watcher = new Watcher(null);
    watcher.watch(look, MIDNIGHT + 60 * SECOND_MS, 300);
    expect(watcher.looks).toHaveLength(20);
    expect(watcher.quota.isSpent()).toBe(false);
  });

  test('includes the calls of other processes and of an earlier one', () => {
    const look = lookAt(chainOf('eth'), 'open');
    const watcher = new Watcher(20_000, MIDNIGHT + DAY_MS / 2);
    watcher.restart(19_000);
    watcher.watch(look, MIDNIGHT + DAY_MS, 1);
    expect(watcher.made).toBeLessThanOrEqual(1_000);
    expect(watcher.made).toBeGreaterThan(700);
    watcher.restart(20_000);
    watcher.now = MIDNIGHT + DAY_MS - look.ownMs;
    watcher.watch(look, MIDNIGHT + DAY_MS, 1);
    watcher.now -= 1;
    expect(watcher.quota.isSpent()).toBe(true);
  });

  test('is saved for open payments while a chain has none', () => {
    const chain = chainOf('btc');
    const watcher = new Watcher(4_000);
    watcher.watch(lookAt(chain, 'idle'), MIDNIGHT + DAY_MS / 2, 2);
    expect(watcher.made).toBeLessThanOrEqual(2_300);
    expect(watcher.longest).toBeLessThan(chain.offeredLagMs);
    const spent = watcher.made;
    watcher.watch(lookAt(chain, 'open'), MIDNIGHT + DAY_MS, 1);
    expect(watcher.made).toBeLessThanOrEqual(4_000);
    expect(watcher.made - spent).toBeGreaterThan(1_000);
  });
});
