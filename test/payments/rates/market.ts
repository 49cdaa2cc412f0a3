import type { BaseLogger } from 'pino';
import type { AgreedRates } from '#payments/rates/agreed-rates.ts';
import { createLiveRates } from '#payments/rates/open-rates.ts';
import { type Exchange, type ExchangeServer, startExchanges } from './exchange-server.ts';

/** The four real sources and the exchanges they ask, with a clock that stands still. */
export interface Market {
  readonly exchanges: ExchangeServer;
  readonly rates: AgreedRates;
  readonly clock: { now: number; (): number };
  /** Messages of the log, oldest first. */
  readonly warnings: string[];
  /** Sets the price on one exchange, as of `age` milliseconds ago. */
  price(exchange: Exchange, symbol: string, price: unknown, age?: number): void;
  close(): Promise<void>;
}

const NAMES: Readonly<Record<Exchange, (symbol: string) => string>> = {
  coinbase: symbol => `${symbol}-USD`,
  kraken: symbol => `${symbol === 'BTC' ? 'XBT' : symbol}USD`,
  bitstamp: symbol => `${symbol.toLowerCase()}usd`,
  okx: symbol => `${symbol}-USDT`,
};

/**
 * Starts with Bitcoin at 100,000 and USDT at par everywhere.
 * @param sourceTimeoutMs The timeout of a source. A busy machine responds within ten seconds; tests of
 * sources that hang choose less.
 */
export async function openMarket(sourceTimeoutMs = 10_000): Promise<Market> {
  const exchanges = await startExchanges();
  const clock: Market['clock'] = () => clock.now;
  clock.now = Date.UTC(2026, 4, 17, 12, 0, 0, 0);
  const warnings: string[] = [];
  // Our code always logs an object first and a message second.
  const warn = (_fields: unknown, message?: string) => void warnings.push(message ?? '');
  const log = { warn } as Pick<BaseLogger, 'warn'>;
  const market: Market = {
    exchanges,
    clock,
    warnings,
    rates: createLiveRates(exchanges.urls, { clock, log }, { sourceTimeoutMs }),
    price: (exchange, symbol, price, age = 0) =>
      exchanges.list(exchange, NAMES[exchange](symbol), () => ({ price, at: clock() - age })),
    close: () => exchanges.close(),
  };
  for (const exchange of ['coinbase', 'kraken', 'bitstamp', 'okx'] as const) {
    market.price(exchange, 'BTC', '100000');
    if (exchange !== 'okx') market.price(exchange, 'USDT', '1');
  }
  return market;
}

/** A price from a decimal text in US dollars. */
export function usd(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(18, '0'));
}
