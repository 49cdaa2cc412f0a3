import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyWebhook } from '#client/index.ts';
import { RETRY_DELAYS_SECONDS } from '#payments/webhooks/retry-schedule.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addDelivery, addEndpoint } from '../../helpers/deliveries.ts';
import {
  addMerchantUser,
  cookieOf,
  download,
  NOTICE_COOKIE,
  noticeOf,
  open,
  SURE,
  submit,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';
import { recordEvent } from '../../helpers/record-event.ts';
import { attemptDue } from '../../payments/webhooks/attempt-due.ts';
import { type Receiver, startReceiver, status } from '../../payments/webhooks/receiver.ts';

const HOUR_MS = 60 * 60_000;
const NOW = Date.UTC(2026, 4, 17, 12);

let service: TestApp;
let receiver: Receiver;
let shop: MerchantWithKey;
let payment: Payment;
let admin: Visitor;
let member: Visitor;
let path: string;

beforeAll(async () => {
  [service, receiver] = await Promise.all([startTestApp(), startReceiver()]);
});
/** Each test has its own merchant. */
beforeEach(async () => {
  service.clock.now = NOW;
  shop = await addMerchant(service);
  const { merchant } = shop;
  payment = await addPayment(service.db, merchant, { created_at: new Date(service.clock.now) });
  admin = await addMerchantUser(service, merchant.id, 'admin');
  member = await addMerchantUser(service, merchant.id, 'member', { name: 'Bob' });
  path = `/panel/merchants/${merchant.id}/settings/developer/webhooks`;
  receiver.requests.length = 0;
  receiver.answer = status(200);
});
afterAll(async () => {
  await receiver.close();
  await service.close();
});

const newForm = (url: string, type: readonly string[] = ['all']) => {
  const form = new URLSearchParams({ intent: randomUUID(), url });
  for (const each of type) form.append('type', each);
  return form;
};
const create = (form: URLSearchParams, visitor = admin) =>
  submit(service, `${path}/new`, form as unknown as Record<string, string>, visitor);
const secretOf = ({ body }: { body: string }) =>
  /id="webhook-secret">([^<]+)</.exec(body)?.[1] ?? '';
const endpoints = () =>
  service.db
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('merchant_id', '=', shop.merchant.id)
    .orderBy('id')
    .execute();
const audited = () =>
  service.db
    .selectFrom('audit_log')
    .selectAll()
    .where('account_id', '=', shop.merchant.id)
    .where('origin', '=', 'panel')
    .where('object_type', '=', 'webhook')
    .orderBy('id')
    .execute();
/** Attempts all pending deliveries. */
const attempt = async () => {
  const { db, keyring, clock } = service;
  const ids = (await endpoints()).map(({ id }) => id);
  await attemptDue({ db, keyring, clock, allowPrivateAddresses: true }, ids);
};
const tell = () =>
  recordEvent(service.db, 'payment_prompt.created', payment, new Date(service.clock.now));

describe('an endpoint', () => {
  test('is added with a secret that is shown once, and signs what is delivered', async () => {
    expect(textOf(await open(service, path, admin))).toContain('No endpoint yet.');
    const created = await create(newForm(`${receiver.url}&token=unseen`));
    expect(created.statusCode).toBe(200);
    const secret = secretOf(created);
    expect(textOf(created)).toContain(`WEBHOOK_SECRET=${secret}`);
    const [{ id = '' } = {}] = await endpoints();
    await tell();
    await attempt();
    const [request = { headers: {}, body: '' }] = receiver.requests;
    expect(verifyWebhook({ ...request, secret, now: service.clock }).data.id).toBe(payment.id);
    for (const url of [path, `${path}/${id}`]) {
      const page = await open(service, url, admin);
      expect(page.body).not.toContain('whsec_');
      expect(textOf(page)).toContain('token=unseen');
    }
    const [entry] = await audited();
    expect(entry).toMatchObject({
      action: 'webhook.create',
      actor: admin.email,
      origin: 'panel',
      object_id: id,
      detail: { origin: new URL(receiver.url).origin, types: ['all'] },
    });
    expect(JSON.stringify(await audited())).not.toMatch(/unseen|whsec_|hooks/);
  });

  test('is added once by a form that is sent twice', async () => {
    const form = newForm(receiver.url);
    const answers = await Promise.all([create(form), create(form)]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
    expect(await endpoints()).toHaveLength(1);
  });

  test('receives the ticked events', async () => {
    await create(newForm(receiver.url, ['payment_prompt.successful', 'payment_prompt.expired']));
    await create(newForm(`${receiver.url}&2`, ['all', 'payment_prompt.deposit_unmatched']));
    expect(await endpoints()).toMatchObject([
      { types: ['payment_prompt.successful', 'payment_prompt.expired'], deposit_events: false },
      { types: null, deposit_events: true },
    ]);
  });

  test.each([
    ['no URL', 'shop', ['all'], 'it is not a URL'],
    ['a user in the URL', 'https://a:b@shop.example/', ['all'], 'it must not hold a user'],
    ['no type', 'https://shop.example/', [], 'Tick at least one'],
    [
      'every type and one of them',
      'https://shop.example/',
      ['all', 'payment_prompt.expired'],
      'Every event of a payment is ticked, and some of them as well.',
    ],
  ])('is refused with %s, and the form keeps what was entered', async (_, url, type, reason) => {
    const refused = await create(newForm(url, type));
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain(reason);
    expect(refused.body).toContain(`value="${url}"`);
    const ticked = [...refused.body.matchAll(/value="([^"]+)" checked/g)].map(([, each]) => each);
    expect(ticked).toEqual(type);
    expect(await endpoints()).toEqual([]);
  });

  test('of plain HTTP, or at a private address, is refused in production', async () => {
    const production = await startTestApp({
      beside: service,
      env: {
        NODE_ENV: 'production',
        PANEL_URL: 'https://pay.example.test',
        DATABASE_URL: service.databaseUrl,
        MASTER_KEY: randomBytes(32).toString('base64'),
      },
    });
    try {
      for (const [url, reason] of [
        ['http://shop.example/', 'it has to begin with https://'],
        ['https://10.0.0.1/', '10.0.0.1 is not a public address'],
      ] as const) {
        const form = newForm(url) as unknown as Record<string, string>;
        const refused = await submit(production, `${path}/new`, form, admin);
        expect(refused.statusCode).toBe(422);
        expect(textOf(refused)).toContain(reason);
      }
      // Production does not connect to an existing one either.
      const { endpoint } = await addEndpoint(service, shop.merchant.id, receiver.url);
      const tested = await submit(production, `${path}/${endpoint.id}/test`, {}, admin);
      expect(textOf(tested)).toContain('The URL is not https.');
      await service.db
        .updateTable('webhook_endpoints')
        .set({ url: 'https://localhost/' })
        .where('id', '=', endpoint.id)
        .execute();
      const named = textOf(await submit(production, `${path}/${endpoint.id}/test`, {}, admin));
      expect(named).toContain('localhost is not at a public address');
      // Whoever may add URLs must not learn the addresses of internal names.
      expect(named).not.toMatch(/127\.0\.0\.1|::1/);
      expect(receiver.requests).toEqual([]);
    } finally {
      await production.app.close();
    }
  });

  test('may be mistyped any number of times; ten secrets an hour are made in an account', async () => {
    for (let n = 0; n < 12; n++) {
      expect((await create(newForm('http://'))).statusCode).toBe(422);
    }
    const form = newForm(`${receiver.url}&0`);
    expect((await create(form)).statusCode).toBe(200);
    for (let n = 0; n < 12; n++) expect((await create(form)).statusCode).toBe(409);
    for (let n = 1; n < 10; n++) {
      expect((await create(newForm(`${receiver.url}&${n}`))).statusCode).toBe(200);
    }
    const [{ id = '' } = {}] = await endpoints();
    const rotation = { intent: randomUUID(), ...SURE };
    expect((await create(newForm(`${receiver.url}&10`))).statusCode).toBe(429);
    expect((await submit(service, `${path}/${id}/rotate`, rotation, admin)).statusCode).toBe(429);
    expect(await endpoints()).toHaveLength(10);
  });

  test('is refused beyond the sixteenth', async () => {
    for (let n = 0; n < 16; n++)
      await addEndpoint(service, shop.merchant.id, `http://127.0.0.1:1/${n}`);
    expect(textOf(await open(service, path, admin))).toContain('There are 16 enabled endpoints');
    const refused = await create(newForm('https://shop.example/'));
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain('at most 16 webhook endpoints');
  });

  test('is shown to members without path and query, and they cannot change it', async () => {
    const { endpoint } = await addEndpoint(service, shop.merchant.id);
    const log = [{ status_code: 404, response_excerpt: 'Cannot POST /hooks?token=unseen' }];
    const id = await addDelivery(service, payment, { endpointId: endpoint.id, log });
    const url = `${path}/${endpoint.id}`;
    for (const page of [path, url, `${url}/deliveries/${id}`]) {
      const { statusCode, body } = await open(service, page, member);
      expect(statusCode).toBe(200);
      expect(body).toContain('http://127.0.0.1:1');
      expect(body).not.toMatch(/unseen|127\.0\.0\.1:1\/hooks|\/(test|rotate|disable)"/);
    }
    expect((await submit(service, `${url}/disable`, SURE, member)).statusCode).toBe(403);
    const file = await download(service, `${url}/deliveries.csv`, member);
    expect(file.body).toContain(id);
    expect(file.body).not.toMatch(/unseen|hooks/);
  });

  test('of others looks like a missing one, and so do its deliveries', async () => {
    const { merchant } = await addMerchant(service);
    const { endpoint } = await addEndpoint(service, merchant.id);
    const { endpoint: own } = await addEndpoint(service, shop.merchant.id);
    const theirs = await addDelivery(
      service,
      await addPayment(service.db, merchant, { created_at: new Date(service.clock.now) }),
      { endpointId: endpoint.id },
    );
    const plain = ({ body }: { body: string }) => body.replaceAll(/[0-9a-f-]{36}/g, 'ID');
    const missing = await open(service, `${path}/${randomUUID()}`, admin);
    expect(missing.statusCode).toBe(404);
    for (const url of [
      endpoint.id,
      `${own.id}/deliveries/${theirs}`,
      `${endpoint.id}/deliveries/${theirs}`,
    ]) {
      expect(plain(await open(service, `${path}/${url}`, admin))).toBe(plain(missing));
    }
    const before = await snapshot();
    for (const verb of ['test', 'disable', 'enable', 'rotate', 'redeliver-failed']) {
      const fields = {
        rotate: { intent: randomUUID(), ...SURE },
        disable: SURE,
        'redeliver-failed': { since: '2026-01-01T00:00' },
      };
      const form: Record<string, string> = fields[verb as keyof typeof fields] ?? {};
      const answer = await submit(service, `${path}/${endpoint.id}/${verb}`, form, admin);
      expect({ verb, code: answer.statusCode }).toEqual({ verb, code: 404 });
    }
    for (const id of [own.id, endpoint.id]) {
      const url = `${path}/${id}/deliveries/${theirs}/redeliver`;
      expect((await submit(service, url, {}, admin)).statusCode).toBe(404);
    }
    expect(await snapshot()).toEqual(before);
  });
});

const snapshot = async () =>
  (
    await sql`
      select (select json_agg(e order by id) from webhook_endpoints e) as endpoints,
             (select json_agg(d order by id) from webhook_deliveries d) as deliveries,
             (select count(*) from audit_log) as audited`.execute(service.db)
  ).rows;

test('a rotated secret signs together with the previous one for a day, and its age is shown', async () => {
  const created = await create(newForm(receiver.url));
  const former = secretOf(created);
  const [{ id = '' } = {}] = await endpoints();
  service.clock.now += 40 * 24 * HOUR_MS;
  admin = await addMerchantUser(service, shop.merchant.id, 'admin');
  expect(textOf(await open(service, `${path}/${id}`, admin))).toContain('(40 days)');
  const form = { intent: randomUUID(), ...SURE };
  const asked = await submit(service, `${path}/${id}/rotate`, { intent: form.intent }, admin);
  expect(textOf(asked)).toContain('The former one signs as well until 27 Jun 2026, 12:00 UTC');
  const rotated = await submit(service, `${path}/${id}/rotate`, form, admin);
  const secret = secretOf(rotated);
  expect(secret).toMatch(/^whsec_/);
  expect(secret).not.toBe(former);
  expect((await submit(service, `${path}/${id}/rotate`, form, admin)).statusCode).toBe(409);
  const page = textOf(await open(service, `${path}/${id}`, admin));
  expect(page).toContain('(0 days)');
  expect(page).toContain('Former secret signs until');
  const sent = async () => {
    await tell();
    await attempt();
    return receiver.requests.at(-1) ?? { headers: {}, body: '' };
  };
  const now = () => ({ now: () => service.clock.now });
  const both = await sent();
  for (const each of [former, secret])
    expect(verifyWebhook({ ...both, secret: each, ...now() })).toBeTruthy();
  service.clock.now += 24 * HOUR_MS;
  const later = await sent();
  expect(verifyWebhook({ ...later, secret, ...now() })).toBeTruthy();
  expect(() => verifyWebhook({ ...later, secret: former, ...now() })).toThrow();
});

test('a test shows the response, and is in the audit log without the URL', async () => {
  const { endpoint } = await addEndpoint(service, shop.merchant.id, receiver.url);
  const ask = () => submit(service, `${path}/${endpoint.id}/test`, {}, admin);
  receiver.answer = status(200, {}, '<i>thanks</i>');
  const taken = await ask();
  expect(taken.statusCode).toBe(200);
  expect(textOf(taken)).toContain('Your server took the event. HTTP 200');
  expect(taken.body).toContain('&lt;i&gt;thanks');
  receiver.answer = status(410);
  expect(textOf(await ask())).toContain('this response would disable the endpoint');
  receiver.answer = status(302, { location: 'https://elsewhere.example/' });
  expect(textOf(await ask())).toContain('Redirects are not followed.');
  expect((await endpoints()).map(each => each.disabled_at)).toEqual([null]);
  const details = (await audited()).map(({ action, detail }) => ({ action, detail }));
  expect(details).toEqual([
    { action: 'webhook.test', detail: { statusCode: 200, problem: null } },
    { action: 'webhook.test', detail: { statusCode: 410, problem: 'gone' } },
    { action: 'webhook.test', detail: { statusCode: 302, problem: 'redirect' } },
  ]);
  for (let n = 0; n < 7; n++) expect((await ask()).statusCode).toBe(200);
  expect((await ask()).statusCode).toBe(429);
});

test('an endpoint is disabled with a reason, which cancels pending deliveries until it is enabled again', async () => {
  const { endpoint } = await addEndpoint(service, shop.merchant.id);
  const id = await addDelivery(service, payment, { endpointId: endpoint.id, status: 'pending' });
  const url = `${path}/${endpoint.id}`;
  const disabled = await submit(service, `${url}/disable`, SURE, admin);
  expect(disabled.headers.location).toBe(url);
  expect(noticeOf(disabled)?.text).toBe('Disabled: http://127.0.0.1:1 is sent nothing any more.');
  const page = textOf(await open(service, url, member));
  expect(page).toContain('This endpoint is disabled, and is sent nothing. Disabled by Ada.');
  expect(textOf(await open(service, `${url}/deliveries/${id}`, member))).toContain('cancelled');
  const refusals = [`${url}/disable`, `${url}/rotate`, `${url}/deliveries/${id}/redeliver`];
  for (const each of refusals) {
    const form = each.endsWith('rotate') ? { intent: randomUUID() } : {};
    const refused = await submit(service, each, form, admin);
    expect({ each, code: refused.statusCode }).toEqual({ each, code: 422 });
    expect(textOf(refused)).toContain('is disabled: Disabled by Ada.');
  }
  const cookie = `${admin.cookie}; ${cookieOf(disabled, NOTICE_COOKIE)}`;
  const [, undo = ''] =
    /class="done".*?action="([^"]+)"/s.exec((await open(service, url, { cookie })).body) ?? [];
  const enabled = await submit(service, undo, {}, admin);
  expect(noticeOf(enabled)?.text).toBe(
    'Enabled: http://127.0.0.1:1 receives events again. 1 event is queued again.',
  );
  expect(textOf(await open(service, url, admin))).not.toContain('This endpoint is disabled');
  expect(textOf(await open(service, `${url}/deliveries/${id}`, member))).toContain('pending');
  expect((await submit(service, `${url}/enable`, {}, admin)).statusCode).toBe(422);
  expect((await audited()).map(({ action }) => action)).toEqual([
    'webhook.disable',
    'webhook.enable',
  ]);
});

describe('disabling says first', () => {
  const ask = async (endpointId: string) => {
    const page = await submit(service, `${path}/${endpointId}/disable`, {}, admin);
    expect(page.statusCode).toBe(200);
    expect(await endpoints()).toMatchObject([{ disabled_at: null }]);
    return textOf(page);
  };

  test('which events stop, and that none waits', async () => {
    const types = ['payment_prompt.successful', 'payment_prompt.expired'] as const;
    const { endpoint } = await addEndpoint(service, shop.merchant.id, receiver.url, types);
    await addDelivery(service, payment, { endpointId: endpoint.id });
    const page = await ask(endpoint.id);
    expect(page).toContain(`Disable ${new URL(receiver.url).origin}? No event waits for it.`);
    expect(page).toMatch(
      /not sent to it any more: payment_prompt\.successful , payment_prompt\.expired \. Enabling it queues again/,
    );
  });

  test('how many wait, up to a bound', async () => {
    const { endpoint } = await addEndpoint(service, shop.merchant.id);
    const id = await addDelivery(service, payment, { endpointId: endpoint.id, status: 'pending' });
    const wait = (deliveries: number) =>
      sql`
        insert into webhook_deliveries (id, event_id, endpoint_id, redelivery_of, status,
                                        next_attempt_at, created_at)
        select gen_random_uuid(), event_id, endpoint_id, id, status, next_attempt_at, created_at
        from webhook_deliveries, generate_series(1, ${deliveries}::integer)
        where id = ${id}`.execute(service.db);
    expect(await ask(endpoint.id)).toContain('1 event waits for it, and will be cancelled.');
    await wait(999);
    expect(await ask(endpoint.id)).toContain('1,000 events wait for it');
    await wait(1);
    expect(await ask(endpoint.id)).toContain('more than 1,000 events wait for it');
  });
});

describe('before and after an endpoint stops getting events', () => {
  const home = async () => open(service, `/panel/merchants/${shop.merchant.id}`, member);

  test('its page and Home say so, and until when it is retried', async () => {
    const { endpoint } = await addEndpoint(service, shop.merchant.id);
    const at = new Date(service.clock.now - 2 * HOUR_MS);
    const next = new Date(service.clock.now + HOUR_MS);
    const log = [{ status_code: 500 }, { status_code: 500 }, { error: 'connect ECONNREFUSED' }];
    await addDelivery(service, payment, {
      endpointId: endpoint.id,
      status: 'pending',
      created_at: at,
      next_attempt_at: next,
      log,
    });
    const url = `${path}/${endpoint.id}`;
    const left = RETRY_DELAYS_SECONDS.slice(4).reduce<number>((sum, each) => sum + each, 0);
    const end = new Date(next.getTime() + left * 1_000).toISOString();
    const page = textOf(await open(service, url, member));
    expect(page).toContain('Nothing could be delivered for an hour or more.');
    expect(page).toContain(`given up about ${end.slice(0, 10)} at ${end.slice(11, 16)} UTC`);
    expect(page).toContain('Failures alone disable no endpoint; a response of 410 does.');
    expect(textOf(await open(service, path, member))).toContain('failing');
    const told = await home();
    expect(textOf(told)).toContain(
      'Nothing could be delivered to the webhook endpoint at http://127.0.0.1:1',
    );
    expect(told.body).toContain(`href="${url}"`);
  });

  test('a response of 410 disables it, and both say why', async () => {
    const { endpoint } = await addEndpoint(service, shop.merchant.id, receiver.url);
    receiver.answer = status(410);
    await tell();
    await attempt();
    const url = `${path}/${endpoint.id}`;
    expect(textOf(await open(service, url, member))).toContain('It answered 410 Gone.');
    service.clock.now += 15 * 24 * HOUR_MS;
    member = await addMerchantUser(service, shop.merchant.id, 'member');
    const told = await home();
    expect(textOf(told)).toContain('is disabled: It answered 410 Gone.');
    expect(told.body).toContain(`href="${url}"`);
  });

  test('an endpoint that somebody disabled is mentioned for a while', async () => {
    const { endpoint } = await addEndpoint(service, shop.merchant.id);
    await submit(service, `${path}/${endpoint.id}/disable`, SURE, admin);
    expect(textOf(await home())).toContain('is disabled: Disabled by Ada.');
    service.clock.now += 15 * 24 * HOUR_MS;
    member = await addMerchantUser(service, shop.merchant.id, 'member');
    expect(textOf(await home())).not.toContain('is disabled');
  });
});

test('a delivery shows its payload, its attempts and what to do about them', async () => {
  const { endpoint } = await addEndpoint(service, shop.merchant.id, receiver.url);
  receiver.answer = status(500, {}, 'no <b>such</b> table');
  await tell();
  await attempt();
  const [{ body = '' } = {}] = receiver.requests;
  const list = await open(service, `${path}/${endpoint.id}`, admin);
  const [, url = ''] = /href="([^"]+\/deliveries\/[0-9a-f-]{36})"/.exec(list.body) ?? [];
  const page = await open(service, url, admin);
  expect(textOf(page)).toContain('HTTP 500');
  expect(textOf(page)).toContain('The server failed. Look in its log');
  expect(page.body).toContain('no &lt;b&gt;such&lt;/b&gt; table');
  expect(page.body).toContain(`/payments/${payment.id}"`);
  expect(page.body).toContain('&quot;type&quot;: &quot;payment_prompt.created&quot;');
  expect(page.body).toContain('data-refresh="5"');
  const headers = {
    host: 'pay.example.test',
    cookie: admin.cookie,
    'sec-fetch-site': 'same-origin',
  };
  const file = await service.app.inject({ url: `${url}/payload.json`, headers });
  expect(file.headers['content-disposition']).toMatch(/^attachment; filename="event-/);
  expect(file.body).toBe(body);
});

