import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAgreedRates } from '#payments/rates/agreed-rates.ts';
import { RateUnavailable } from '#payments/rates/rate-source.ts';
import { type Exchange, reply } from './exchange-server.ts';
import { type Market, openMarket, usd } from './market.ts';

const EVERYBODY: readonly Exchange[] = ['coinbase', 'kraken', 'bitstamp', 'okx'];

/** The timeout of a source in tests that wait for one that hangs. */
const SHORT_MS = 500;

let market: Market;
beforeEach(async () => {
  market = await openMarket();
});
afterEach(() => market.close());

/** Replaces the market by one with the short timeout. */
async function becomeImpatient(): Promise<void> {
  await market.close();
  market = await openMarket(SHORT_MS);
}

const down = (...names: readonly Exchange[]) => {
  for (const name of names) market.exchanges.misbehave(name, response => reply(response, 503, ''));
};
const hang = (...names: readonly Exchange[]) => {
  for (const name of names) market.exchanges.misbehave(name, () => undefined);
};
const up = (...names: readonly Exchange[]) => {
  for (const name of names) market.exchanges.misbehave(name, undefined);
};
const asked = (name: string) =>
  market.exchanges.requests.filter(request => request.startsWith(name)).length;
/** Waits until the last request for the price of Bitcoin has arrived: the price may be known before. */
const everybodyIsAsked = () =>
  // One request per exchange for Bitcoin, and one for USDT, except at OKX.
  expect.poll(() => market.exchanges.requests.length).toBe(2 * EVERYBODY.length - 1);
/** How long a promise takes to settle, in milliseconds. */
const timed = async (promise: Promise<unknown>) => {
  const start = performance.now();
  await promise.catch(() => undefined);
  return performance.now() - start;
};

describe('agreement', () => {
  test('is halfway between the sources’ prices', async () => {
    down('bitstamp', 'okx');
    market.price('coinbase', 'BTC', '100000');
    market.price('kraken', 'BTC', '101000');
    expect(await market.rates.usdPrice('BTC')).toBe(usd('100500'));
    expect(market.warnings).toEqual([]);
  });

  test('does not exist beyond 1.5 %, and names who disagrees', async () => {
    down('bitstamp', 'okx');
    market.price('kraken', 'BTC', '101500.01');
    await expect(market.rates.usdPrice('BTC')).rejects.toMatchObject({
      name: 'RateUnavailable',
      symbol: 'BTC',
      reason: expect.stringContaining('coinbase, kraken disagree'),
    });
  });

  test('leaves out a source that is far off, and logs that', async () => {
    market.price('kraken', 'BTC', '10000');
    expect(await market.rates.usdPrice('BTC')).toBe(usd('100000'));
    await expect.poll(() => market.warnings).toContain('rate source disagrees');
  });

  test('accepts a rate of 60 seconds and no older one', async () => {
    down('kraken', 'okx');
    market.price('bitstamp', 'BTC', '100000', 60_000);
    expect(await market.rates.usdPrice('BTC')).toBe(usd('100000'));
    market.clock.now += 10_000;
    market.price('bitstamp', 'BTC', '100000', 61_000);
    await expect(market.rates.usdPrice('BTC')).rejects.toThrow('bitstamp is 61 s old');
  });

  test('accepts none from the future', async () => {
    down('kraken', 'okx');
    market.price('bitstamp', 'BTC', '100000', -11_000);
    await expect(market.rates.usdPrice('BTC')).rejects.toThrow('bitstamp is ahead of our clock');
  });

  test.each(EVERYBODY)('is possible without %s', async name => {
    down(name);
    expect(await market.rates.usdPrice('BTC')).toBe(usd('100000'));
  });

  test('is not possible with one source', async () => {
    down('coinbase', 'bitstamp', 'okx');
    await expect(market.rates.usdPrice('BTC')).rejects.toThrow('only kraken has a rate');
  });

  test('does not exist when all are down, and does again soon after', async () => {
    down(...EVERYBODY);
    await expect(market.rates.usdPrice('BTC')).rejects.toThrow(RateUnavailable);
    up(...EVERYBODY);
    market.clock.now += 2_000;
    expect(await market.rates.usdPrice('BTC')).toBe(usd('100000'));
  });

  test('treats an invalid price like none', async () => {
    down('bitstamp', 'okx');
    for (const price of [100000, '-100000', '0', '1e5']) {
      market.price('kraken', 'BTC', price);
      await expect(market.rates.usdPrice('BTC')).rejects.toThrow('kraken gave no usable price');
      market.clock.now += 60_000;
    }
  });
});

