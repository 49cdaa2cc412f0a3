import { pick } from './fetch-json.ts';
import { parseTime, type TickerFormat } from './ticker-source.ts';

/** Coinbase Exchange's public market data; https://docs.cdp.coinbase.com/exchange/. */
export const COINBASE_URL = 'https://api.exchange.coinbase.com';

/** As in 2026-05-17T12:00:00.123456Z. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;

/**
 * Price and time of the last trade against the dollar.
 *
 * TRX is not listed, and USDC has no market: Coinbase takes it for the dollar itself. BNB trades
 * thinly there, so that its last trade is often too old to count.
 */
export const COINBASE: TickerFormat = {
  name: 'coinbase',
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
