import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { REDIS_MISSING } from '../../helpers/redis-server.ts';
import { testAuthentication, testNonces } from '../../http/authentication/battery.ts';
import type { SignedRoute } from '../../http/authentication/subject.ts';
import { SIGNED_ROUTES } from './signed-routes.ts';

describe('with nonces in PostgreSQL', () => {
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

  for (const route of SIGNED_ROUTES) testAuthentication(route, () => service);

  test('every registered route that requires a key is tested, with its requirements', () => {
    const describeRoute = ({
      method,
      url,
      principals,
      testOnly,
      scope,
    }: Omit<SignedRoute, 'request' | 'success' | 'method'> & { method: string }) =>
      `${method} ${url} ${testOnly ? 'test ' : ''}${principals.join(' or ')} ${scope}`;
    const signed = registered.flatMap(({ method, url, config }) =>
      config?.access === undefined
        ? []
        : [describeRoute({ method, url, ...config.access } as SignedRoute)],
    );
    const reads = SIGNED_ROUTES.filter(({ method }) => method === 'GET');
    const heads = reads.map(route => ({ ...route, method: 'HEAD' }));
    expect(signed.sort()).toEqual([...SIGNED_ROUTES, ...heads].map(describeRoute).sort());
  });

  test('no route of v1 and of partners is unsigned', () => {
    const open = registered.filter(
      ({ url, config }) =>
        /^\/external\/(v1|partner)(\/|$)/.test(url) && config?.access === undefined,
    );
    expect(open.map(({ url }) => url)).toEqual([]);
  });
});

const missing = inject('redisServer') === null;

describe.skipIf(missing)(missing ? REDIS_MISSING : 'with nonces in Redis', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startTestApp({ nonces: 'redis' });
  });
  afterAll(() => service.close());

  for (const route of SIGNED_ROUTES) testNonces(route, () => service);
});
