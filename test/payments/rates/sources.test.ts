import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { BITSTAMP, COINBASE, convertFromUsdt, KRAKEN, OKX } from '#payments/rates/exchanges.ts';
import { type RateSource, RateUnavailable } from '#payments/rates/rate-source.ts';
import { createTickerSource } from '#payments/rates/ticker-source.ts';
import { type Exchange, type ExchangeServer, reply, startExchanges } from './exchange-server.ts';
import { usd } from './market.ts';

/** When the sources are asked, and the time of their tickers. */
const NOW = Date.UTC(2026, 4, 17, 12, 0, 0, 0);
const AT = NOW - 5_000;

/** The exchange, its name for Bitcoin, and the expected request. */
const EXCHANGES = [
  ['coinbase', COINBASE, 'BTC-USD', '/products/BTC-USD/ticker'],
  ['kraken', KRAKEN, 'XBTUSD', '/0/public/Ticker?pair=XBTUSD'],
  ['bitstamp', BITSTAMP, 'btcusd', '/api/v2/ticker/btcusd/'],
  ['okx', OKX, 'BTC-USDT', '/api/v5/market/ticker?instId=BTC-USDT'],
] as const;

let exchanges: ExchangeServer;
beforeAll(async () => {
  exchanges = await startExchanges();
});
afterAll(() => exchanges.close());
afterEach(() => {
  for (const [name] of EXCHANGES) exchanges.misbehave(name, undefined);
});

const patience = () => AbortSignal.timeout(10_000);

describe.each(EXCHANGES)('%s', (name, format, market, path) => {
  const source = (): RateSource =>
    createTickerSource(format, exchanges.urls[name as Exchange], () => NOW);
  const list = (price: unknown) => exchanges.list(name, market, () => ({ price, at: AT }));
  const expectUnavailable = () =>
    expect(source().fetchRate('BTC', patience())).rejects.toThrow(RateUnavailable);

  test('gives price and time of the last trade', async () => {
    list('100000.123456');
    exchanges.requests.length = 0;
    const rate = await source().fetchRate('BTC', patience());
    // Kraken gives no time, so that of the request counts.
    const at = name === 'kraken' ? NOW : AT;
    const withMicroseconds = name === 'coinbase' ? Math.floor(at) : at;
    expect(rate).toEqual({ symbol: 'BTC', price: usd('100000.123456'), at: withMicroseconds });
    expect(exchanges.requests).toEqual([`${name} ${path}`]);
  });

  test.each([
    [100000.5],
    ['-1'],
    ['0'],
    ['0.00'],
    ['1e5'],
    [''],
    [null],
    [undefined],
    [['1']],
    ['99999999999999999999'],
    ['0.0000000001'],
    ['100000000.01'],
  ])('refuses a price of %j', async price => {
    list(price);
    await expectUnavailable();
  });

  test.each([
    ['garbage', '<html>maintenance</html>'],
    ['nothing', ''],
    ['half a document', '{"price":"1'],
    ['null', null],
    ['an array', []],
    ['text', '"1"'],
    ['a number', '1'],
    ['an empty object', {}],
    ['another form', { data: 'x', error: 'x', result: [], price: {}, last: [], code: 0 }],
  ])('refuses %s', async (_what, body) => {
    exchanges.misbehave(name, response => reply(response, 200, body));
    await expectUnavailable();
  });

  test.each([[201], [204], [400], [404], [429], [500], [503]])(
    'refuses status %i',
    async status => {
      exchanges.misbehave(name, response => reply(response, status, ''));
      await expectUnavailable();
    },
  );

  test('follows no redirect', async () => {
    list('1');
    exchanges.requests.length = 0;
    exchanges.misbehave(name, response => {
      exchanges.misbehave(name, undefined);
      response.writeHead(302, { location: exchanges.urls[name] + path }).end();
    });
    await expectUnavailable();
    expect(exchanges.requests).toHaveLength(1);
  });

  test.each([
    ['announced', 50_000_000],
    ['unannounced', undefined],
  ])('stops reading a huge body, %s', async (_how, length) => {
    let written = 0;
    let closed = false;
    exchanges.misbehave(name, response => {
      response.writeHead(200, length === undefined ? {} : { 'content-length': length });
      response.on('close', () => {
        closed = true;
      });
      const chunk = Buffer.alloc(65_536, ' ');
      const write = () => {
        while (!closed && written < 50_000_000) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', write);
        }
      };
      write();
    });
    await expectUnavailable();
    while (!closed) await sleep(5);
    expect(written).toBeLessThan(20_000_000);
  });

  test('closes the connection when it breaks, and when a response was refused', async () => {
    exchanges.misbehave(name, response => response.destroy());
    await expectUnavailable();
    const nobody = createTickerSource(format, 'http://127.0.0.1:1', () => NOW);
    await expect(nobody.fetchRate('BTC', patience())).rejects.toThrow(RateUnavailable);
  });

  test('closes the connection as soon as the signal aborts', async () => {
    exchanges.misbehave(name, response => void response.writeHead(200).write('{'));
    // Otherwise the test would wait for the rest of the response.
    await expect(source().fetchRate('BTC', AbortSignal.timeout(100))).rejects.toThrow(
      RateUnavailable,
    );
  });

  test('refuses what it does not list', async () => {
    for (const symbol of ['tBTC', 'DOGE', 'constructor', '__proto__', '']) {
      expect(source().lists(symbol)).toBe(false);
      await expect(source().fetchRate(symbol, patience())).rejects.toThrow(RateUnavailable);
    }
  });
});

