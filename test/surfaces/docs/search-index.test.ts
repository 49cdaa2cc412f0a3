import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ERRORS } from '#errors/catalogue.ts';
import type { IndexedPage } from '#surfaces/docs/search-index.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';

/** A reader loads the index on first use of the search: it may be as large as a style sheet or two. */
const GZIPPED_BYTES_MAXIMUM = 15_000;

let service: TestApp;
let index: IndexedPage[];
const ask = (encoding?: string, from = service) =>
  from.app.inject({
    url: '/docs/search.json',
    headers: encoding === undefined ? {} : { 'accept-encoding': encoding },
  });
beforeAll(async () => {
  service = await startTestApp();
  index = (await ask()).json();
});
afterAll(() => service.close());

/** Addresses of the sections that have a word. */
function find(word: string): string[] {
  return index.flatMap(([path, , sections]) =>
    sections
      .filter(([, , words]) => words.split(' ').includes(word))
      .map(([id]) => (id === '' ? path : `${path}#${id}`)),
  );
}

test('is small', async () => {
  const { rawPayload } = await ask('gzip');
  expect(rawPayload.length).toBeLessThan(GZIPPED_BYTES_MAXIMUM);
});

test('has every page, and links only to existing headings', async () => {
  const { body } = await service.app.inject({ url: '/llms.txt' });
  const listed = [...body.matchAll(/\(https:\/\/pay\.example\.test(\/docs[^)]*)\.md\)/g)];
  const paths = listed.map(([, path]) => path).filter(path => path !== '/docs');
  expect(index.map(([path]) => path).toSorted()).toEqual(paths.toSorted());
  for (const [path, title, sections] of index) {
    const page = await service.app.inject({ url: path });
    expect(page.body).toContain(`<h1>${title}</h1>`);
    for (const [id, heading] of sections.slice(1)) {
      expect(heading, `${path}#${id}`).not.toBe('');
      expect(page.body).toContain(` id="${id}"`);
    }
  }
});

test('finds words that pages show as code in some places, and any other word in its first', () => {
  expect(find('trust_proxy').length).toBeGreaterThan(1);
  expect(find('x-mp-signature')).toContain('/docs/signing#the-headers');
  expect(find('ntp')).toEqual(['/docs/quickstart#before-you-go-live']);
  for (const { code } of Object.values(ERRORS)) {
    expect(index.some(([, title]) => title.endsWith(` ${code}`))).toBe(true);
  }
});

test.each([
  ['ipn', '/docs/webhooks#events'],
  ['callbacks', '/docs/webhooks#events'],
  ['shopify', '/docs/libraries#woocommerce'],
  ['euros', '/docs/quickstart#2-create-a-payment'],
])('finds what is called otherwise here: %s', (word, address) => {
  expect(find(word)).toEqual([address]);
});

test('finds why there are no refunds, by a heading', () => {
  const headings = index.flatMap(([path, , sections]) =>
    sections.map(([id, heading]) => [heading, `${path}#${id}`]),
  );
  expect(headings).toContainEqual(['Refunds', '/docs/shop#refunds']);
});

test('leaves out common words, numbers and hashes', () => {
  const words = index.flatMap(([, , sections]) =>
    sections.flatMap(([, , text]) => text.split(' ')),
  );
  expect(words.filter(word => /^(the|and)$|^\d|[0-9a-f]{16}/.test(word))).toEqual([]);
});

test.each(['gzip', 'gzip, deflate, br', 'br;q=1, gzip;q=0.8'])(
  'is compressed for %s',
  async encoding => {
    const { headers, rawPayload } = await ask(encoding);
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    expect(JSON.parse(gunzipSync(rawPayload).toString())).toEqual(index);
  },
);

test.each([undefined, 'identity', 'br', 'gzip;q=0'])('is plain for %s', async encoding => {
  const { headers, body } = await ask(encoding);
  expect(headers['content-encoding']).toBeUndefined();
  expect(headers.vary).toBe('accept-encoding');
  expect(JSON.parse(body)).toEqual(index);
});

test('links below the path that a proxy serves the service under', async () => {
  const below = await startTestApp({ beside: service, env: { PUBLIC_URL: 'https://a.test/pay' } });
  const pages: IndexedPage[] = (await ask(undefined, below)).json();
  const { body } = await below.app.inject({ url: '/docs' });
  await below.close();
  expect(body).toContain('data-index="/pay/docs/search.json"');
  expect(pages.filter(([path]) => !path.startsWith('/pay/docs/'))).toEqual([]);
});
