import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ERRORS } from '#errors/catalogue.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { expectRefusal } from '../helpers/refusal.ts';

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());
const open = (url: string) => service.app.inject({ url });

/** The text of a page; fails for any tag that the pages should not have. */
function textOf(page: string): string {
  const text = page
    .replaceAll(/<script type="module" src="[^"<>]+"><\/script>/g, '')
    .replace(
      /<(\/?)(html|head|meta|title|link|body|header|nav|aside|details|summary|main|footer|div|h1|h2|p|ul|li|a|pre|code|span|table|thead|tbody|tr|th|td|label|input|kbd)\b[^<>]*>/g,
      ' ',
    )
    .replace('<!doctype html>', '');
  expect(text).not.toMatch(/[<>]/);
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ');
}

/** Text without the separators of Markdown and markup. */
function bare(text: string): string {
  return text.replace(/[\s`]+/g, '');
}

describe.each(Object.entries(ERRORS))('the page of %s', (errorCode, entry) => {
  test('says what it means, what to do and whether to retry', async () => {
    const answer = await open(`/docs/errors/${errorCode}`);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
    });
    const text = textOf(answer.body);
    const { code, meaning, why, remedy, status } = entry;
    for (const part of [errorCode, code, meaning, ...why, remedy, String(status)]) {
      expect(bare(text)).toContain(bare(part));
    }
    expect(text).toContain(`Retry ${entry.retry ? 'Yes' : 'No'}`);
  });
});

test.each(['E5001', 'E5002'])(
  'after %s no order is created unnoticed under another key',
  async code => {
    const text = textOf((await open(`/docs/errors/${code}`)).body);
    const [, remedy = ''] = / What to do (.*?) See also: /.exec(text) ?? [];
    const lookUp = remedy.indexOf('look the payment up by customerReferenceId');
    const otherKey = remedy.search(/(new|another) (idempotency )?key/);
    expect(lookUp).toBeGreaterThan(-1);
    expect(otherKey).toBeGreaterThan(lookUp);
    if (code === 'E5002') expect(remedy.slice(0, lookUp)).toContain('the same idempotency key');
  },
);

test('the list links to every page', async () => {
  const answer = await open('/docs/errors');
  expect(answer.headers['content-security-policy']).toBe(POLICY);
  const links = [...answer.body.matchAll(/href="\/docs\/errors\/([^"]*)"/g)].map(
    ([, code]) => code,
  );
  expect([...new Set(links)]).toEqual(Object.keys(ERRORS));
  for (const { meaning } of Object.values(ERRORS)) expect(textOf(answer.body)).toContain(meaning);
});

test('an error’s docUrl links to its page, whose style sheet exists', async () => {
  const { error } = (await open('/external/v1/payments')).json();
  const page = await open(error.docUrl.replace('https://pay.example.test', ''));
  expect(textOf(page.body)).toContain('E2001 authentication_required');
  const [, href = ''] = /rel="stylesheet" href="([^"]+)"/.exec(page.body) ?? [];
  const sheet = await open(href);
  expect(sheet.statusCode).toBe(200);
  expect(sheet.headers['content-type']).toBe('text/css; charset=utf-8');
});

test.each([
  'E0000',
  'e1000',
  'E1000 ',
  'E10000',
  '__proto__',
  'constructor',
  'toString',
  '<script>alert(1)</script>',
  '../../package.json',
  '\0',
  'E'.repeat(10_000),
])('there is no page of %j', async code => {
  const answer = await open(`/docs/errors/${encodeURIComponent(code)}`);
  const { message } = expectRefusal(answer, 'E3001');
  expect(message).not.toContain('<');
});
