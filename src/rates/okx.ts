import { isPegged } from './assets.ts';
import { pick } from './fetch-json.ts';
import { PRICE_SCALE } from './price.ts';
import { type Rate, type RateSource, RateUnavailable } from './rate-source.ts';
import { parseTime, type TickerFormat } from './ticker-source.ts';

/** OKX's public market data; https://www.okx.com/docs-v5/en/#order-book-trading-market-data. */
export const OKX_URL = 'https://www.okx.com';

/** Milliseconds since the Unix epoch. */
const TIME = /^\d{13}$/;

/**
 * Price of the last trade and time of the ticker, against USDT: to be converted.
 *
 * It is here because TRX and BNB would otherwise be left with one source, for want of other
 * well-kept markets against the dollar, and USDC with two.
 */
export const OKX: TickerFormat = {
  name: 'okx',
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
 * Turns a source against USDT into one against the dollar.
 *
 * The conversion takes the rate that other sources agree on, and only while USDT passes for a
 * dollar. So those sources can move this one by 2 % at most, and none of them alone.
 *
 * @param usdtRate Dollars for one USDT as agreed without this source; throws RateUnavailable.
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
