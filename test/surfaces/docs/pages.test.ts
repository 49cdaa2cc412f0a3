import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyWebhook } from '#client/index.ts';
import { ERRORS } from '#errors/catalogue.ts';
import { IDEMPOTENCY_KEY_MAXIMUM } from '#payments/idempotency.ts';
import { RETRY_DELAYS_SECONDS } from '#payments/webhooks/retry-schedule.ts';
import { BLOCKCHAIN_IDS } from '#schemas/blockchain.ts';
import { EVENT_TYPES } from '#schemas/event.ts';
import { PAYMENT_STATUSES } from '#schemas/payment.ts';
import { TIMESTAMP_WINDOW_SECONDS } from '#signing/canonical.ts';
import { NONCE_MAXIMUM } from '#signing/check-headers.ts';
import { GUIDE_GROUPS } from '#surfaces/docs/guides/index.ts';
import { LEGACY_REFUSALS } from '#surfaces/legacy/refusal.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { CREATE_VECTOR, LIST_VECTOR } from '../../signing/vector.ts';

const PATHS = [
  '/docs',
  ...GUIDE_GROUPS.flatMap(({ slugs }) => slugs.map(slug => `/docs/${slug}`)),
  '/docs/reference',
  '/docs/errors',
  ...Object.keys(ERRORS).map(code => `/docs/errors/${code}`),
];

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

async function read(path: string, from = service): Promise<string> {
  const answer = await from.app.inject({ url: path });
  expect(answer.statusCode, path).toBe(200);
  return answer.body;
}

