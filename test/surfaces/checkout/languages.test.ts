import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatIn } from '#surfaces/checkout/page/format.ts';
import {
  LANGUAGE_TAGS,
  languageOf,
  localeFor,
  preferredLanguage,
} from '#surfaces/checkout/page/texts/languages.ts';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';

let service: TestApp;
let shop: MerchantWithKey;
beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service, { name: 'Tea' });
});
afterAll(() => service?.close());

const accept = (language: string) => ({ accept: 'text/html', 'accept-language': language });

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['*', 'en'],
  ['de', 'de'],
  ['de-CH,de;q=0.9,en;q=0.8', 'de'],
  ['zh-CN,zh;q=0.9,ja;q=0.5', 'ja'],
  ['en;q=0.5,fr;q=0.9', 'fr'],
  ['ar-EG', 'ar'],
  ['pt-PT', 'pt'],
  ['es;q=0', 'en'],
  [',;q=,,x-klingon;q=a', 'en'],
])('a browser that prefers %s gets %s', (header, tag) => {
  expect(preferredLanguage(header)).toBe(tag);
});

test.each([
  ['es', 'es-MX,es;q=0.9', 'es-MX'],
  ['es', 'en,es-US;q=0.8', 'es-MX'],
  ['es', 'es-ES,es-MX;q=0.8', 'es'],
  ['es', undefined, 'es'],
  ['ar', 'ar-EG', 'ar-u-nu-latn'],
] as const)('numbers in %s for %s are those of %s', (tag, header, locale) => {
  expect(localeFor(tag, header)).toBe(locale);
});

test('amounts in right-to-left text keep one order: number, then unit', () => {
  const format = formatIn('ar-u-nu-latn');
  const amounts = [
    format.dollars(123_456),
    format.price(2n * 10n ** 18n),
    format.price(10n ** 15n),
    format.amount(12_500_000n, 9, 'ETH'),
    format.about(12_500_000n, 9, 'ETH'),
  ];
  expect(amounts.map(text => text.replaceAll('\u00a0', ' '))).toEqual(
    ['1,234.56 USD', '2.00 USD', '0.001 USD', '0.0125 ETH', '≈ 0.0125 ETH'].map(
      text => `\u2066${text}\u2069`,
    ),
  );
  expect(formatIn('en-US').amount(12_500_000n, 9, 'ETH')).toBe('0.0125\u00a0ETH');
});

/** All strings of a catalogue with their keys; functions are called with the names of their parameters. */
function stringsOf(texts: object, path = ''): [string, string][] {
  return Object.entries(texts).flatMap(([key, value]): [string, string][] => {
    const name = path === '' ? key : `${path}.${key}`;
    if (typeof value === 'string') return [[name, value]];
    if (typeof value !== 'function') return stringsOf(value, name);
    const values = Array.from({ length: value.length }, (_, index) => `«${index}»`);
    const isMarkup = [
      'chooseBefore',
      'rate',
      'payBefore',
      'warning',
      'returning',
      'contact',
      'seenAt',
    ];
    const given = isMarkup.includes(key) ? values.map(markup => ({ markup })) : values;
    const made = value(...given);
    return [[name, typeof made === 'string' ? made : made.markup]];
  });
}

const english = new Map(stringsOf(languageOf('en').texts));

describe.each(LANGUAGE_TAGS)('the texts in %s', tag => {
  const texts = stringsOf(languageOf(tag).texts);

  test('are all non-empty, and keep their placeholders', () => {
    expect(texts.map(([key]) => key)).toEqual([...english.keys()]);
    for (const [key, text] of texts) {
      expect(text.trim(), key).not.toBe('');
      const places = (of: string) => [...new Set(of.match(/«\d»|\{0\}/g) ?? [])].toSorted();
      expect(places(text), key).toEqual(places(english.get(key) ?? ''));
    }
  });

  test('are not the English ones by mistake', () => {
    if (tag === 'en') return;
    const same = texts.filter(([key, text]) => text.length > 12 && text === english.get(key));
    expect(same).toEqual([]);
  });
});

test('a page is in the browser’s language, with its numbers and its direction', async () => {
  const checkout = await openCheckout(service, shop, { amount: 123_456 });
  const german = await checkout.get(checkout.path, accept('de-AT'));
  expect(german.body).toContain('<html lang="de" dir="ltr">');
  expect(german.body).toContain('<p class="total">1.234,56\u00a0$</p>');
  const arabic = await checkout.get(checkout.path, accept('ar'));
  expect(arabic.body).toContain('<html lang="ar" dir="rtl">');
  await checkout.pick('eth');
  const { token_amount: units } = await checkout.payment();
  const waiting = await checkout.get(checkout.path, accept('de'));
  const shown = waiting.body.match(/id="amount">([\d,]+)</)?.[1];
  const copied = waiting.body.match(/id="copy-amount" data-copy="([\d.]+)"/)?.[1];
  expect(shown).toBe(copied?.replace('.', ','));
  expect(BigInt((copied ?? '').replace('.', '').padEnd(19, '0'))).toBe(BigInt(units ?? 0));
});

test('a language that was chosen by hand is kept by every link, form and redirect', async () => {
  const checkout = await openCheckout(service, shop);
  const url = `${checkout.path}?lang=fr`;
  const { body } = await checkout.get(url, accept('de'));
  expect(body).toContain('<html lang="fr"');
  const actions = [...body.matchAll(/action="([^"]+)"/g)].map(([, action]) => action);
  expect(actions.length).toBeGreaterThan(1);
  expect(actions.filter(action => !action?.endsWith('?lang=fr'))).toEqual([]);
  const picked = await checkout.post('network?lang=fr', { network: 'eth' });
  expect(picked.headers.location).toBe(url);
  const refused = await checkout.post('network?lang=fr', { network: 'nowhere' });
  expect(refused.statusCode).toBe(409);
  expect(refused.body).toContain('<html lang="fr"');
  expect((await checkout.get(`${checkout.path}?lang=xx`, accept('de'))).body).toContain(
    'lang="de"',
  );
  const looked = await checkout.get(`${url}&transaction=abc`);
  expect(looked.body).toContain('<input type="hidden" name="lang" value="fr">');
  const missing = `/checkout/${'x'.repeat(43)}`;
  expect((await checkout.get(missing, accept('ja'))).body).toContain('<html lang="ja"');
});