test('a member redelivers one delivery, and is led to the new one', async () => {
  const { endpoint } = await addEndpoint(service, shop.merchant.id, receiver.url);
  const id = await addDelivery(service, payment, { endpointId: endpoint.id });
  const url = `${path}/${endpoint.id}/deliveries`;
  const again = await submit(service, `${url}/${id}/redeliver`, {}, member);
  const location = String(again.headers.location);
  expect(location).toMatch(new RegExp(`^${url}/[0-9a-f-]{36}$`));
  expect(noticeOf(again)?.text).toBe('Sent again. This is the new delivery.');
  expect((await open(service, location, member)).body).toContain(`href="${url}/${id}"`);
  expect((await open(service, `${url}/${id}`, member)).body).toContain(`href="${location}"`);
  await attempt();
  expect(receiver.requests).toHaveLength(1);
  expect(textOf(await open(service, location, member))).toContain('succeeded');
  expect(await audited()).toMatchObject([{ action: 'webhook.redeliver', actor: member.email }]);
});

test('an endpoint is redelivered to sixty times an hour one by one; refusals do not count', async () => {
  const { endpoint } = await addEndpoint(service, shop.merchant.id);
  const { endpoint: other } = await addEndpoint(service, shop.merchant.id, `${receiver.url}&other`);
  const redeliver = async (endpointId: string, id: string) => {
    const url = `${path}/${endpointId}/deliveries/${id}/redeliver`;
    return (await submit(service, url, {}, member)).statusCode;
  };
  const id = await addDelivery(service, payment, { endpointId: endpoint.id });
  await submit(service, `${path}/${endpoint.id}/disable`, SURE, admin);
  expect(await redeliver(endpoint.id, id)).toBe(422);
  await submit(service, `${path}/${endpoint.id}/enable`, {}, admin);
  const sixty = Array.from({ length: 60 }, () => redeliver(endpoint.id, id));
  expect(new Set(await Promise.all(sixty))).toEqual(new Set([303]));
  expect(await redeliver(endpoint.id, id)).toBe(429);
  const elsewhere = await addDelivery(service, payment, { endpointId: other.id });
  expect(await redeliver(other.id, elsewhere)).toBe(303);
  // All that failed at once is counted apart.
  const form = { since: new Date(service.clock.now).toISOString().slice(0, 16) };
  const bulk = await submit(service, `${path}/${endpoint.id}/redeliver-failed`, form, member);
  expect(bulk.statusCode).toBe(303);
});

