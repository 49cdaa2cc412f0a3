import type { BaseLogger } from 'pino';
import type { Clock } from '../time/clock.ts';
import { type Agreement, agree, type SourcedRate } from './agreement.ts';
import { isPegged, isStablecoin, pricedAsset } from './assets.ts';
import { createCircuit } from './circuit.ts';
import { PRICE_SCALE } from './price.ts';
import { type Rate, type RateSource, type Rates, RateUnavailable } from './rate-source.ts';

/** Oldest rate that counts, in milliseconds. */
const FRESH_MS = 60_000;

/** How far a source's clock may be ahead of ours, in milliseconds. */
const AHEAD_MS = 10_000;

/** How long an agreed rate is used again, in milliseconds: a page of quotes asks the sources once. */
const KEPT_MS = 10_000;

/** How long a failure is, in milliseconds: an outage must not become a flood of requests. */
const FAILURE_KEPT_MS = 2_000;

/** Longest to wait for one source, in milliseconds. */
const SOURCE_TIMEOUT_MS = 3_000;

export interface AgreedRates extends Rates {
  /**
   * What the sources agree on, without taking stablecoins for dollars.
   * @throws RateUnavailable
   */
  agreedRate(symbol: string): Promise<Rate>;
}

export interface AgreedRatesOptions {
  readonly sources: readonly RateSource[];
  readonly clock: Clock;
  readonly log: Pick<BaseLogger, 'warn'>;
  readonly sourceTimeoutMs?: number;
}

interface Answer {
  readonly promise: Promise<Rate>;
  readonly since: number;
  /** Up to when it is used again; while it is awaited it always is. */
  until: number;
}

/**
 * Rates that at least two independent, fresh sources agree on.
 *
 * All sources are asked at once, and the answer is there as soon as those missing could not change
 * it, so that one slow source delays nobody. Asking again within seconds gives the same answer, and
 * asking while an answer is on its way waits for that one.
 */
export function createAgreedRates(options: AgreedRatesOptions): AgreedRates {
  const { sources, clock, log, sourceTimeoutMs = SOURCE_TIMEOUT_MS } = options;
  const circuit = createCircuit(clock);
  const answers = new Map<string, Answer>();

  /** @returns The rate, or why this source has no say. */
  async function consult(source: RateSource, symbol: string): Promise<SourcedRate | string> {
    const key = `${source.name} ${symbol}`;
    let rate: Rate;
    try {
      rate = await withTimeout(sourceTimeoutMs, signal => source.fetchRate(symbol, signal));
      circuit.succeeded(key);
    } catch (error) {
      if (circuit.failed(key)) {
        log.warn({ err: error, source: source.name, symbol }, 'rate source suspended');
      }
      return error instanceof RateUnavailable ? error.reason : `${source.name} did not answer`;
    }
    const age = clock() - rate.at;
    if (age > FRESH_MS) return `${source.name} is ${Math.ceil(age / 1000)} s old`;
    if (age < -AHEAD_MS) return `${source.name} is ahead of our clock`;
    return { ...rate, source: source.name };
  }

  function askAll(symbol: string): Promise<Rate> {
    const { promise, resolve, reject } = Promise.withResolvers<Rate>();
    const listing = sources.filter(source => source.lists(symbol));
    const asked = listing.filter(source => circuit.allows(`${source.name} ${symbol}`));
    const problems = listing
      .filter(source => !asked.includes(source))
      .map(source => `${source.name} is suspended after failures`);
    const rates: SourcedRate[] = [];

    function conclude(awaited: number): void {
      const agreement = agree(rates, rates.length + awaited);
      if (agreement !== undefined) resolve(agreement.rate);
      if (awaited > 0) return;
      if (agreement === undefined) reject(new RateUnavailable(symbol, explain(rates, problems)));
      report(symbol, agreement, rates, problems);
    }

    let awaited = asked.length;
    // One source alone settles nothing, so there is no point in waiting for it.
    if (awaited < 2) {
      problems.push(`${awaited} of ${listing.length} sources can be asked`);
      conclude(0);
      return promise;
    }
    for (const source of asked) {
      void consult(source, symbol).then(outcome => {
        if (typeof outcome === 'string') problems.push(outcome);
        else rates.push(outcome);
        awaited -= 1;
        conclude(awaited);
      });
    }
    return promise;
  }

  function report(
    symbol: string,
    agreement: Agreement | undefined,
    rates: readonly SourcedRate[],
    problems: readonly string[],
  ): void {
    if (agreement === undefined) {
      log.warn({ symbol, reason: explain(rates, problems) }, 'no agreed rate');
    } else if (agreement.outliers.length > 0) {
      log.warn({ symbol, outliers: agreement.outliers }, 'rate source disagrees');
    }
  }

  function agreedRate(symbol: string): Promise<Rate> {
    if (!sources.some(source => source.lists(symbol))) {
      return Promise.reject(new RateUnavailable(symbol, 'no source lists it'));
    }
    const now = clock();
    const known = answers.get(symbol);
    if (known !== undefined && known.since <= now && now < known.until) return known.promise;
    const answer: Answer = {
      promise: askAll(symbol),
      since: now,
      until: Number.POSITIVE_INFINITY,
    };
    answers.set(symbol, answer);
    answer.promise.then(
      rate => {
        answer.until = Math.min(clock() + KEPT_MS, rate.at + FRESH_MS);
      },
      () => {
        answer.until = clock() + FAILURE_KEPT_MS;
      },
    );
    return answer.promise;
  }

  return {
    agreedRate,
    async usdPrice(assetSymbol) {
      const symbol = pricedAsset(assetSymbol);
      const { price } = await agreedRate(symbol);
      if (!isStablecoin(symbol)) return price;
      if (!isPegged(price)) throw new RateUnavailable(symbol, 'it has left its peg');
      return PRICE_SCALE;
    },
  };
}

function explain(rates: readonly SourcedRate[], problems: readonly string[]): string {
  const names = rates.map(rate => rate.source).toSorted();
  const said = names.length > 1 ? [`${names.join(', ')} disagree`] : [];
  const alone = names.length === 1 ? [`${names.join()} stands alone`] : [];
  return [...said, ...alone, ...problems.toSorted()].join('; ');
}

/** Rejects when time is up, even if what was started does not look at its signal. */
async function withTimeout<T>(
  milliseconds: number,
  start: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeout = new AbortController();
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new Error(`no answer within ${milliseconds} ms`);
    timeout.abort(error);
    reject(error);
  }, milliseconds);
  try {
    return await Promise.race([start(timeout.signal), expired]);
  } finally {
    clearTimeout(timer);
  }
}
