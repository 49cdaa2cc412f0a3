import { pick } from './fetch-json.ts';
import type { TickerFormat } from './ticker-source.ts';

/** Kraken's public REST interface; https://docs.kraken.com/api/docs/rest-api/get-ticker-information. */
export const KRAKEN_URL = 'https://api.kraken.com';

/** Price of the last trade against the dollar, of which Kraken does not say when it was. */
export const KRAKEN: TickerFormat = {
  name: 'kraken',
  markets: new Map([
    // Bitcoin is XBT there.
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
    // The answer has the pair's full name, XXBTZUSD for XBTUSD: it is the only one there.
    const result = pick(body, 'result');
    const names = typeof result === 'object' && result !== null ? Object.keys(result) : [];
    const [name] = names;
    return name === undefined || names.length > 1 ? undefined : pick(result, name, 'c', 0);
  },
};