describe('speed', () => {
  test('one slow source delays no result', async () => {
    hang('okx');
    // Half of a source's timeout.
    expect(await timed(market.rates.usdPrice('BTC'))).toBeLessThan(5_000);
  });

  test('a source that is needed is waited for, but not for long', async () => {
    await becomeImpatient();
    hang('kraken', 'bitstamp', 'okx');
    const took = await timed(market.rates.usdPrice('BTC'));
    // A timer that is set late in a busy tick of the event loop counts from the tick's beginning.
    expect(took).toBeGreaterThan(SHORT_MS / 2);
    expect(took).toBeLessThan(SHORT_MS + 5_000);
  });

  test('a second request within 10 seconds asks no source', async () => {
    await market.rates.usdPrice('BTC');
    await everybodyIsAsked();
    market.exchanges.requests.length = 0;
    market.price('coinbase', 'BTC', '100400');
    market.clock.now += 9_999;
    expect(await market.rates.usdPrice('BTC')).toBe(usd('100000'));
    expect(market.exchanges.requests).toEqual([]);
    market.clock.now += 1;
    down('bitstamp', 'okx');
    expect(await market.rates.usdPrice('BTC')).toBe(usd('100200'));
  });

  test('a cached rate is not kept beyond its 60 seconds', async () => {
    down('kraken', 'okx');
    market.price('bitstamp', 'BTC', '100000', 55_000);
    await market.rates.usdPrice('BTC');
    await everybodyIsAsked();
    market.exchanges.requests.length = 0;
    market.clock.now += 4_999;
    await market.rates.usdPrice('BTC');
    expect(market.exchanges.requests).toEqual([]);
    market.clock.now += 1;
    await market.rates.usdPrice('BTC');
    expect(asked('bitstamp /api/v2/ticker/btcusd/')).toBe(1);
  });

  test('a failure is cached for 2 seconds', async () => {
    down(...EVERYBODY);
    await expect(market.rates.usdPrice('BTC')).rejects.toThrow();
    await everybodyIsAsked();
    market.exchanges.requests.length = 0;
    market.clock.now += 1_999;
    await expect(market.rates.usdPrice('BTC')).rejects.toThrow();
    expect(market.exchanges.requests).toEqual([]);
  });

  test('a hundred concurrent requests share one', async () => {
    const prices = await Promise.all(
      Array.from({ length: 100 }, () => market.rates.usdPrice('BTC')),
    );
    expect(new Set(prices)).toEqual(new Set([usd('100000')]));
    for (const name of ['coinbase', 'kraken', 'bitstamp']) {
      // Bitcoin, and USDT for the conversion.
      await expect.poll(() => asked(name)).toBe(2);
    }
    await expect.poll(() => asked('okx')).toBe(1);
  });

  test('a source that keeps failing is not asked for 30 seconds', async () => {
    await becomeImpatient();
    hang('kraken');
    down('coinbase', 'bitstamp');
    const suspensions = () =>
      market.warnings.filter(text => text === 'rate source suspended').length;
    for (let count = 0; count < 3; count += 1) {
      await expect(market.rates.usdPrice('USDT')).rejects.toThrow(RateUnavailable);
      market.clock.now += 2_000;
    }
    expect(suspensions()).toBe(3);
    market.exchanges.requests.length = 0;
    await expect(market.rates.usdPrice('USDT')).rejects.toThrow('kraken is suspended');
    expect(market.exchanges.requests).toEqual([]);

    // One more failure suspends it again; one success makes it trusted again.
    market.clock.now += 30_000;
    up('coinbase', 'bitstamp');
    expect(await market.rates.usdPrice('USDT')).toBe(usd('1'));
    await expect.poll(suspensions).toBe(4);
    up('kraken');
    market.exchanges.requests.length = 0;
    market.clock.now += 10_000;
    expect(await market.rates.usdPrice('USDT')).toBe(usd('1'));
    expect([asked('kraken'), asked('coinbase')]).toEqual([0, 1]);
    market.clock.now += 20_000;
    expect(await market.rates.usdPrice('USDT')).toBe(usd('1'));
    await expect.poll(() => asked('kraken')).toBe(1);
  });

  test('failures for one asset do not affect the others', async () => {
    for (const name of EVERYBODY) market.price(name, 'ETH', 'nonsense');
    for (let count = 0; count < 4; count += 1) {
      await expect(market.rates.usdPrice('ETH')).rejects.toThrow();
      market.clock.now += 2_000;
    }
    expect(await market.rates.usdPrice('BTC')).toBe(usd('100000'));
  });

  test('a source that ignores its abort signal is not waited for either', async () => {
    const deaf = { name: 'deaf', lists: () => true, fetchRate: () => new Promise<never>(() => {}) };
    const rates = createAgreedRates({
      sources: [deaf, { ...deaf, name: 'deafer' }],
      clock: market.clock,
      log: { warn: () => undefined },
      sourceTimeoutMs: 50,
    });
    expect(await timed(rates.usdPrice('BTC'))).toBeLessThan(5_000);
    await expect(rates.usdPrice('BTC')).rejects.toThrow('deaf did not answer');
  });
});

