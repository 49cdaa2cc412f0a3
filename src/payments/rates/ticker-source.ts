import type { Clock } from '#time/clock.ts';
import { fetchJson } from './fetch-json.ts';
import { parsePrice } from './price.ts';
import { type RateSource, RateUnavailable } from './rate-source.ts';

/** How a market publishes its tickers. */
export interface TickerFormat {
  readonly name: string;
  /** Where it is published, without a trailing slash. */
  readonly url: string;
  /** The market's identifier for each asset it lists, by our symbol. */
  readonly markets: ReadonlyMap<string, string>;
  /** Path and query of a ticker. */
  path(market: string): string;
  /** The price as found in the body; text in a valid response. */
  price(body: unknown, market: string): unknown;
  /**
   * Time of the price, in milliseconds since the Unix epoch; NaN if the body has none in the
   * expected format. Absent for a market that reports no time: the time of the request is used
   * instead.
   */
  time?(body: unknown): number;
}

/** A source that reads a market's public ticker over HTTP. */
export function createTickerSource(
  format: TickerFormat,
  baseUrl: string,
  clock: Clock,
): RateSource {
  const { name, markets } = format;
  return {
    name,
    lists: symbol => markets.has(symbol),
    async fetchRate(symbol, signal) {
      const market = markets.get(symbol);
      if (market === undefined) throw new RateUnavailable(symbol, `${name} does not list it`);
      const requestedAt = clock();
      let body: unknown;
      try {
        body = await fetchJson(baseUrl + format.path(market), signal);
      } catch (error) {
        throw new RateUnavailable(symbol, `${name} gave no usable answer`, { cause: error });
      }
      const price = parsePrice(format.price(body, market));
      if (price === undefined) throw new RateUnavailable(symbol, `${name} gave no usable price`);
      const at = format.time === undefined ? requestedAt : format.time(body);
      if (Number.isNaN(at)) throw new RateUnavailable(symbol, `${name} gave no usable time`);
      return { symbol, price, at };
    },
  };
}

/**
 * Parses a time, if it is text that matches `format`.
 * @param toTime Converts the text to milliseconds since the Unix epoch.
 * @returns NaN for anything else.
 */
export function parseTime(
  value: unknown,
  format: RegExp,
  toTime: (text: string) => number,
): number {
  return typeof value === 'string' && format.test(value) ? toTime(value) : Number.NaN;
}
