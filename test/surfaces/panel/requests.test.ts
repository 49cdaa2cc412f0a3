import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { revokeKey } from '#accounts/keys/manage-keys.ts';
import { createUser } from '#accounts/users.ts';
import { signingHeaders } from '#client/index.ts';
import { setPerson } from '#storage/repositories/people/memberships.ts';
import {
  addKey,
  addMerchant,
  addPartner,
  type MerchantWithKey,
  operatorOf,
  type PartnerWithKey,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { addRequest } from '../../helpers/logged-requests.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addSession,
  download,
  entryOf,
  open,
  submit,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';

const LIST = '/external/v1/payments';
const NONCE = '7c0e1f4a-3b52-4d6c-9a8e-5f1b2c3d4e5f';

let service: TestApp;
let shop: MerchantWithKey;
let member: Visitor;
let developerPath: string;
let path: string;

beforeAll(async () => {
  service = await startTestApp();
  shop = await addMerchant(service);
  member = await addMerchantUser(service, shop.merchant.id, 'member');
  developerPath = `/panel/merchants/${shop.merchant.id}/settings/developer`;
  path = `${developerPath}/requests`;
});
afterAll(() => service.close());

/** IDs of the requests that a page lists, in order. */
const listed = ({ body }: { body: string }) =>
  [...body.matchAll(/requests\/([0-9a-f-]{36})"/g)].map(([, id]) => id);

/** Adds many failed requests of a key. */
const fillLog = (accountId: string, keyId: string, requests: number) =>
  sql`
    insert into request_log (id, at, account_id, key_id, verified, requests, method, target, status,
                             error_code, milliseconds, address, replayed)
    select (left(${uuidv7()}, 24) || lpad(to_hex(n), 12, '0'))::uuid, ${new Date(service.clock.now)},
           ${accountId}, ${keyId}, true, 1, 'GET', '/', 400, 'E1001', 3, '192.0.2.1', false
    from generate_series(1, ${requests}::integer) as n`.execute(service.db);

test('without requests the log says what it stores, and for how long', async () => {
  const { merchant } = await addMerchant(service);
  const admin = await addMerchantUser(service, merchant.id, 'admin');
  const page = await open(
    service,
    `/panel/merchants/${merchant.id}/settings/developer/requests`,
    admin,
  );
  expect(page.statusCode).toBe(200);
  expect(textOf(page)).toContain(
    'Each request that fails, and each creation, is kept for 30 days or more, at most 100,000 of an account.',
  );
});

test.each([
  ['all', 'Every request is kept'],
  ['off', 'The service keeps no requests'],
])('with REQUEST_LOG=%s it says so', async (kept, says) => {
  const beside = await startTestApp({ beside: service, env: { REQUEST_LOG: kept } });
  const { merchant } = await addMerchant(service);
  const admin = await addMerchantUser(service, merchant.id, 'admin');
  const url = `/panel/merchants/${merchant.id}/settings/developer/requests`;
  expect(textOf(await open(beside, url, admin))).toContain(says);
  await beside.app.close();
});

test('pages lead through all requests and back, and filters are exact', async () => {
  const { keyId } = shop;
  const { keyId: other } = await addKey(service, { merchantId: shop.merchant.id });
  const ids: string[] = [];
  for (let n = 0; n < 60; n++) {
    const kind = n % 3 === 0 ? { errorCode: null, status: 201, param: null } : {};
    ids.push(await addRequest(service, { keyId: n % 2 === 0 ? keyId : other, ...kind }));
  }
  const expected = ids.toReversed();
  const walk = async (query: string, rel: string) => {
    const pages: string[][] = [];
    for (let url: string | undefined = `${path}?${query}`; url !== undefined; ) {
      const page = await open(service, url, member);
      pages.push(listed(page) as string[]);
      const [, next] = new RegExp(`href="([^"]+)" rel="${rel}"`).exec(page.body) ?? [];
      url = next?.replaceAll('&amp;', '&').replace('https://pay.example.test', '');
    }
    return pages;
  };
  const older = await walk('', 'next');
  expect(older.map(each => each.length)).toEqual([25, 25, 10]);
  expect(older.flat()).toEqual(expected);
  const newer = await walk(`after=${expected[49]}`, 'prev');
  expect(newer).toEqual(older.toReversed());

  const matching = (has: (n: number) => boolean) => expected.filter((_, at) => has(59 - at));
  expect((await walk(`key=${other}`, 'next')).flat()).toEqual(matching(n => n % 2 === 1));
  expect((await walk('code=E1001', 'next')).flat()).toEqual(matching(n => n % 3 !== 0));
  expect((await walk('status=201', 'next')).flat()).toEqual(matching(n => n % 3 === 0));
  expect((await walk(`status=201&key=${keyId}`, 'next')).flat()).toEqual(
    matching(n => n % 6 === 0),
  );
  const beyond = await open(service, `${path}?after=${expected.at(-1)}`, member);
  expect(textOf(beyond)).toContain('There are none further. To the first page');
  const none = await open(service, `${path}?code=E5001`, member);
  expect(textOf(none)).toContain('No request matches. Clear filters');
});

test('a request’s page shows its data, and links to its payment, key and error', async () => {
  const paymentId = uuidv7();
  const { keyId } = shop;
  const target = `${LIST}?customerReferenceId=<b>`;
  const created = await addRequest(service, {
    keyId,
    method: 'POST',
    target: `${LIST}/prompt`,
    status: 201,
    errorCode: null,
    param: null,
    paymentId,
    replayed: true,
  });
  const page = await open(service, `${path}/${created}`, member);
  const merchantPath = `/panel/merchants/${shop.merchant.id}`;
  expect(page.body).toContain(`${merchantPath}/payments/${paymentId}"`);
  expect(page.body).toContain(`${developerPath}/keys/${keyId}"`);
  expect(textOf(page)).toContain('the response kept under its Idempotency-Key');

  const failed = await addRequest(service, { keyId, target });
  const failure = await open(service, `${path}/${failed}`, member);
  expect(failure.body).toContain('https://pay.example.test/docs/errors/E1001"');
  expect(failure.body).not.toContain('<b>');
  expect(textOf(failure)).toContain('A parameter has the wrong type');
});

test('a wrong signature is shown with its mistake, and a minute with its count', async () => {
  const findings = [{ component: 'query', made: 'the path without its query', remedy: 'Sign it.' }];
  const wrong = { keyId: shop.keyId, verified: false, status: 401, errorCode: 'E2007' } as const;
  const found = await addRequest(service, {
    ...wrong,
    at: new Date(service.clock.now - 60_000),
    requests: 7,
    explanation: { readable: true, findings },
  });
  const page = await open(service, `${path}/${found}`, member);
  expect(textOf(page)).toContain('It was made with the path without its query. Sign it.');
  expect(textOf(page)).toContain('7 requests with this key and error within this minute');
  const unknown = await addRequest(service, { ...wrong, at: new Date(0), method: 'PUT' });
  const other = await open(service, `${path}/${unknown}`, member);
  expect(textOf(other)).toContain('It was not looked into');
  const [, link = ''] = /href="([^"]+explain[^"]+)"/.exec(other.body.split('<main')[1] ?? '') ?? [];
  const form = await open(service, link.replaceAll('&amp;', '&'), member);
  expect(form.body).toContain(`<option value="${shop.keyId}" selected>`);
  expect(form.body).toContain('name="method" type="text" value="PUT"');
  expect(form.body).toContain(`name="url" type="text" value="${LIST}?limit=0"`);
});

test('a key’s page has its errors by code and only its last requests', async () => {
  const { keyId } = await addKey(service, { merchantId: shop.merchant.id });
  const page = await open(service, `${developerPath}/keys/${keyId}`, member);
  expect(textOf(page)).toContain('Errors in the last 30 days None. Last requests None is kept.');
  await addRequest(service, {
    keyId,
    errorCode: 'E2004',
    status: 401,
    verified: false,
    requests: 41,
  });
  await addRequest(service, { keyId, errorCode: 'E1002' });
  await addRequest(service, { keyId, errorCode: 'E1002' });
  const ids: string[] = [];
  for (let n = 0; n < 101; n++) {
    ids.push(await addRequest(service, { keyId, errorCode: null, status: 201 }));
  }
  const filled = await open(service, `${developerPath}/keys/${keyId}`, member);
  expect(textOf(filled)).toMatch(/E2004 41 The key ID is unknown.* E1002 2 /);
  expect(listed(filled)).toEqual(ids.toReversed().slice(0, 100));
  expect(filled.body.length).toBeLessThan(100_000);
});

test('the errors of a key are counted up to a bound', async () => {
  const { keyId } = await addKey(service, { merchantId: shop.merchant.id });
  const url = `${developerPath}/keys/${keyId}`;
  await fillLog(shop.merchant.id, keyId, 1_000);
  expect(textOf(await open(service, url, member))).toContain('E1001 1,000 A parameter');
  await fillLog(shop.merchant.id, keyId, 1);
  expect(textOf(await open(service, url, member))).toContain('E1001 more than 1,000 A parameter');
});

describe('the file', () => {
  const linesOf = ({ body }: { body: string }) => body.trimEnd().split('\r\n');

  test('has what the list shows, with its filters, and is audited', async () => {
    const { merchant, keyId } = await addMerchant(service);
    const visitor = await addMerchantUser(service, merchant.id, 'member');
    const url = `/panel/merchants/${merchant.id}/settings/developer/requests`;
    const paymentId = uuidv7();
    const made = { keyId, method: 'POST', status: 201, errorCode: null, param: null, paymentId };
    const ids = [
      await addRequest(service, { ...made, target: '=1+1' }),
      await addRequest(service, { keyId, at: new Date('2026-05-17T11:58:07.250Z') }),
    ];
    const page = await open(service, `${url}?code=E1001`, visitor);
    expect(page.body).toContain(`href="${url}.csv?code=E1001" download`);
    const whole = await download(service, `${url}.csv`, visitor);
    expect(whole.headers['content-disposition']).toBe(
      'attachment; filename="requests-2026-05-17.csv"',
    );
    const [titles, ...rows] = linesOf(whole);
    expect(titles).toMatch(/^\uFEFF"id","time","keyId","keyName","method","target","status",/);
    expect(rows).toEqual([
      `"${ids[1]}","2026-05-17T11:58:07.250Z","${keyId}","Test key","GET","/external/v1/payments?limit=0",400,"E1001","limit",3,"192.0.2.1","false",,"true",1`,
      expect.stringContaining(`"POST","'=1+1",201,,,3,"192.0.2.1","false","${paymentId}","true",1`),
    ]);
    const filtered = await download(service, `${url}.csv?code=E1001&key=${keyId}`, visitor);
    expect(linesOf(filtered).slice(1)).toEqual([rows[0]]);
    const entries = await service.db
      .selectFrom('audit_log')
      .select(['actor', 'account_id', 'object_id', 'detail'])
      .where('action', '=', 'request.export')
      .orderBy('id')
      .execute();
    const entry = { actor: visitor.email, account_id: merchant.id, object_id: merchant.id };
    expect(entries).toEqual([
      { ...entry, detail: { filters: {}, rows: 2 } },
      { ...entry, detail: { filters: { code: 'E1001', key: keyId }, rows: 1 } },
    ]);
  });

  test('has all requests of several keys, the newest first', async () => {
    const { merchant } = await addMerchant(service);
    const visitor = await addMerchantUser(service, merchant.id, 'member');
    const owner = { merchantId: merchant.id };
    const keys = [await addKey(service, owner), await addKey(service, owner)];
    for (const { keyId } of keys) await fillLog(merchant.id, keyId, 1_250);
    const url = `/panel/merchants/${merchant.id}/settings/developer/requests.csv`;
    const ids = linesOf(await download(service, url, visitor))
      .slice(1)
      .map(line => line.slice(1, 37));
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    expect(ids).toHaveLength(2_500);
  });
});

test('times of requests have seconds', async () => {
  const { merchant, keyId } = await addMerchant(service);
  const visitor = await addMerchantUser(service, merchant.id, 'member');
  const developer = `/panel/merchants/${merchant.id}/settings/developer`;
  const id = await addRequest(service, { keyId, at: new Date('2026-05-17T11:58:07.250Z') });
  const time =
    '<time datetime="2026-05-17T11:58:07.250Z" data-exact>17 May 2026, 11:58:07 UTC</time>';
  for (const page of ['requests', `requests/${id}`, `keys/${keyId}`]) {
    expect((await open(service, `${developer}/${page}`, visitor)).body).toContain(time);
  }
});

describe('of a partner', () => {
  let partner: PartnerWithKey;
  let owner: Visitor;
  let developer: Visitor;
  let own: string;
  let ids: { owners: string; developers: string };

  beforeAll(async () => {
    partner = await addPartner(service);
    const { id } = partner.partner;
    owner = await addPartnerUser(service, id, 'owner');
    const user = await addPartnerUser(service, id, 'developer');
    developer = user;
    ({ keyId: own } = await addKey(service, { memberId: user.memberId }));
    ids = {
      owners: await addRequest(service, { keyId: partner.keyId }),
      developers: await addRequest(service, { keyId: own }),
    };
  });

  test('the owner sees requests of all keys, a developer those of own keys', async () => {
    const url = `/panel/partners/${partner.partner.id}/developer/requests`;
    const status = async (visitor: Visitor, id: string) =>
      (await open(service, `${url}/${id}`, visitor)).statusCode;
    expect(listed(await open(service, url, owner))).toEqual([ids.developers, ids.owners]);
    expect(listed(await open(service, url, developer))).toEqual([ids.developers]);
    expect(listed(await open(service, `${url}?key=${partner.keyId}`, developer))).toEqual([]);
    const file = await download(service, `${url}.csv`, developer);
    expect(file.body).toContain(ids.developers);
    expect(file.body).not.toContain(ids.owners);
    expect(await status(owner, ids.developers)).toBe(200);
    expect(await status(developer, ids.developers)).toBe(200);
    expect(await status(developer, ids.owners)).toBe(404);
  });

  test('a request of others looks like a missing one', async () => {
    const url = `/panel/partners/${partner.partner.id}/developer/requests`;
    const foreign = await addRequest(service, { keyId: shop.keyId });
    const plain = ({ body }: { body: string }) => body.replaceAll(/[0-9a-f-]{36}/g, 'ID');
    const [one, other] = [
      await open(service, `${url}/${foreign}`, owner),
      await open(service, `${url}/${uuidv7()}`, owner),
    ];
    expect(one.statusCode).toBe(404);
    expect(plain(one)).toBe(plain(other));
    expect((await open(service, `${path}/${ids.owners}`, member)).statusCode).toBe(404);
  });

  test('only signatures of own keys are explained', async () => {
    const url = `/panel/partners/${partner.partner.id}/developer/explain`;
    const form = { ...fields(), key: own };
    expect((await submit(service, url, form, developer)).statusCode).toBe(200);
    const refused = await submit(service, url, form, owner);
    expect(refused.statusCode).toBe(200);
    expect(textOf(refused)).toContain('You have no key that works.');
  });
});

/** The form of somebody who has signed `parts`. */
function fields(changes: Record<string, string> = {}) {
  return {
    key: shop.keyId,
    method: 'GET',
    url: `${LIST}?limit=5`,
    body: '',
    nonce: NONCE,
    timestamp: '1779019200',
    signature: '0'.repeat(64),
    ...changes,
  };
}

const sign = (...parts: string[]) =>
  createHmac('sha256', shop.secret).update(parts.join('\n')).digest('hex');

describe('the explanation of a signature', () => {
  const ask = async (changes: Record<string, string>) => {
    // Each by another person, since explanations are limited by person, and in total.
    service.clock.now += 1_000;
    const visitor = await addMerchantUser(service, shop.merchant.id, 'member');
    const page = await submit(service, `${developerPath}/explain`, fields(changes), visitor);
    const right = signingHeaders(shop, {
      method: 'GET',
      path: `${LIST}?limit=5`,
      now: 1_779_019_200_000,
      nonce: NONCE,
    })['x-mp-signature'];
    for (const hidden of [shop.secret.slice(4), shop.passphrase]) {
      expect(page.body).not.toContain(hidden);
    }
    if (changes.signature !== right) expect(page.body).not.toContain(right);
    return { status: page.statusCode, text: textOf(page), body: page.body };
  };
  const time = '1779019200';

  test('names the mistake and what to do', async () => {
    const { status, text } = await ask({ signature: sign(time, NONCE, 'GET', LIST, '') });
    expect(status).toBe(200);
    expect(text).toContain('It was made with the path without its query. Sign path and query');
  });

  test('says that a signature is right, with the host in the URL as well', async () => {
    const signature = sign(time, NONCE, 'GET', `${LIST}?limit=5`, '');
    const url = `https://pay.example.test${LIST}?limit=5`;
    expect((await ask({ signature, url })).text).toContain('The signature matches.');
  });

  test.each([
    ['line feeds', '{\n  "amount": 5000\n}'],
    ['carriage returns', '{\r\n  "amount": 5000\r\n}'],
  ])('accepts a body with %s, which a form sends with carriage returns', async (_, body) => {
    const signature = sign(time, NONCE, 'POST', LIST, body);
    const sent = { method: 'post', url: LIST, body: body.replaceAll(/\r?\n/g, '\r\n') };
    expect((await ask({ ...sent, signature })).text).toContain('The signature matches.');
  });

  test('says what was tried where nothing is found, and what is no digest', async () => {
    const { text, body } = await ask({});
    expect(text).toContain('none of the usual mistakes explains it');
    expect(text).toContain('the path without its query');
    expect(body.length).toBeLessThan(100_000);
    expect((await ask({ signature: 'none' })).text).toContain('The signature is no digest.');
  });

  test.each([
    ['a key of others', { key: 'mpk_000000000000000000000000' }, 'Choose a key'],
    ['no method', { method: 'G E T' }, 'Enter a method'],
    ['no path', { url: 'payments' }, 'Enter a path'],
  ])('refuses %s, and keeps what was entered', async (_, changes, says) => {
    const { status, text, body } = await ask({ body: 'what was sent', ...changes });
    expect(status).toBe(422);
    expect(text).toContain(says);
    expect(body).toContain('\nwhat was sent</textarea>');
  });

  test('works without revoked keys', async () => {
    const { merchant, keyId } = await addMerchant(service);
    await revokeKey(operatorOf(service), keyId);
    const visitor = await addMerchantUser(service, merchant.id, 'member');
    const url = `/panel/merchants/${merchant.id}/settings/developer/explain`;
    expect(textOf(await open(service, url, visitor))).toContain('You have no key that works.');
  });

  test('waits while all explanations together have used too much CPU', async () => {
    let user = 0;
    const usage = vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => {
      user += 600_000;
      return { user, system: 0 };
    });
    try {
      expect((await ask({})).status).toBe(200);
    } finally {
      usage.mockRestore();
    }
    const { status, text, body } = await ask({ body: 'what was sent' });
    expect(status).toBe(422);
    expect(text).toContain('Many signatures are being explained just now.');
    expect(body).toContain('\nwhat was sent</textarea>');
    service.clock.now += 10_000;
    expect((await ask({})).status).toBe(200);
  });

  test('is available ten times a minute to a person, in whatever session and account', async () => {
    const visitor = await addMerchantUser(service, shop.merchant.id, 'member');
    const other = await addMerchant(service);
    const user = await createUser(operatorOf(service), {
      merchantId: other.merchant.id,
      name: 'Ada',
      email: visitor.email,
      role: 'member',
    });
    await setPerson(service.db, 'merchant', user.id, entryOf(service, visitor));
    const again = async (changes = {}, path = developerPath) => {
      const sender = { cookie: await addSession(service, visitor) };
      return (await submit(service, `${path}/explain`, fields(changes), sender)).statusCode;
    };
    for (let n = 0; n < 11; n++) expect(await again({ url: 'payments' })).toBe(422);
    for (let n = 0; n < 10; n++) expect(await again()).toBe(200);
    expect(await again()).toBe(429);
    const elsewhere = `/panel/merchants/${other.merchant.id}/settings/developer`;
    expect(await again({ key: other.keyId }, elsewhere)).toBe(429);
    const colleague = await addMerchantUser(service, shop.merchant.id, 'member');
    const page = await submit(service, `${developerPath}/explain`, fields(), colleague);
    expect(page.statusCode).toBe(200);
    service.clock.now += 60_000;
    expect(await again()).toBe(200);
  });
});
