import type { Clock } from '../time/clock.ts';
import { fetchJson } from './fetch-json.ts';
import { parsePrice } from './price.ts';
import { type RateSource, RateUnavailable } from './rate-source.ts';

/** How a market publishes its tickers. */
export interface TickerFormat {
  readonly name: string;
  /** What the market calls each asset it lists, by our symbol. */
  readonly markets: ReadonlyMap<string, string>;
  /** Path and query of a ticker. */
  path(market: string): string;
  /** The price as it stands in the body: text, if all is well. */
  price(body: unknown, market: string): unknown;
  /**
   * When the price was true, in milliseconds since the Unix epoch; NaN if the body does not say it
   * as it should. A market that never says is left without: its prices count from when they were
   * asked for.
   */
  time?(body: unknown): number;
}

/** A source that asks a market's public ticker over HTTP. */
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
      const asked = clock();
      let body: unknown;
      try {
        body = await fetchJson(baseUrl + format.path(market), signal);
      } catch (error) {
        throw new RateUnavailable(symbol, `${name} gave no usable answer`, { cause: error });
      }
      const price = parsePrice(format.price(body, market));
      if (price === undefined) throw new RateUnavailable(symbol, `${name} gave no usable price`);
      const at = format.time === undefined ? asked : format.time(body);
      if (Number.isNaN(at)) throw new RateUnavailable(symbol, `${name} gave no usable time`);
      return { symbol, price, at };
    },
  };
}

/**
 * Reads a moment from text of exactly one form.
 * @param toTime From the matching text to milliseconds since the Unix epoch.
 * @returns NaN for anything else.
 */
export function parseTime(value: unknown, form: RegExp, toTime: (text: string) => number): number {
  return typeof value === 'string' && form.test(value) ? toTime(value) : Number.NaN;
}
