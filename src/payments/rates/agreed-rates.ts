import type { BaseLogger } from 'pino';
import type { RateReadings } from '#telemetry/rate-gauges.ts';
import { type Circuit, createCircuit } from '#time/circuit.ts';
import type { Clock } from '#time/clock.ts';
import { within } from '#time/within.ts';
import { agree, type SourcedRate } from './agreement.ts';
import { isPegged, isStablecoin, pricedAsset } from './assets.ts';
import { PRICE_SCALE } from './price.ts';
import { createRateRecorder } from './rate-readings.ts';
import { type Rate, type RateSource, type Rates, RateUnavailable } from './rate-source.ts';

/** Maximum age of a rate, in milliseconds. */
const FRESH_MS = 60_000;

/** How far a source's clock may be ahead of ours, in milliseconds. */
const AHEAD_MS = 10_000;

/** How long a rate is cached, in milliseconds: a page of quotes queries each source once. */
const CACHED_MS = 10_000;

/** How long a failure is cached, in milliseconds, to avoid a flood of requests in an outage. */
const FAILURE_CACHED_MS = 2_000;

/** Timeout for one source, in milliseconds. */
const SOURCE_TIMEOUT_MS = 3_000;

/** Consecutive failures after which a source is suspended for an asset. */
const MAXIMUM_FAILURES = 3;

/** How long it is suspended, in milliseconds: saves timeouts, but is short next to an outage. */
const SUSPENSION_MS = 30_000;

export interface AgreedRates extends Rates {
  /**
   * The rate that the sources agree on; stablecoins are not rounded to one dollar.
   * @throws RateUnavailable
   */
  agreedRate(symbol: string): Promise<Rate>;
  observe(): Promise<RateReadings>;
}

interface AgreedRatesOptions {
  readonly sources: readonly RateSource[];
  readonly clock: Clock;
  readonly log: Pick<BaseLogger, 'warn'>;
  readonly sourceTimeoutMs?: number;
}

interface CachedRate {
  readonly promise: Promise<Rate>;
  readonly since: number;
  /** When the entry expires; infinite while the sources are being queried. */
  until: number;
}

/**
 * Rates that at least two independent, fresh sources agree on.
 *
 * Queries all sources at once and resolves as soon as the missing ones cannot change the result, so
 * one slow source delays no caller. Results are cached for seconds; concurrent calls share a query.
 */
export function createAgreedRates(options: AgreedRatesOptions): AgreedRates {
  const { sources, clock, log, sourceTimeoutMs = SOURCE_TIMEOUT_MS } = options;
  const circuits = new Map<string, Circuit>();
  const cache = new Map<string, CachedRate>();
  const recorder = createRateRecorder(clock);

  function circuitOf(source: RateSource, symbol: string): Circuit {
    const key = `${source.name} ${symbol}`;
    const circuit =
      circuits.get(key) ??
      createCircuit({ clock, maximumFailures: MAXIMUM_FAILURES, pauseMs: SUSPENSION_MS });
    circuits.set(key, circuit);
    return circuit;
  }

  /** @returns The rate, or the reason why it does not count. */
  async function query(source: RateSource, symbol: string): Promise<SourcedRate | string> {
    const circuit = circuitOf(source, symbol);
    circuit.attempt();
    const timeout = new AbortController();
    let rate: Rate;
    try {
      // Does not wait even for a source that ignores its signal.
      rate = await within(sourceTimeoutMs, source.fetchRate(symbol, timeout.signal), () => {
        const late = new Error(`no response within ${sourceTimeoutMs} ms`);
        timeout.abort(late);
        return late;
      });
      circuit.succeeded();
      recorder.responded(source.name, rate);
    } catch (error) {
      recorder.failed(source.name, symbol);
      if (circuit.failed()) {
        log.warn({ err: error, source: source.name, symbol }, 'rate source suspended');
      }
      return error instanceof RateUnavailable ? error.reason : `${source.name} did not answer`;
    }
    const age = clock() - rate.at;
    if (age > FRESH_MS) return `${source.name} is ${Math.ceil(age / 1000)} s old`;
    if (age < -AHEAD_MS) return `${source.name} is ahead of our clock`;
    return { ...rate, source: source.name };
  }

  function queryAll(symbol: string): Promise<Rate> {
    const { promise, resolve, reject } = Promise.withResolvers<Rate>();
    const listing = sources.filter(source => source.lists(symbol));
    const available = listing.filter(source => !circuitOf(source, symbol).isOpen());
    const problems = listing
      .filter(source => !available.includes(source))
      .map(source => `${source.name} is suspended after failures`);
    const rates: SourcedRate[] = [];

    function conclude(pending: number): void {
      const agreement = agree(rates, rates.length + pending);
      if (agreement !== undefined) resolve(agreement.rate);
      if (pending > 0) return;
      if (agreement === undefined) {
        const reason = explain(rates, problems);
        log.warn({ symbol, reason }, 'no agreed rate');
        reject(new RateUnavailable(symbol, reason));
      } else if (agreement.outliers.length > 0) {
        log.warn({ symbol, outliers: agreement.outliers }, 'rate source disagrees');
      }
    }

    let pending = available.length;
    // A single source cannot reach an agreement, so it is not asked.
    if (pending < 2) {
      problems.push(`${pending} of ${listing.length} sources are available`);
      conclude(0);
      return promise;
    }
    for (const source of available) {
      void query(source, symbol).then(outcome => {
        if (typeof outcome === 'string') problems.push(outcome);
        else rates.push(outcome);
        pending -= 1;
        conclude(pending);
      });
    }
    return promise;
  }

  function agreedRate(symbol: string): Promise<Rate> {
    if (!sources.some(source => source.lists(symbol))) {
      return Promise.reject(new RateUnavailable(symbol, 'no source lists it'));
    }
    const now = clock();
    const cached = cache.get(symbol);
    if (cached !== undefined && cached.since <= now && now < cached.until) return cached.promise;
    const entry: CachedRate = {
      promise: queryAll(symbol),
      since: now,
      until: Number.POSITIVE_INFINITY,
    };
    cache.set(symbol, entry);
    entry.promise.then(
      rate => {
        entry.until = Math.min(clock() + CACHED_MS, rate.at + FRESH_MS);
      },
      () => {
        entry.until = clock() + FAILURE_CACHED_MS;
      },
    );
    return entry.promise;
  }

  async function priceOf(symbol: string): Promise<bigint> {
    const { price } = await agreedRate(symbol);
    if (!isStablecoin(symbol)) return price;
    if (!isPegged(price)) throw new RateUnavailable(symbol, 'it has left its peg');
    return PRICE_SCALE;
  }

  async function usdPrice(assetSymbol: string): Promise<bigint> {
    const symbol = pricedAsset(assetSymbol);
    try {
      const price = await priceOf(symbol);
      recorder.priced(symbol, true);
      return price;
    } catch (error) {
      recorder.priced(symbol, false);
      throw error;
    }
  }

  return {
    agreedRate,
    usdPrice,
    async observe() {
      await Promise.allSettled(recorder.unavailable().map(usdPrice));
      return recorder.readings();
    },
  };
}

function explain(rates: readonly SourcedRate[], problems: readonly string[]): string {
  const names = rates.map(rate => rate.source).toSorted();
  const disagreement = names.length > 1 ? [`${names.join(', ')} disagree`] : [];
  const single = names.length === 1 ? [`only ${names.join()} has a rate`] : [];
  return [...disagreement, ...single, ...problems.toSorted()].join('; ');
}
