import { pick } from './fetch-json.ts';
import type { TickerFormat } from './ticker-source.ts';

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