describe('all that failed since a time', () => {
  const ask = (endpointId: string, since: string) =>
    submit(service, `${path}/${endpointId}/redeliver-failed`, { since }, member);

  test('is redelivered, once, in one audited change', async () => {
    const { endpoint } = await addEndpoint(service, shop.merchant.id, receiver.url);
    for (const hours of [49, 47, 2, 1]) {
      const at = new Date(service.clock.now - hours * HOUR_MS);
      await addDelivery(service, payment, { endpointId: endpoint.id, created_at: at });
    }
    const since = new Date(service.clock.now - 48 * HOUR_MS).toISOString().slice(0, 16);
    expect(noticeOf(await ask(endpoint.id, since))?.text).toBe('3 events are sent again.');
    expect(noticeOf(await ask(endpoint.id, since))?.text).toBe('Nothing has failed since then.');
    await attempt();
    expect(receiver.requests).toHaveLength(3);
    expect((await audited()).map(({ action, detail }) => ({ action, detail }))).toMatchObject([
      { action: 'webhook.redeliver-failed', detail: { deliveries: 3 } },
      { action: 'webhook.redeliver-failed', detail: { deliveries: 0 } },
    ]);
  });

  test('is redelivered six times an hour; refusals do not count', async () => {
    const { endpoint } = await addEndpoint(service, shop.merchant.id);
    const since = new Date(service.clock.now).toISOString().slice(0, 16);
    for (let n = 0; n < 7; n++) {
      expect((await ask(endpoint.id, 'yesterday')).statusCode).toBe(422);
    }
    for (let n = 0; n < 6; n++) expect((await ask(endpoint.id, since)).statusCode).toBe(303);
    expect((await ask(endpoint.id, since)).statusCode).toBe(429);
    expect((await ask(endpoint.id, 'yesterday')).statusCode).toBe(422);
  });

  test.each([
    ['no time', 'yesterday', 'Enter a date and a time.'],
    ['a time to come', '2999-01-01T00:00', 'Enter a time that has passed.'],
  ])('with %s is refused, and changes nothing', async (_, since, reason) => {
    const { endpoint } = await addEndpoint(service, shop.merchant.id);
    await addDelivery(service, payment, { endpointId: endpoint.id });
    const before = await snapshot();
    const refused = await ask(endpoint.id, since);
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain(reason);
    expect(refused.body).toContain(`value="${since}"`);
    expect(await snapshot()).toEqual(before);
  });
});

