import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LANGUAGE_TAGS } from '#surfaces/checkout/page/texts/languages.ts';
import { ADDRESSES, addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { type OpenedCheckout, openCheckout } from '../../helpers/checkout.ts';

const BAND = '<aside class="test-band" aria-label="Test">Test: no real money.</aside>';

let service: TestApp;
let shops: Record<'test' | 'live', MerchantWithKey>;
beforeAll(async () => {
  service = await startTestApp();
  const addresses = { 'btc-test': ADDRESSES['btc-test'] };
  shops = {
    test: await addMerchant(service, { environment: 'test', addresses }),
    live: await addMerchant(service, { addresses }),
  };
});
afterAll(() => service.close());

async function read(checkout: OpenedCheckout, query = ''): Promise<string> {
  const { body, statusCode } = await checkout.get(checkout.path + query);
  expect(statusCode).toBe(200);
  return body;
}

describe.each(['test', 'live'] as const)('of a %s merchant', environment => {
  const isMarked = environment === 'test';

  test('every stage is marked, or none', async () => {
    const checkout = await openCheckout(service, shops[environment]);
    const stages = [
      async () => undefined,
      () => checkout.pick('btc-test'),
      () => checkout.simulate('confirm'),
    ];
    const seen = [];
    for (const play of stages) {
      await play();
      const page = await read(checkout);
      expect(page.includes(BAND)).toBe(isMarked);
      seen.push(/data-stage="(\w+)"/.exec(page)?.[1]);
    }
    expect(seen).toEqual(['choose', 'waiting', 'paid']);
    const cancelled = await openCheckout(service, shops[environment]);
    await cancelled.post('cancel');
    expect((await read(cancelled)).includes(BAND)).toBe(isMarked);
  });

  test('a refused form says so as well', async () => {
    const checkout = await openCheckout(service, shops[environment]);
    const { body, statusCode } = await checkout.post('network', { network: 'btc' });
    expect(statusCode).toBe(409);
    expect(body.includes(BAND)).toBe(isMarked);
  });
});

test('in every language', async () => {
  const checkout = await openCheckout(service, shops.test);
  const said = new Set<string | undefined>();
  for (const tag of LANGUAGE_TAGS) {
    const page = await read(checkout, `?lang=${tag}`);
    said.add(/<aside class="test-band"[^>]*>([^<]+)<\/aside>/.exec(page)?.[1]);
  }
  expect(said).not.toContain(undefined);
  expect(said.size).toBe(LANGUAGE_TAGS.length);
});
