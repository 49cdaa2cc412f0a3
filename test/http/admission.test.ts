import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify from 'fastify';
import { sql } from 'kysely';
import { Client } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { signingHeaders } from '#client/index.ts';
import { Admission } from '#http/admission.ts';
import { Connections } from '#http/connections.ts';
import { registerGracefulClose } from '#http/graceful-close.ts';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { requestPrompt } from '../helpers/prompts.ts';
import { send } from '../helpers/signed-request.ts';

/** A key may use half of them. */
const MOST = 4;

let service: TestApp;
/** As many merchants as fill every slot. */
let shops: readonly MerchantWithKey[];
let shop: MerchantWithKey;
let another: MerchantWithKey;

beforeAll(async () => {
  service = await startTestApp({ env: { REQUESTS_IN_FLIGHT_MAX: String(MOST) } });
  [shop, another] = [await addMerchant(service), await addMerchant(service)];
  shops = [
    shop,
    ...(await Promise.all(Array.from({ length: MOST - 1 }, () => addMerchant(service)))),
  ];
});
afterAll(() => service.close());

const LIST = '/external/v1/payments';
const list = (account = shop) => send(service, account, { path: LIST });

/**
 * Counts creations that wait for a lock on payments. An autovacuum may wait for one as well, and so may the list of a
 * client that has disconnected.
 */
async function waitingForPayments(): Promise<number> {
  const { rows } = await sql`
    select from pg_locks join pg_stat_activity using (pid)
    where not granted and relation = 'payments'::regclass and backend_type = 'client backend'
      and mode = 'RowExclusiveLock'
  `.execute(service.db);
  return rows.length;
}

test('requests up to the limit are processed; others are refused at once with Retry-After', async () => {
  const waiting = await service.db.transaction().execute(async blocker => {
    await sql`lock table payments in access exclusive mode`.execute(blocker);
    const requests = shops.map(it => requestPrompt(service, it, { amount: 5000 }));
    await expect.poll(waitingForPayments).toBe(MOST);

    const refused = await list(another);
    expect(refused.statusCode).toBe(503);
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'x-mp-should-retry': 'true' });
    const create = await requestPrompt(service, another, { amount: 5000 });
    expect(create.json().error.errorCode).toBe('E5002');
    return { requests };
  });
  const answers = await Promise.all(waiting.requests);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201, 201]);
  expect((await list()).json().data).toHaveLength(1);
});

test('a key gets at most half of the slots, and the rest is left to others', async () => {
  const path = '/external/v1/blockchains/active';
  const blocked = await service.db.transaction().execute(async blocker => {
    await sql`lock table payments in access exclusive mode`.execute(blocker);
    // They wait on separate connections, where no read waits behind them.
    const half = Array.from({ length: MOST / 2 }, () =>
      requestPrompt(service, shop, { amount: 5000 }),
    );
    await expect.poll(waitingForPayments).toBe(MOST / 2);
    const next = await send(service, shop, { path });
    expect(next.statusCode).toBe(503);
    expect(next.headers).toMatchObject({ 'retry-after': '1', 'x-mp-should-retry': 'true' });
    expect(next.json().error).toMatchObject({
      errorCode: 'E5002',
      message: 'Too many requests of this key are in flight; nothing was executed.',
    });
    expect((await send(service, another, { path })).statusCode).toBe(200);
    return { half };
  });
  const answers = await Promise.all(blocked.half);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201]);
  expect((await send(service, shop, { path })).statusCode).toBe(200);
});

test('a client without the secret uses up nothing of a share', async () => {
  const thief = { ...shop, secret: `mps_${'0'.repeat(64)}` };
  const answers = await Promise.all([...Array.from({ length: MOST }, () => list(thief)), list()]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401, 401, 200]);
});

test('a refused request frees its slot like one with a response', async () => {
  const bad = { path: '/external/v1/payments?limit=0' };
  for (let time = 0; time < 3 * MOST; time++) {
    expect((await send(service, shop, bad)).statusCode).toBe(400);
  }
  expect((await list()).statusCode).toBe(200);
});

test('an overload logs a line per refusal, and no failure', async () => {
  const failures = service.logs.filter(({ msg }) => msg === 'request failed');
  expect(failures).toEqual([]);
  expect(service.logs).toContainEqual(
    expect.objectContaining({ msg: 'request', status: 503, errorCode: 'E5002' }),
  );
});

test('a client that disconnects before its credentials are known keeps no slot', async () => {
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = service.app.server.address() as AddressInfo;
  const reading = async () => {
    const { rows } = await sql`
      select from pg_locks where not granted and relation = 'api_keys'::regclass`.execute(
      service.db,
    );
    return rows.length;
  };
  for (let time = 0; time < 2; time++) {
    await service.db.transaction().execute(async blocker => {
      await sql`lock table api_keys in access exclusive mode`.execute(blocker);
      const sockets = shops.map(it => {
        const headers = signingHeaders(it, { method: 'GET', path: LIST, now: service.clock() });
        const socket = connect(port, '127.0.0.1');
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
        socket.write(`GET ${LIST} HTTP/1.1\r\nHost: x\r\n${lines.join('')}\r\n`);
        return socket;
      });
      await expect.poll(reading).toBeGreaterThan(0);
      const connections = () =>
        new Promise<number>(resolve =>
          service.app.server.getConnections((_error, count) => resolve(count)),
        );
      await expect.poll(connections).toBe(MOST);
      for (const socket of sockets) socket.destroy();
      await expect.poll(connections).toBe(0);
    });
  }
  expect((await list()).statusCode).toBe(200);
});

