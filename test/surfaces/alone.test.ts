import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiError } from '#errors/api-error.ts';
import { createRateLimits, type RateLimits } from '#http/rate-limit.ts';
import { serverOptions } from '#http/server-options.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { openProcessors, type Processors } from '#payments/processors/open-processor.ts';
import { processorPlugin } from '#surfaces/api/processor/index.ts';
import { checkoutPlugin } from '#surfaces/checkout/page/index.ts';
import { docsPlugin } from '#surfaces/docs/index.ts';
import { createMissingPage } from '#surfaces/docs/missing.ts';
import { createPanelCookies } from '#surfaces/panel/hooks/cookies.ts';
import { panelPlugin } from '#surfaces/panel/index.ts';
import { CpuBudget } from '#time/cpu-budget.ts';
import { addMerchant } from '../helpers/accounts.ts';
import { startTestApp, type TestApp, testConfig } from '../helpers/app.ts';
import { openCheckout } from '../helpers/checkout.ts';
import { NO_LOOK_UPS } from '../helpers/inert.ts';
import { addMerchantUser, HOST } from '../helpers/panel.ts';

/** Each part of the site works on its own, and is then the same as within the whole application. */

const config = testConfig();
const { publicUrl, simulation } = config;

let service: TestApp;
let processors: Processors;

beforeAll(async () => {
  service = await startTestApp();
  processors = await openProcessors(config, service.keyring, service.clock);
});
afterAll(() => service.close());

/** A server with a single plugin. */
async function openAlone(register: (app: TypedApp, limits: RateLimits) => void) {
  const app = Fastify(serverOptions()).withTypeProvider<TypeBoxTypeProvider>();
  const { clock } = service;
  register(app, await createRateLimits(app, { max: 1_000, windowSeconds: 60, clock }));
  await app.ready();
  return app;
}

async function expectSamePages(alone: TypedApp, paths: readonly string[], cookie = '') {
  const headers = { host: HOST, accept: 'text/html', cookie };
  for (const url of paths) {
    const [own, whole] = await Promise.all([
      alone.inject({ url, headers }),
      service.app.inject({ url, headers }),
    ]);
    expect(own.statusCode, url).toBe(200);
    expect(own.body).toBe(whole.body);
  }
  await alone.close();
}

const dependencies = (limits: RateLimits) => ({
  ...service,
  reports: service.db,
  lookUps: NO_LOOK_UPS,
  limits,
  publicUrl,
  simulation,
  ...processors,
  isUnavailable: () => false,
});

test('the checkout', async () => {
  const { path } = await openCheckout(service, await addMerchant(service));
  const alone = await openAlone((app, limits) =>
    app.register(checkoutPlugin, { ...dependencies(limits), prefix: '/checkout' }),
  );
  await expectSamePages(alone, [path, `${path}?lang=de&transaction=x`, `${path}/status`]);
});

test('the panel', async () => {
  const { merchant } = await addMerchant(service);
  const { cookie } = await addMerchantUser(service, merchant.id, 'admin');
  const panelUrl = config.panelUrl ?? publicUrl;
  const alone = await openAlone((app, limits) =>
    app.register(panelPlugin, {
      ...dependencies(limits),
      panelUrl,
      prefix: '/panel',
      admitsDemo: true,
      requestsKept: config.requestLog,
      sendsMail: false,
      addressDelayMs: 0,
      allowsLoopback: true,
      explaining: new CpuBudget(service.clock),
      cookies: createPanelCookies(panelUrl),
      isBreached: async () => false,
      explainUnknownRoute: () => new ApiError('E3001'),
    }),
  );
  const path = `/panel/merchants/${merchant.id}`;
  await expectSamePages(alone, [path, `${path}/payments?search=x`, '/panel/profile'], cookie);
});

test('the pages of the processor', async () => {
  const alone = await openAlone((app, limits) =>
    app.register(processorPlugin, dependencies(limits)),
  );
  await expectSamePages(alone, ['/processor/done']);
});

test('the documentation', async () => {
  const openApi = (await service.app.inject({ url: '/openapi.json' })).json();
  const alone = await openAlone((app, limits) =>
    app.register(docsPlugin, {
      settings: config,
      limits,
      sendMissing: createMissingPage(config),
      writeOpenApi: () => openApi,
    }),
  );
  await expectSamePages(alone, ['/docs', '/docs/quickstart', '/docs/errors/E2007', '/']);
});
