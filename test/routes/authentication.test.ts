import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliver, type SignedRoute } from '../authentication/subject.ts';
import { testAuthentication } from '../authentication-battery.ts';
import { addMerchant } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { expectRefusal } from '../helpers/refusal.ts';
import { SIGNED_ROUTES } from './signed-routes.ts';

describe('with nonces in PostgreSQL', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startTestApp();
  });
  afterAll(() => service.close());

  for (const route of SIGNED_ROUTES) testAuthentication(route, () => service);
});

describe('the list of signed routes', () => {
  const registered: RouteOptions[] = [];
  const listen = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRoute', route => void registered.push(route));
  };
  let service: TestApp;
  beforeAll(async () => {
    subscribe('fastify.initialization', listen);
    service = await startTestApp();
    unsubscribe('fastify.initialization', listen);
  });
  afterAll(() => service.close());

  test('names every registered route that asks for a key, with what it asks', () => {
    const describeRoute = ({
      method,
      url,
      principals,
      scope,
    }: Omit<SignedRoute, 'request' | 'success'>) =>
      `${method} ${url} ${principals.join(' or ')} ${scope}`;
    const signed = registered.flatMap(({ method, url, config }) =>
      config?.access === undefined
        ? []
        : [describeRoute({ method, url, ...config.access } as SignedRoute)],
    );
    expect(signed.sort()).toEqual(SIGNED_ROUTES.map(describeRoute).sort());
  });

  test('leaves no route of v1 and of partners unsigned', () => {
    const open = registered.filter(
      ({ url, config }) =>
        /^\/external\/(v1|partner)(\/|$)/.test(url) && config?.access === undefined,
    );
    expect(open.map(({ url }) => url)).toEqual([]);
  });
});

test('does not tell in production what the server signed', async () => {
  const service = await startTestApp({
    env: {
      NODE_ENV: 'production',
      DATABASE_URL: 'postgres://unused',
      MASTER_KEY: randomBytes(32).toString('base64'),
    },
  });
  try {
    const credentials = await addMerchant(service);
    const answer = await deliver(service, {
      credentials,
      parts: { method: 'GET', path: '/external/v1/payments', body: '' },
      signed: { path: '/external/v1/payments?limit=1' },
    });
    const { message } = expectRefusal(answer, 'E2007');
    expect(message).not.toContain('/external/v1/payments');
    expect(message).not.toMatch(/[0-9a-f]{64}/);
  } finally {
    await service.close();
  }
});
