import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '#config/config.ts';
import { connect } from '#storage/database/connection.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { startTcpProxy } from '../../helpers/tcp-proxy.ts';
import {
  ACTIVE,
  addOlderMerchant,
  ask,
  BODY,
  expectLegacyHeaders,
  expectLegacyRefusal,
  type OlderMerchant,
  PROMPT,
} from './older-contract.ts';

const UUID = '01a1fc15-d527-77d5-87e3-427005d58e87';

let service: TestApp;
let shop: OlderMerchant;
beforeAll(async () => {
  service = await startTestApp();
  shop = await addOlderMerchant(service);
});
afterAll(() => service.close());

describe('every response names its successor in v1, and no date that is not set', () => {
  test.each([
    ['a creation', { body: BODY }, 201, '/external/v1/payments/prompt'],
    ['a refused creation', { body: {} }, 400, '/external/v1/payments/prompt'],
    ['a missing prompt', { path: `${PROMPT}/${UUID}` }, 404, `/external/v1/payments/${UUID}`],
    ['no prompt at all', { path: `${PROMPT}/%3E` }, 404, '/external/v1'],
    ['the networks', {}, 200, '/external/v1/blockchains/active'],
    ['a query', { path: `${ACTIVE}?x=1` }, 200, '/external/v1/blockchains/active'],
    [
      'a stranger',
      { headers: { authorization: undefined } },
      401,
      '/external/v1/blockchains/active',
    ],
    ['an unknown route', { path: '/external/nothing' }, 404, '/external/v1'],
    ['an unreadable path', { path: '/external/%zz' }, 400, '/external/v1'],
  ])('%s', async (_name, request, status, successor) => {
    const response = await ask(service, shop, request);
    expect(response.statusCode).toBe(status);
    expectLegacyHeaders(response, successor);
    expect(response.headers).not.toHaveProperty('sunset');
  });
});

describe('Deprecation and Sunset', () => {
  test('are on every response once they are set', async () => {
    const env = {
      LEGACY_DEPRECATION: '2026-05-01T00:00:00.900Z',
      LEGACY_SUNSET: '2027-06-30T22:00:00-02:00',
    };
    const replica = await startTestApp({ beside: service, env });
    try {
      const requests = [{}, { body: BODY }, { body: {} }, { path: '/external/nothing' }];
      for (const request of [...requests, { path: '/external/%zz' }]) {
        const response = await ask(replica, shop, request);
        expect(response.headers.sunset).toBe('Thu, 01 Jul 2027 00:00:00 GMT');
        expectLegacyHeaders(response, undefined, '@1777593600');
      }
      const v1 = await replica.app.inject({ url: '/external/v1/payments' });
      expect(v1.headers).not.toHaveProperty('sunset');
      expect(v1.headers).not.toHaveProperty('deprecation');
    } finally {
      await replica.close();
    }
  });

  test.each([
    ['2027-01-31', '2027-01-31T00:00:00.000Z'],
    ['2027-01-31T12:00:00Z', '2027-01-31T12:00:00.000Z'],
    ['2028-02-29t12:00:00.5+01:00', '2028-02-29T11:00:00.500Z'],
    ['2027-01-31T12:00', '2027-01-31T12:00:00.000Z'],
  ])('is read from %s', (text, instant) => {
    const config = readConfig({ LEGACY_DEPRECATION: text, LEGACY_SUNSET: text });
    expect(config.legacyDeprecation?.toISOString()).toBe(instant);
    expect(config.legacySunset?.toISOString()).toBe(instant);
    const unset = readConfig({ LEGACY_DEPRECATION: '', LEGACY_SUNSET: '' });
    expect(unset).toMatchObject({ legacyDeprecation: null, legacySunset: null });
  });

  test.each(['soon', '2027', '2027-1-31', '2027-02-30', '2027-13-01', '2027-W01-1'])(
    'is not %s',
    text => {
      const read = () => readConfig({ LEGACY_SUNSET: text });
      expect(read).toThrow(ConfigError);
      expect(read).toThrow(
        /^LEGACY_SUNSET is ".*", but must be an ISO 8601 date-time or date, for example 2030/,
      );
    },
  );
});

test('the end is not before the deprecation', () => {
  const read = () => readConfig({ LEGACY_DEPRECATION: '2027-01-02', LEGACY_SUNSET: '2027-01-01' });
  expect(read).toThrow('LEGACY_SUNSET is before LEGACY_DEPRECATION');
});

describe('failures of the service have the same format', () => {
  test('500, which reveals nothing, while the log has the details', async () => {
    await sql`alter table payments rename to elsewhere`.execute(service.db);
    const responses = [
      await ask(service, shop, { body: BODY }),
      await ask(service, shop, { path: `${PROMPT}/${UUID}` }),
    ];
    await sql`alter table elsewhere rename to payments`.execute(service.db);
    for (const response of responses) {
      expectLegacyRefusal(response, 'internal');
      expect(response.json()).toEqual({
        statusCode: 500,
        message: 'Internal server error',
        error: 'Internal Server Error',
      });
      const { 'x-request-id': reqId } = response.headers;
      expect(service.logs).toContainEqual(
        expect.objectContaining({ reqId, msg: 'request failed', level: 'error' }),
      );
    }
  });

  test('503 while the database is unavailable, which counts against no client', async () => {
    const direct = new URL(service.databaseUrl);
    const proxy = await startTcpProxy(direct.hostname, Number(direct.port || 5432));
    direct.hostname = '127.0.0.1';
    direct.port = String(proxy.port);
    const db = connect({
      url: direct.href,
      poolSize: 2,
      applicationName: 'test-outage',
      onIdleError: () => undefined,
    });
    const replica = await startTestApp({
      beside: { ...service, db, databaseUrl: direct.href },
      env: { RATE_LIMIT_MAX: '3' },
    });
    try {
      await proxy.cut();
      for (let time = 0; time < 5; time++) {
        expectLegacyRefusal(await ask(replica, shop, { body: BODY }), 'unavailable');
      }
      await proxy.open();
      expect((await ask(replica, shop)).statusCode).toBe(200);
    } finally {
      await replica.close();
      await db.destroy();
      await proxy.cut();
    }
  });
});
