import { pick } from './fetch-json.ts';
import { parseTime, type TickerFormat } from './ticker-source.ts';

/** For example `2026-05-17T12:00:00.123456Z`. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

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
  time: body => parseTime(pick(body, 'time'), TIME, Date.parse),
};
