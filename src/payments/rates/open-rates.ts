import type { BaseLogger } from 'pino';
import type { Config } from '#config/config.ts';
import type { Clock } from '#time/clock.ts';
import { type AgreedRates, createAgreedRates } from './agreed-rates.ts';
import { BITSTAMP, COINBASE, convertFromUsdt, KRAKEN, OKX } from './exchanges.ts';
import { createFixedRates } from './fixed-rates.ts';
import type { Rates } from './rate-source.ts';
import { createTickerSource } from './ticker-source.ts';

const LIVE_URLS = {
  coinbase: COINBASE.url,
  kraken: KRAKEN.url,
  bitstamp: BITSTAMP.url,
  okx: OKX.url,
};

/** Base URL of each market, without a trailing slash. */
export type SourceUrls = Readonly<typeof LIVE_URLS>;

interface RatesContext {
  readonly clock: Clock;
  readonly log: Pick<BaseLogger, 'warn'>;
}

/** Creates the rates selected by the configuration. */
export function openRates(config: Pick<Config, 'rates'>, context: RatesContext): Rates {
  return config.rates === 'live' ? createLiveRates(LIVE_URLS, context) : createFixedRates();
}

/**
 * Rates from four markets. BTC, ETH, AVAX and SOL are on all four, BNB, USDT and USDC on three, and
 * TRX on Kraken and OKX only, so TRX is unavailable while either of the two is down.
 */
export function createLiveRates(
  urls: SourceUrls,
  { clock, log }: RatesContext,
  options: { readonly sourceTimeoutMs?: number } = {},
): AgreedRates {
  const rates: AgreedRates = createAgreedRates({
    sources: [
      createTickerSource(COINBASE, urls.coinbase, clock),
      createTickerSource(KRAKEN, urls.kraken, clock),
      createTickerSource(BITSTAMP, urls.bitstamp, clock),
      // OKX has no market for USDT itself, so this queries the other three.
      convertFromUsdt(createTickerSource(OKX, urls.okx, clock), () => rates.agreedRate('USDT')),
    ],
    clock,
    log,
    ...options,
  });
  return rates;
}