test.each([
  ['coinbase', COINBASE, { price: '1', time: 1779019200000 }],
  ['coinbase', COINBASE, { price: '1', time: '2026-05-17 12:00:00' }],
  ['coinbase', COINBASE, { price: '1', time: '2026-13-45T12:00:00Z' }],
  ['coinbase', COINBASE, { price: '1' }],
  ['bitstamp', BITSTAMP, { last: '1', timestamp: 1779019200 }],
  ['bitstamp', BITSTAMP, { last: '1', timestamp: '1779019200000' }],
  ['bitstamp', BITSTAMP, { last: '1' }],
  ['okx', OKX, { code: '0', data: [{ instId: 'BTC-USDT', last: '1', ts: 1779019200000 }] }],
  ['okx', OKX, { code: '0', data: [{ instId: 'BTC-USDT', last: '1', ts: '1779019200' }] }],
] as const)('%s: refuses a time in another form', async (name, format, body) => {
  exchanges.misbehave(name, response => reply(response, 200, body));
  const source = createTickerSource(format, exchanges.urls[name], () => NOW);
  await expect(source.fetchRate('BTC', patience())).rejects.toThrow('no usable time');
});

test.each([
  ['kraken', KRAKEN, { error: ['EQuery:Unknown asset pair'] }],
  ['kraken', KRAKEN, { error: ['EService:Busy'], result: { XXBTZUSD: { c: ['1', '1'] } } }],
  ['kraken', KRAKEN, { result: { XXBTZUSD: { c: ['1', '1'] } } }],
  ['kraken', KRAKEN, { error: [], result: {} }],
  ['kraken', KRAKEN, { error: [], result: { A: { c: ['1'] }, B: { c: ['1'] } } }],
  ['okx', OKX, { code: '51001', msg: 'Instrument ID does not exist', data: [] }],
  ['okx', OKX, { code: '0', data: [{ instId: 'ETH-USDT', last: '1', ts: String(AT) }] }],
] as const)('%s: refuses a response that reports an error', async (name, format, body) => {
  exchanges.misbehave(name, response => reply(response, 200, body));
  const source = createTickerSource(format, exchanges.urls[name], () => NOW);
  await expect(source.fetchRate('BTC', patience())).rejects.toThrow('no usable price');
});

describe('converted from USDT', () => {
  const dollars = (price: string, at = NOW) =>
    convertFromUsdt(
      createTickerSource(OKX, exchanges.urls.okx, () => NOW),
      async () => ({
        symbol: 'USDT',
        price: usd(price),
        at,
      }),
    );

  test('costs what USDT costs, and is as old as the older of the two rates', async () => {
    exchanges.list('okx', 'BNB-USDT', () => ({ price: '800.50', at: AT }));
    expect(await dollars('0.999').fetchRate('BNB', patience())).toEqual({
      symbol: 'BNB',
      price: usd('799.6995'),
      at: AT,
    });
    expect(await dollars('1', AT - 1).fetchRate('BNB', patience())).toMatchObject({ at: AT - 1 });
  });

  test.each([['0.979999'], ['1.020001']])('is no rate with USDT at %s', async price => {
    exchanges.list('okx', 'BNB-USDT', () => ({ price: '800.50', at: AT }));
    await expect(dollars(price).fetchRate('BNB', patience())).rejects.toThrow('left its peg');
  });
});
