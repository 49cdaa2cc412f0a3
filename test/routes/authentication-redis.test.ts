import { afterAll, beforeAll, describe, inject } from 'vitest';
import { testAuthentication } from '../authentication-battery.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { REDIS_MISSING } from '../helpers/redis-server.ts';
import { SIGNED_ROUTES } from './signed-routes.ts';

const missing = inject('redisServer') === null;

describe.skipIf(missing)(missing ? REDIS_MISSING : 'with nonces in Redis', () => {
  let service: TestApp;
  beforeAll(async () => {
    service = await startTestApp({ nonces: 'redis' });
  });
  afterAll(() => service.close());

  for (const route of SIGNED_ROUTES) testAuthentication(route, () => service);
});
