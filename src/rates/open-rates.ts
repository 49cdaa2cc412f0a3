import type { BaseLogger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Clock } from '../time/clock.ts';
import { type AgreedRates, createAgreedRates } from './agreed-rates.ts';
import { BITSTAMP, BITSTAMP_URL } from './bitstamp.ts';
import { COINBASE, COINBASE_URL } from './coinbase.ts';
import { createFixedRates } from './fixed-rates.ts';
import { KRAKEN, KRAKEN_URL } from './kraken.ts';
import { convertFromUsdt, OKX, OKX_URL } from './okx.ts';
import type { Rates } from './rate-source.ts';
import { createTickerSource } from './ticker-source.ts';

/** Where each market is asked, without a trailing slash. */
export interface SourceUrls {
  readonly coinbase: string;
  readonly kraken: string;
  readonly bitstamp: string;
  readonly okx: string;
}

const LIVE_URLS: SourceUrls = {
  coinbase: COINBASE_URL,
  kraken: KRAKEN_URL,
  bitstamp: BITSTAMP_URL,
  okx: OKX_URL,
};

export interface RatesContext {
  readonly clock: Clock;
  readonly log: Pick<BaseLogger, 'warn'>;
}

/** Opens the rates that the configuration chooses. */
export function openRates(config: Pick<Config, 'rates'>, context: RatesContext): Rates {
  return config.rates === 'live' ? createLiveRates(LIVE_URLS, context) : createFixedRates();
}

/**
 * Rates of four markets. Every asset is on two of them at least: BTC, ETH, AVAX and SOL on all four,
 * BNB and USDT on three, USDC on three, and TRX on Kraken and OKX only, so that it is not offered
 * while either is away.
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
      // OKX has no market for USDT itself, so this asks the other three.
      convertFromUsdt(createTickerSource(OKX, urls.okx, clock), () => rates.agreedRate('USDT')),
    ],
    clock,
    log,
    ...options,
  });
  return rates;
}