describe.each(PATHS)('%s', path => {
  test('is a standalone page with no script but the modules, and nothing from other origins', async () => {
    const page = await read(path);
    expect(page).toMatch(/<title>[^<]+<\/title>/);
    expect(page.match(/<h1>/g)).toHaveLength(1);
    const text = page
      .replaceAll(/<pre[\s\S]*?<\/pre>/g, '')
      .replaceAll(/<script type="module" src="\/docs\/assets\/[\w/.-]+"><\/script>/g, '');
    expect(text).not.toMatch(/<script|\son[a-z]+=|style=|undefined|\[object|NaN/);
    const loaded = [...page.matchAll(/(?:src|<link[^>]* href)="([^"]+)"/g)].map(([, url]) => url);
    expect(loaded.filter(url => !url?.startsWith('/'))).toEqual([]);
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toHaveLength(new Set(ids).size);
  });

  test('says the same as Markdown', async () => {
    const answer = await service.app.inject({ url: `${path}.md` });
    expect(answer.headers['content-type']).toBe('text/markdown; charset=utf-8');
    const [heading = ''] = answer.body.split('\n');
    expect(heading).toMatch(/^# \S/);
    const [, title = ''] = /<h1>([^<]+)<\/h1>/.exec(await read(path)) ?? [];
    expect(heading).toBe(`# ${title}`);
    const text = answer.body.replaceAll(/```[\s\S]*?```/g, '');
    expect(text).not.toMatch(/undefined|\[object|NaN|\{\{|\]\(\/|\]: \//);
  });

  test('links only to what exists', async () => {
    const page = await read(path);
    const links = new Set([...page.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href));
    for (const href of links) {
      if (href.startsWith('https://')) continue;
      const [target = '', fragment] = href.split('#');
      if (target.startsWith('/panel/')) {
        const { statusCode, headers } = await service.app.inject({
          url: target,
          headers: { host: 'pay.example.test' },
        });
        expect([statusCode, headers.location], target).toEqual([
          303,
          `/panel/sign-in?next=${encodeURIComponent(target)}`,
        ]);
        continue;
      }
      const body = target === '' ? page : await read(target);
      if (fragment !== undefined) expect(body, href).toContain(` id="${fragment}"`);
    }
  });
});

test('llms.txt lists every page as Markdown, and all its links work', async () => {
  const text = await read('/llms.txt');
  expect(text).toMatch(/^# .+\n\n> .+\n\n## /);
  const links = [...text.matchAll(/\]\(https:\/\/pay\.example\.test([^)]+)\)/g)].map(
    ([, link = '']) => link,
  );
  expect(links.toSorted()).toEqual(
    [...PATHS.map(path => `${path}.md`), '/openapi.json'].toSorted(),
  );
  for (const link of links) await read(link);
  expect(await read('/docs/index.md')).toBe(await read('/docs.md'));
});

describe('behind a proxy that serves the service below a path', () => {
  let below: TestApp;
  beforeAll(async () => {
    below = await startTestApp({ beside: service, env: { PUBLIC_URL: 'https://a.test/pay' } });
  });
  afterAll(() => below.close());

  test.each(PATHS)('every link of %s starts with that', async path => {
    const page = await read(path, below);
    const links = [...page.matchAll(/(?:href|src)="(\/[^"]*)"/g)].map(([, link]) => link);
    expect(links.filter(link => !link?.startsWith('/pay/'))).toEqual([]);
  });
});

describe('the pages say what the service does:', () => {
  const guide = (slug: string) => read(`/docs/${slug}.md`);

  test('OpenSSL makes the same signatures as the worked examples', async () => {
    const text = await guide('signing');
    for (const value of Object.values(CREATE_VECTOR)) expect(text).toContain(`\`${value}\``);
    expect(text).toContain(`\`${LIST_VECTOR.path}\``);
    expect(text).toContain(`\`${LIST_VECTOR.signature}\``);
  });

  test('the worked example of a webhook verifies', async () => {
    const rows = [...(await guide('webhooks')).matchAll(/^\| `?([\w-]+)`? \| `(.+)` \|$/gm)];
    const values = Object.fromEntries(rows.map(([, name, value]) => [name, value]));
    const { secret, body = '' } = values;
    const now = () => Number(values['webhook-timestamp']) * 1000;
    expect(verifyWebhook({ body, headers: values, secret, now })).toMatchObject({
      type: 'payment_prompt.successful',
    });
  });

  test('every attempt of a delivery, with its delay', async () => {
    const [, table = ''] = (await guide('webhooks')).split('| attempt |');
    const [rows = ''] = table.split('\n\n');
    const units: Record<string, number> = { second: 1, minute: 60, hour: 3600, day: 86_400 };
    const delays = rows
      .split('\n')
      .slice(2)
      .map(row => row.split('|')[2]?.trim() ?? '')
      .map(text => {
        const [, count, unit = ''] = /^(\d+) (\w+?)s?$/.exec(text) ?? [];
        return text === 'at once' ? 0 : Number(count) * (units[unit] ?? Number.NaN);
      });
    expect(delays).toEqual([...RETRY_DELAYS_SECONDS]);
  });

  test('types of events, statuses, networks and messages, each of them', async () => {
    const [webhooks, checkout, older] = await Promise.all(
      ['webhooks', 'checkout', 'older-contract'].map(guide),
    );
    for (const type of EVENT_TYPES) expect(webhooks).toContain(`| \`${type}\` |`);
    for (const status of PAYMENT_STATUSES) expect(checkout).toContain(`| \`${status}\` |`);
    for (const id of BLOCKCHAIN_IDS) expect(checkout).toContain(`\`${id}\``);
    for (const { message } of Object.values(LEGACY_REFUSALS)) {
      const row = older?.split('\n').find(line => line.includes(`| \`${message}\` |`));
      expect(row).toMatch(/\[E\d{4}\]/);
    }
  });

  test('the numbers of error texts', () => {
    expect(ERRORS.E2003.meaning).toContain(` ${TIMESTAMP_WINDOW_SECONDS} seconds`);
    expect(ERRORS.E2001.meaning).toContain(`1 to ${NONCE_MAXIMUM} `);
    expect(ERRORS.E4001.meaning).toContain(` ${IDEMPOTENCY_KEY_MAXIMUM} characters`);
    expect(ERRORS.E4001.remedy).toContain(`1 to ${IDEMPOTENCY_KEY_MAXIMUM} `);
  });

  test('the configured rate limit', async () => {
    const limited = await startTestApp({
      beside: service,
      env: { RATE_LIMIT_MAX: '77', RATE_LIMIT_WINDOW_SECONDS: '120' },
    });
    const text = await read('/docs/idempotency.md', limited);
    await limited.close();
    expect(text).toContain('77 requests in 2 minutes');
  });

  test('the end of the older contract, once there is one', async () => {
    expect(await guide('older-contract')).toContain('It is deprecated, and no date for its end');
    const env = { LEGACY_DEPRECATION: '2026-09-01', LEGACY_SUNSET: '2027-03-01' };
    const ending = await startTestApp({ beside: service, env });
    const text = await read('/docs/older-contract.md', ending);
    await ending.close();
    expect(text).toContain('deprecated since **2026-09-01**, and it ends on **2027-03-01**');
  });
});

test('style sheets and scripts are cached forever and do not count against a rate limit', async () => {
  const limited = await startTestApp({ beside: service, env: { RATE_LIMIT_MAX: '2' } });
  const page = await read('/docs', limited);
  const assets = [
    ...page.matchAll(/(?:rel="stylesheet" href|<script type="module" src)="([^"]+)"/g),
  ];
  const urls = assets.map(([, url = '']) => url);
  expect(urls.map(url => url.split('/').at(-1))).toEqual([
    ...['base.css', 'shell.css', 'style.css', 'scripts.css'],
    'search.js',
  ]);
  for (let count = 0; count < 5; count += 1) {
    for (const url of urls) {
      const asset = await limited.app.inject({ url });
      expect(asset.statusCode).toBe(200);
      expect(asset.headers).toMatchObject({
        'content-type': `text/${url.endsWith('.js') ? 'javascript' : 'css'}; charset=utf-8`,
        'cache-control': 'public, max-age=31536000, immutable',
      });
    }
  }
  await read('/docs/signing', limited);
  expect((await limited.app.inject({ url: '/docs' })).statusCode).toBe(429);
  await limited.close();
});
