import { pick } from './fetch-json.ts';
import { parseTime, type TickerFormat } from './ticker-source.ts';

/** Whole seconds since the Unix epoch. */
const TIME = /^\d{10}$/;

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
  time: body => parseTime(pick(body, 'timestamp'), TIME, text => Number(text) * 1000),
};
