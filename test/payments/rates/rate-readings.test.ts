import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFixedRates } from '#payments/rates/fixed-rates.ts';
import { registerRateGauges } from '#telemetry/rate-gauges.ts';
import { parseExposition, type ScrapedMetric } from '../../telemetry/exposition.ts';
import { type Exchange, reply } from './exchange-server.ts';
import { type Market, openMarket } from './market.ts';

let market: Market;
beforeEach(async () => {
  market = await openMarket();
});
afterEach(() => market.close());

const down = (name: Exchange) =>
  market.exchanges.misbehave(name, response => reply(response, 503, ''));
const quote = (symbol: string) => market.rates.usdPrice(symbol).catch(() => undefined);

/** Every sample of a new scrape, by its labels. */
async function scrape(name: string): Promise<Record<string, number>> {
  const registry = new Registry();
  registerRateGauges(registry, market.rates.observe);
  const metrics: ReadonlyMap<string, ScrapedMetric> = parseExposition(await registry.metrics());
  const samples = metrics.get(name)?.samples ?? [];
  return Object.fromEntries(
    samples.map(({ labels, value }) => [Object.values(labels).join(' '), value]),
  );
}
const ages = () => scrape('eps_rate_source_age_seconds');
const deviations = () => scrape('eps_rate_source_deviation_ratio');
const available = () => scrape('eps_rate_available');

describe('each source', () => {
  test('has the age of its price, also when it is too old to count', async () => {
    market.price('coinbase', 'BTC', '100000', 75_000);
    market.price('okx', 'BTC', '100000', 2_500);
    await quote('BTC');
    await expect
      .poll(ages)
      .toMatchObject({ 'coinbase BTC': 75, 'kraken BTC': 0, 'okx BTC': 2.5, 'kraken USDT': 0 });
    // The age stays as it was when the price was received.
    market.clock.now += 60_000;
    expect(await ages()).toMatchObject({ 'coinbase BTC': 75 });
  });

  test('has its distance from the middle of all', async () => {
    market.price('kraken', 'BTC', '101000');
    market.price('okx', 'BTC', '10000');
    await quote('BTC');
    await expect.poll(deviations).toMatchObject({
      'coinbase BTC': 0,
      'bitstamp BTC': 0,
      'kraken BTC': 0.01,
      'okx BTC': 0.9,
    });
  });

  test('has it also when they do not agree, but not if it is the only one', async () => {
    market.price('kraken', 'TRX', '0.30');
    market.price('okx', 'TRX', '0.34');
    await quote('TRX');
    const both = { 'kraken TRX': 0.0625, 'okx TRX': 0.0625 };
    await expect.poll(deviations).toMatchObject(both);
    expect(await available()).toEqual({ TRX: 0 });
    down('okx');
    market.clock.now += 2_000;
    await expect.poll(deviations).not.toHaveProperty('kraken TRX');
    expect(await ages()).toHaveProperty('kraken TRX');
    expect(await ages()).not.toHaveProperty('okx TRX');
  });
});

describe('an asset', () => {
  test('is reported once it has been requested, and for five minutes', async () => {
    expect(await available()).toEqual({});
    await quote('tBTC');
    expect(await available()).toEqual({ BTC: 1 });
    market.clock.now += 5 * 60_000;
    expect(await available()).toEqual({ BTC: 1 });
    market.clock.now += 1;
    expect(await available()).toEqual({});
    expect(await ages()).toEqual({});
  });

  test('that cannot be quoted is requested at each scrape until it can', async () => {
    for (const name of ['coinbase', 'bitstamp', 'okx'] as const) down(name);
    await quote('BTC');
    expect(await available()).toEqual({ BTC: 0 });
    // Long after the last payer has gone.
    market.clock.now += 60 * 60_000;
    expect(await available()).toEqual({ BTC: 0 });
    for (const name of ['coinbase', 'bitstamp', 'okx'] as const) {
      market.exchanges.misbehave(name, undefined);
    }
    market.clock.now += 30_000;
    expect(await available()).toEqual({ BTC: 1 });
    market.exchanges.requests.length = 0;
    market.clock.now += 30_000;
    expect(await available()).toEqual({ BTC: 1 });
    expect(market.exchanges.requests).toEqual([]);
  });

  test('that has left its peg cannot be quoted, though its sources agree', async () => {
    for (const name of ['coinbase', 'kraken', 'bitstamp'] as const) {
      market.price(name, 'USDT', '0.9');
    }
    await quote('USDT');
    expect(await available()).toEqual({ USDT: 0 });
  });
});

test('constant prices have no readings', () => {
  expect(createFixedRates()).not.toHaveProperty('observe');
});