describe('assets', () => {
  test('TRX needs Kraken and OKX', async () => {
    market.price('kraken', 'TRX', '0.326363');
    market.price('okx', 'TRX', '0.3264');
    expect(await market.rates.usdPrice('TRX')).toBe(usd('0.3263815'));
  });

  test('OKX’s prices do not count without a rate for USDT', async () => {
    market.price('kraken', 'TRX', '0.3264');
    market.price('okx', 'TRX', '0.3264');
    for (const name of ['coinbase', 'kraken', 'bitstamp'] as const) {
      market.price(name, 'USDT', '0.97');
    }
    await expect(market.rates.usdPrice('TRX')).rejects.toThrow('left its peg');
  });

  test('a test asset costs what the real one costs', async () => {
    expect(await market.rates.usdPrice('tBTC')).toBe(usd('100000'));
  });

  test.each([['0.98'], ['0.9995'], ['1'], ['1.02']])('USDT at %s is a dollar', async price => {
    for (const name of EVERYBODY) if (name !== 'okx') market.price(name, 'USDT', price);
    expect(await market.rates.usdPrice('USDT')).toBe(usd('1'));
  });

  test.each([['0.979999'], ['1.020001'], ['0.5']])('USDT at %s is suspended', async price => {
    for (const name of EVERYBODY) if (name !== 'okx') market.price(name, 'USDT', price);
    await expect(market.rates.usdPrice('USDT')).rejects.toThrow('left its peg');
  });

  test('a stablecoin without fresh rates is no dollar', async () => {
    for (const name of EVERYBODY) market.price(name, 'USDC', '1', 61_000);
    down('kraken');
    await expect(market.rates.usdPrice('USDC')).rejects.toThrow(RateUnavailable);
  });

  test.each([['DOGE'], ['btc'], [''], ['constructor'], ['__proto__']])(
    '%j has no rate',
    async symbol => {
      await expect(market.rates.usdPrice(symbol)).rejects.toThrow('no source lists it');
      expect(market.exchanges.requests).toEqual([]);
    },
  );
});
