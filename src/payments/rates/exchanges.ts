import { isPegged } from './assets.ts';
import { pick } from './fetch-json.ts';
import { PRICE_SCALE } from './price.ts';
import { type Rate, type RateSource, RateUnavailable } from './rate-source.ts';
import { parseTime, type TickerFormat } from './ticker-source.ts';

/** For example `2026-05-17T12:00:00.123456Z`. */
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;
/** Whole seconds since the Unix epoch. */
const SECONDS = /^\d{10}$/;
/** Milliseconds since the Unix epoch. */
const MILLISECONDS = /^\d{13}$/;

/**
 * Price and time of the last trade in US dollars.
 *
 * Coinbase does not list TRX and has no USDC market, because it treats USDC as the dollar. BNB
 * trades thinly there, so its last trade is often too old to count.
 */
export const COINBASE: TickerFormat = {
  name: 'coinbase',
  // Coinbase Exchange's public market data; https://docs.cdp.coinbase.com/exchange/.
  url: 'https://api.exchange.coinbase.com',
  markets: new Map([
    ['BTC', 'BTC-USD'],
    ['ETH', 'ETH-USD'],
    ['BNB', 'BNB-USD'],
    ['AVAX', 'AVAX-USD'],
    ['SOL', 'SOL-USD'],
    ['USDT', 'USDT-USD'],
  ]),
  path: market => `/products/${market}/ticker`,
  price: body => pick(body, 'price'),
  time: body => parseTime(pick(body, 'time'), ISO_TIME, Date.parse),
};

/** Last trade price in US dollars; Kraken does not report its time. */
export const KRAKEN: TickerFormat = {
  name: 'kraken',
  // Kraken's REST API; https://docs.kraken.com/api/docs/rest-api/get-ticker-information.
  url: 'https://api.kraken.com',
  markets: new Map([
    // Kraken's symbol for Bitcoin is XBT.
    ['BTC', 'XBTUSD'],
    ['ETH', 'ETHUSD'],
    ['BNB', 'BNBUSD'],
    ['AVAX', 'AVAXUSD'],
    ['SOL', 'SOLUSD'],
    ['TRX', 'TRXUSD'],
    ['USDT', 'USDTUSD'],
    ['USDC', 'USDCUSD'],
  ]),
  path: market => `/0/public/Ticker?pair=${market}`,
  price(body) {
    const errors = pick(body, 'error');
    if (!Array.isArray(errors) || errors.length > 0) return undefined;
    // The only key is the pair's full name, which may differ from the request: XXBTZUSD for XBTUSD.
    const result = pick(body, 'result');
    const names = typeof result === 'object' && result !== null ? Object.keys(result) : [];
    const [name] = names;
    return name === undefined || names.length > 1 ? undefined : pick(result, name, 'c', 0);
  },
};

/** Last trade price in US dollars, and the time of the ticker. */
export const BITSTAMP: TickerFormat = {
  name: 'bitstamp',
  // Bitstamp's public market data; https://www.bitstamp.net/api/.
  url: 'https://www.bitstamp.net',
  markets: new Map([
    ['BTC', 'btcusd'],
    ['ETH', 'ethusd'],
    ['AVAX', 'avaxusd'],
    ['SOL', 'solusd'],
    ['USDT', 'usdtusd'],
    ['USDC', 'usdcusd'],
  ]),
  path: market => `/api/v2/ticker/${market}/`,
  price: body => pick(body, 'last'),
  time: body => parseTime(pick(body, 'timestamp'), SECONDS, text => Number(text) * 1000),
};

/**
 * Last trade price in USDT, to be converted to dollars, and the time of the ticker.
 *
 * Without OKX, TRX and BNB would have one source each, for lack of other well-maintained dollar
 * markets, and USDC two.
 */
export const OKX: TickerFormat = {
  name: 'okx',
  // OKX's public market data; https://www.okx.com/docs-v5/en/#order-book-trading-market-data.
  url: 'https://www.okx.com',
  markets: new Map([
    ['BTC', 'BTC-USDT'],
    ['ETH', 'ETH-USDT'],
    ['BNB', 'BNB-USDT'],
    ['AVAX', 'AVAX-USDT'],
    ['SOL', 'SOL-USDT'],
    ['TRX', 'TRX-USDT'],
    ['USDC', 'USDC-USDT'],
  ]),
  path: market => `/api/v5/market/ticker?instId=${market}`,
  price(body, market) {
    const valid = pick(body, 'code') === '0' && pick(body, 'data', 0, 'instId') === market;
    return valid ? pick(body, 'data', 0, 'last') : undefined;
  },
  time: body => parseTime(pick(body, 'data', 0, 'ts'), MILLISECONDS, Number),
};

/**
 * Converts a source that quotes in USDT to US dollars.
 *
 * Uses the USDT rate that the other sources agree on, and only while USDT is within 2 % of a
 * dollar. So those sources can shift this one by at most 2 %, and no single one of them can.
 *
 * @param usdtRate Dollars for one USDT, agreed without this source; throws RateUnavailable.
 */
export function convertFromUsdt(source: RateSource, usdtRate: () => Promise<Rate>): RateSource {
  return {
    ...source,
    async fetchRate(symbol, signal) {
      const [rate, usdt] = await Promise.all([source.fetchRate(symbol, signal), usdtRate()]);
      if (!isPegged(usdt.price)) {
        throw new RateUnavailable(symbol, `${source.name} is in USDT, which has left its peg`);
      }
      return {
        symbol,
        price: (rate.price * usdt.price) / PRICE_SCALE,
        at: Math.min(rate.at, usdt.at),
      };
    },
  };
}
