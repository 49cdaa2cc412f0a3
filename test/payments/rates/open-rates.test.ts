import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '#config/config.ts';
import { createFixedRates, FIXED_PRICES } from '#payments/rates/fixed-rates.ts';
import { createLiveRates, openRates } from '#payments/rates/open-rates.ts';
import { RateUnavailable } from '#payments/rates/rate-source.ts';
import { usd } from './market.ts';

/** Every `networks.asset_symbol`. */
const ASSETS = ['AVAX', 'BNB', 'BTC', 'ETH', 'SOL', 'TRX', 'USDC', 'USDT', 'tBTC'];

const context = { clock: Date.now, log: { warn: () => undefined } };

const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://127.0.0.1/payments',
  PUBLIC_URL: 'https://pay.example.com',
  MASTER_KEY: randomBytes(32).toString('base64'),
};

describe('RATES', () => {
  test.each([
    [{}, 'fixed'],
    [{ NODE_ENV: 'test' }, 'fixed'],
    [{ RATES: 'live' }, 'live'],
    [{ RATES: '' }, 'fixed'],
    [PRODUCTION, 'live'],
    [{ ...PRODUCTION, RATES: 'live' }, 'live'],
  ])('%j', (env, expected) => {
    expect(readConfig(env).rates).toBe(expected);
  });

  test('accepts nothing else, and nothing fixed in production', () => {
    expect(() => readConfig({ RATES: 'free' })).toThrow(
      'RATES is "free", but must be one of live, fixed.',
    );
    const inProduction = () => readConfig({ ...PRODUCTION, RATES: 'fixed' });
    expect(inProduction).toThrow(ConfigError);
    expect(inProduction).toThrow('RATES is "fixed", but production needs live.');
  });
});

test('the configuration chooses', async () => {
  expect(await openRates({ rates: 'fixed' }, context).usdPrice('BTC')).toBe(usd('100000'));
  expect(openRates({ rates: 'live' }, context)).toHaveProperty('agreedRate');
});

test('every asset has a fixed rate and a live source', async () => {
  const nobody = 'http://127.0.0.1:1';
  const urls = { coinbase: nobody, kraken: nobody, bitstamp: nobody, okx: nobody };
  const live = createLiveRates(urls, context);
  const fixed = createFixedRates();
  for (const symbol of ASSETS) {
    expect(await fixed.usdPrice(symbol)).toBeGreaterThan(0n);
    await expect(live.usdPrice(symbol)).rejects.toThrow(/ (kraken|okx) gave no usable answer/);
  }
});

describe('fixed rates', () => {
  test('are as configured', async () => {
    const rates = createFixedRates({ ETH: '1234.5', DOGE: '0.1' });
    expect(await rates.usdPrice('ETH')).toBe(usd('1234.5'));
    expect(await rates.usdPrice('DOGE')).toBe(usd('0.1'));
    expect(await rates.usdPrice('TRX')).toBe(usd(FIXED_PRICES.TRX ?? ''));
    expect(await rates.usdPrice('tBTC')).toBe(await rates.usdPrice('BTC'));
    expect(() => createFixedRates({ ETH: '-1' })).toThrow(RangeError);
  });

  test('can be switched off and on', async () => {
    const rates = createFixedRates();
    rates.switchOff('BTC');
    for (const symbol of ['BTC', 'tBTC']) {
      await expect(rates.usdPrice(symbol)).rejects.toThrow(RateUnavailable);
    }
    expect(await rates.usdPrice('ETH')).toBe(usd('4000'));
    rates.switchOn('tBTC');
    expect(await rates.usdPrice('BTC')).toBe(usd('100000'));
  });

  test.each([['DOGE'], ['toString'], ['']])('there is none for %j', async symbol => {
    await expect(createFixedRates().usdPrice(symbol)).rejects.toThrow(RateUnavailable);
  });
});
