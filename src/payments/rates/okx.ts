import { isPegged } from './assets.ts';
import { pick } from './fetch-json.ts';
import { PRICE_SCALE } from './price.ts';
import { type Rate, type RateSource, RateUnavailable } from './rate-source.ts';
import { parseTime, type TickerFormat } from './ticker-source.ts';

/** Milliseconds since the Unix epoch. */
const TIME = /^\d{13}$/;

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
  time: body => parseTime(pick(body, 'data', 0, 'ts'), TIME, Number),
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