test('pages lead through all deliveries and back, and filters are exact', async () => {
  const { endpoint } = await addEndpoint(service, shop.merchant.id);
  const ids: string[] = [];
  for (let n = 0; n < 60; n++) {
    // Twenty on each of three days, in pairs of the same time.
    const at = new Date(service.clock.now - (59 - n - (n % 2)) * 72 * 60_000);
    const outcome = { status: n % 3 === 0 ? ('succeeded' as const) : ('failed' as const) };
    ids.push(
      await addDelivery(service, payment, { endpointId: endpoint.id, created_at: at, ...outcome }),
    );
  }
  const rows = await service.db
    .selectFrom('webhook_deliveries')
    .select(['id', 'status', 'created_at'])
    .where('endpoint_id', '=', endpoint.id)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  expect(rows).toHaveLength(ids.length);
  const url = `${path}/${endpoint.id}`;
  const listed = ({ body }: { body: string }) =>
    [...body.matchAll(/deliveries\/([0-9a-f-]{36})"/g)].map(([, id]) => id ?? '');
  const walk = async (query: string, rel: string) => {
    const pages: string[][] = [];
    for (let at: string | undefined = `${url}?${query}`; at !== undefined; ) {
      const page = await open(service, at, member);
      pages.push(listed(page));
      const [, next] = new RegExp(`href="([^"]+)" rel="${rel}"`).exec(page.body) ?? [];
      at = next?.replaceAll('&amp;', '&');
    }
    return pages;
  };
  const all = rows.map(({ id }) => id);
  const older = await walk('', 'next');
  expect(older.map(page => page.length)).toEqual([25, 25, 10]);
  expect(older.flat()).toEqual(all);
  expect(await walk(`after=${all[49]}`, 'prev')).toEqual(older.toReversed());
  const beyond = await open(service, `${url}?status=failed&after=${all.at(-1)}`, member);
  expect(textOf(beyond)).toContain('There are none further. To the first page');
  const failed = rows.filter(row => row.status === 'failed');
  expect((await walk('status=failed', 'next')).flat()).toEqual(failed.map(({ id }) => id));
  const day = '2026-05-15';
  const ofDay = rows.filter(row => row.created_at.toISOString().startsWith(day));
  expect(ofDay.length).toBeGreaterThan(10);
  expect((await walk(`from=${day}&to=${day}`, 'next')).flat()).toEqual(ofDay.map(({ id }) => id));
  const none = await open(service, `${url}?status=withheld`, member);
  expect(textOf(none)).toContain('No delivery matches. Clear filters');
  const reversed = await open(service, `${url}?from=2026-05-16&to=2026-05-15`, member);
  expect(reversed.statusCode).toBe(422);
  expect(textOf(reversed)).toContain('is after To');
});

test('each delivery of the list has its last response in words, and its seconds', async () => {
  const { endpoint } = await addEndpoint(service, shop.merchant.id);
  const logs = [
    [],
    [{ error: 'something new' }],
    [{ status_code: 503 }, { error: 'no answer within 15 seconds' }],
    [{ error: 'connect ECONNREFUSED' }, { status_code: 503 }],
  ];
  for (const [minutes, log] of logs.entries()) {
    await addDelivery(service, payment, {
      endpointId: endpoint.id,
      created_at: new Date(NOW - minutes * 60_000 - 1_000),
      status: log.length === 0 ? 'pending' : 'failed',
      log,
    });
  }
  const page = await open(service, `${path}/${endpoint.id}`, member);
  const outcomes = [...page.body.matchAll(/<td>(<span class="tag[^<]*<\/span>.*?)<\/td>/g)];
  expect(outcomes.map(([, cell = '']) => textOf({ body: cell }).trim())).toEqual([
    'pending',
    'failed no response',
    'failed no answer in time',
    'failed HTTP 503',
  ]);
  expect(page.body).toContain('data-exact>17 May 2026, 11:59:59 UTC</time>');
});

test('deliveries can be downloaded, with the filters of their list', async () => {
  const { endpoint } = await addEndpoint(service, shop.merchant.id);
  const endpointId = endpoint.id;
  const old = await addDelivery(service, payment, {
    endpointId,
    created_at: new Date(NOW - 400 * 24 * HOUR_MS),
  });
  const taken = await addDelivery(service, payment, {
    endpointId,
    status: 'succeeded',
    created_at: new Date(NOW - 1_000),
  });
  const failed = await addDelivery(service, payment, {
    endpointId,
    log: [{ status_code: 503 }, { error: 'connect ECONNREFUSED' }],
  });
  const url = `${path}/${endpointId}`;
  const list = await open(service, `${url}?status=failed&to=2026-05-17`, member);
  const [, link = ''] = /href="([^"]+)" download/.exec(list.body) ?? [];
  expect(link).toBe(`${url}/deliveries.csv?to=2026-05-17&amp;status=failed`);
  const linesOf = async (query: string) =>
    (await download(service, `${url}/deliveries.csv${query}`, admin)).body.trimEnd().split('\r\n');
  const [titles, ...rows] = await linesOf('');
  expect(titles).toMatch(/^\uFEFF"id","createdAt","eventId","eventType","paymentId","status",/);
  expect(rows.map(row => row.slice(1, 37))).toEqual([failed, taken]);
  expect(rows[0]).toContain(
    `"payment_prompt.created","${payment.id}","failed",2,"2026-05-17T12:01:00.000Z",,"connect ECONNREFUSED",12,,"2026-05-17T12:00:00.000Z",`,
  );
  expect((await linesOf('?status=failed')).slice(1)).toEqual([rows[0]]);
  expect((await linesOf('?to=2025-12-31'))[1]).toContain(old);
  for (const query of ['?from=2024-01-01', '?from=2026-05-17&to=2026-05-16']) {
    const refused = await download(service, `${url}/deliveries.csv${query}`, admin);
    expect(refused.headers.location).toBe(url + query);
  }
  const entries = await service.db
    .selectFrom('audit_log')
    .select(['object_id', 'detail'])
    .where('action', '=', 'delivery.export')
    .where('account_id', '=', shop.merchant.id)
    .orderBy('id')
    .execute();
  expect(entries.map(({ detail }) => detail)).toMatchObject([
    { filters: { endpoint: endpointId, to: '2026-05-17T12:00:00.000Z' }, rows: 2 },
    { filters: { status: 'failed' }, rows: 1 },
    { filters: { to: '2025-12-31T23:59:59.999Z' }, rows: 1 },
  ]);
});

test('the page says what is at stake in a withheld delivery', async () => {
  const { endpoint } = await addEndpoint(service, shop.merchant.id);
  const made = { endpointId: endpoint.id, status: 'withheld' as const };
  const id = await addDelivery(service, payment, made);
  const page = textOf(await open(service, `${path}/${endpoint.id}/deliveries/${id}`, member));
  expect(page).toContain('The service was restored from a backup');
});
