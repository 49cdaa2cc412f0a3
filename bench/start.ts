import type { Browser } from 'playwright-core';
import { call } from '../test/deployment/service-process.ts';
import { launchBrowser, PHONE } from '../test/helpers/browser.ts';
import { createDatabase, DURABLE, startPostgres } from './databases.ts';
import { type Finding, median, timed, VoidRun } from './measure.ts';
import { addMerchants, type BenchMerchant } from './merchants.ts';
import { type ServiceState, startRedis, startService } from './processes.ts';
import { requirePrograms } from './required-programs.ts';
import { type Resources, withResources } from './resources.ts';

/** Measured starts and visits; one more of each comes first and warms caches. */
const REPEATS = 5;

/** Measures the start of the service and the first page of a checkout. */
export async function bench(resources: Resources): Promise<Finding[]> {
  requirePrograms();
  const redisUrl = await startRedis(resources);
  const server = await startPostgres(resources, DURABLE);
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'start');
  const { merchants, masterKey } = await addMerchants(db);
  const state = { databaseUrl, masterKey, redisUrl };
  const started = await measureStart(resources, state);
  const { port } = await startService(resources, 'service', state);
  const page = await openCheckout(port, merchants);
  const browser = await launchBrowser();
  resources.defer(() => browser.close());
  return [started, await measureSize(page), await measureReadiness(browser, page)];
}

/** Time from the start of the process, API with worker, until it reports that it is ready. */
async function measureStart({ signal }: Resources, state: ServiceState): Promise<Finding> {
  const times: number[] = [];
  for (let start = 0; start <= REPEATS; start++) {
    await withResources(signal, async resources => {
      const ms = await timed(() =>
        startService(resources, 'started-service', state, { scriptArguments: ['--with-worker'] }),
      );
      if (start > 0) times.push(ms);
    });
  }
  return {
    subject: 'service ready after its start, in seconds',
    measured: `median of ${times.length}, slowest ${(Math.max(...times) / 1000).toFixed(2)} s`,
    value: median(times) / 1000,
    goal: { relation: '<=', value: 2 },
  };
}

/** Creates a payment and returns the URL of its checkout, on this machine. */
async function openCheckout(port: number, [merchant]: readonly BenchMerchant[]): Promise<string> {
  if (merchant === undefined) throw new Error('there are no merchants');
  const url = `http://127.0.0.1:${port}`;
  const { body } = await call({ url }, merchant.credentials, {
    path: '/external/v1/payments/prompt',
    body: { amount: 4_950 },
  });
  return new URL(new URL(body.checkoutUrl).pathname, url).href;
}

/** Bytes of the page and of everything it refers to, as sent. */
async function measureSize(page: string): Promise<Finding> {
  const html = await download(page);
  const assets = [...html.text.matchAll(/<(?:link|script|img)\b[^>]*?\b(?:href|src)="([^"]+)"/g)];
  const sizes = [html.bytes];
  for (const [, path = ''] of assets) sizes.push((await download(new URL(path, page).href)).bytes);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  return {
    subject: 'first page of the checkout with its style, script and icon, in kB',
    measured: `${sizes.length} files, HTML ${(html.bytes / 1000).toFixed(1)} kB`,
    value: total / 1000,
    goal: { relation: '<=', value: 50 },
  };
}

async function download(url: string): Promise<{ bytes: number; text: string }> {
  const response = await fetch(url);
  const body = Buffer.from(await response.arrayBuffer());
  if (!response.ok) throw new VoidRun(`${url} responded with ${response.status}`);
  // The body has been decompressed, should it ever be sent compressed.
  const bytes = Number(response.headers.get('content-length') ?? body.length);
  return { bytes, text: body.toString() };
}

/** Time from the page's first byte until the browser has loaded it with everything it refers to. */
async function measureReadiness(browser: Browser, url: string): Promise<Finding> {
  const times: number[] = [];
  for (let visit = 0; visit <= REPEATS; visit++) {
    // Each context has an empty cache.
    const context = await browser.newContext({ viewport: PHONE });
    const page = await context.newPage();
    await page.goto(url, { waitUntil: 'load' });
    const ms = await page.evaluate<number>(
      `new Promise(resolve => setTimeout(() => {
         const [{ responseStart, loadEventEnd }] = performance.getEntriesByType('navigation');
         resolve(loadEventEnd - responseStart);
       }))`,
    );
    if (visit > 0) times.push(ms);
    await context.close();
  }
  return {
    subject: 'first page of the checkout loaded after its first byte, in seconds',
    measured: `median of ${times.length}, slowest ${Math.max(...times).toFixed(0)} ms`,
    value: median(times) / 1000,
    goal: { relation: '<=', value: 0.1 },
  };
}