/** Sends a request without a signature: overload is checked before credentials. */
async function ask(client: Client) {
  const { statusCode, headers, body } = await client.request({ method: 'GET', path: LIST });
  const { error } = (await body.json()) as { error: Record<string, unknown> };
  return { statusCode, headers, error };
}

/** A client with one connection, which it keeps. */
function openClient(): Client {
  const { port } = service.app.server.address() as AddressInfo;
  const client = new Client(`http://127.0.0.1:${port}`);
  onTestFinished(() => client.destroy());
  return client;
}

/** Runs `work` while every slot is taken by a request that waits for a lock. */
async function overloaded<T>(work: () => Promise<T>): Promise<T> {
  const { waiting, result } = await service.db.transaction().execute(async blocker => {
    await sql`lock table payments in access exclusive mode`.execute(blocker);
    // Creations wait on separate connections, so that those with a slot can be counted.
    const waiting = shops.map(it => requestPrompt(service, it, { amount: 5000 }));
    await expect.poll(waitingForPayments).toBe(MOST);
    return { waiting, result: await work() };
  });
  for (const answer of await Promise.all(waiting)) expect(answer.statusCode).toBe(201);
  return result;
}

test('a refusal has the usual envelope and headers, and the connection stays open', async () => {
  const client = openClient();
  const answers = await overloaded(async () => [await ask(client), await ask(client)]);
  for (const { statusCode, headers, error } of answers) {
    expect(statusCode).toBe(503);
    expect(error).toMatchObject({
      errorCode: 'E5002',
      type: 'api_error',
      userSafeMessage: false,
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': error.requestId,
      'x-mp-should-retry': 'true',
      'retry-after': '1',
      'cache-control': 'no-store',
      connection: 'keep-alive',
    });
  }
  expect((await list()).statusCode).toBe(200);
});

describe('a connection opened while every slot is taken', () => {
  /** Processes one request at a time. */
  async function listen(holdMs: number) {
    const app = Fastify({ forceCloseConnections: 'idle', return503OnClosing: false });
    onTestFinished(() => app.close());
    registerGracefulClose(app, new Connections());
    const admission = new Admission(1);
    app.decorateRequest('keyId', null);
    admission.holdConnections(app, holdMs);
    admission.releaseWhenReady(app);
    app.addHook('onRequest', async (request, reply) => admission.enter(request, reply));
    const gate = Promise.withResolvers<void>();
    const entered = Promise.withResolvers<void>();
    app.get('/slow', async () => {
      entered.resolve();
      await gate.promise;
      return 'slow';
    });
    app.get('/quick', async () => 'quick');
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    const ask = async (path: string) => {
      const client = new Client(address);
      onTestFinished(() => client.destroy());
      const { statusCode } = await client.request({ method: 'GET', path });
      return statusCode;
    };
    const slow = ask('/slow');
    await entered.promise;
    const opened: Socket[] = [];
    app.server.on('connection', socket => opened.push(socket));
    /** Waits until this many connections are held. */
    const held = (count: number) =>
      expect.poll(() => opened.filter(socket => socket.isPaused()).length).toBe(count);
    return { app, address, ask, slow, open: gate.resolve, held };
  }

  test('is served when one is free', async () => {
    const { ask, slow, open, held } = await listen(60_000);
    const quick = [ask('/quick')];
    await held(1);
    open();
    expect([await slow, ...(await Promise.all(quick))]).toEqual([200, 200]);
  });

  test('does not wait for another one that sends nothing', async () => {
    const { address, ask, slow, open, held } = await listen(60_000);
    const silent = connect(Number(new URL(address).port), '127.0.0.1');
    onTestFinished(() => void silent.destroy());
    await held(1);
    const quick = ask('/quick');
    await held(2);
    open();
    expect(await slow).toBe(200);
    // The free slot went to the one that sends nothing; the next that leaves frees it again.
    expect(await ask('/quick')).toBe(200);
    expect(await quick).toBe(200);
  });

  test('gets a response before the server closes', async () => {
    const { app, ask, slow, open, held } = await listen(60_000);
    const quick = ask('/quick');
    await held(1);
    const closed = app.close();
    // Every slot is taken, which Fastify's own handler turns into an error.
    expect(await quick).toBe(500);
    open();
    expect(await slow).toBe(200);
    await closed;
  });

  test('is refused when none is free in time', async () => {
    const { ask, slow, open } = await listen(1);
    expect(await ask('/quick')).toBe(500);
    open();
    expect(await slow).toBe(200);
  });
});

test('health checks and pages get responses meanwhile', async () => {
  await overloaded(async () => {
    for (const url of ['/healthz', '/readyz', '/docs/errors/E5002']) {
      const { port } = service.app.server.address() as AddressInfo;
      expect((await fetch(`http://127.0.0.1:${port}${url}`)).status).toBe(200);
    }
  });
});
