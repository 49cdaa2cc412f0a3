import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMerchant, type MerchantWithKey } from '../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';
import { addMerchantUser, HOST, open, submit, textOf, type Visitor } from '../helpers/panel.ts';
import { addPayment } from '../helpers/payments.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

let service: TestApp;
let shop: MerchantWithKey;
let member: Visitor;
let path: string;
const ids: string[] = [];

beforeAll(async () => {
  service = await startTestApp({ env: { SIMULATION: 'on', DATABASE_URL: '' } });
  shop = await addMerchant(service);
  member = await addMerchantUser(service, shop.merchant.id, 'member');
  path = `/panel/merchants/${shop.merchant.id}/payments`;
  for (let index = 0; index < 60; index++) {
    const { id } = await addPayment(service.db, shop.merchant, {
      amount: 1000 + index,
      created_at: new Date(service.clock.now - index * DAY_MS),
      customer_reference_id: `order ${index}`,
      status: index === 3 ? 'cancelled' : 'pending',
      session_status: index === 3 ? 'cancelled' : 'pending',
    });
    ids.push(id);
  }
});
afterAll(() => service.close());

const listed = ({ body }: { body: string }) =>
  [...body.matchAll(/<a href="[^"]*\/payments\/([0-9a-f-]{36})"/g)].map(([, id]) => id);
const linkOf = ({ body }: { body: string }, rel: string) =>
  new RegExp(`<a href="([^"]+)" rel="${rel}"`).exec(body)?.[1]?.replaceAll('&amp;', '&');

test('the list goes page by page, there and back', async () => {
  const first = await open(service, path, member);
  expect(listed(first)).toEqual(ids.slice(0, 25));
  expect(linkOf(first, 'prev')).toBeUndefined();
  const second = await open(service, linkOf(first, 'next') ?? '', member);
  expect(listed(second)).toEqual(ids.slice(25, 50));
  const third = await open(service, linkOf(second, 'next') ?? '', member);
  expect(listed(third)).toEqual(ids.slice(50));
  expect(linkOf(third, 'next')).toBeUndefined();
  const back = await open(service, linkOf(third, 'prev') ?? '', member);
  expect(listed(back)).toEqual(ids.slice(25, 50));
});

test.each([
  ['status=cancelled', [3]],
  ['search=order 7', [7]],
  ['search=order', []],
  ['status=nonsense&from=yesterday', null],
] as const)('with ?%s it shows what matches', async (query, expected) => {
  const page = await open(service, `${path}?${query.replaceAll(' ', '%20')}`, member);
  expect(page.statusCode).toBe(200);
  expect(listed(page)).toEqual(expected === null ? ids.slice(0, 25) : expected.map(n => ids[n]));
});

test('a payment is found by its ID, and by days with their ends', async () => {
  const one = await open(service, `${path}?search=${ids[9]}`, member);
  expect(listed(one)).toEqual([ids[9]]);
  const day = new Date(service.clock.now - 5 * DAY_MS).toISOString().slice(0, 10);
  expect(listed(await open(service, `${path}?from=${day}&to=${day}`, member))).toEqual([ids[5]]);
});

test('a filter that finds nothing says so, and how to get out of it', async () => {
  const page = await open(service, `${path}?search=nothing`, member);
  expect(textOf(page)).toContain('No payment matches. Clear filters');
});

test('a cursor of others is not found', async () => {
  const other = await addMerchant(service);
  const foreign = await addPayment(service.db, other.merchant, { created_at: new Date() });
  expect((await open(service, `${path}?after=${foreign.id}`, member)).statusCode).toBe(404);
});

describe('the file', () => {
  const download = (url: string, headers: Record<string, string> = {}) =>
    service.app.inject({
      url,
      headers: {
        ...{ host: HOST, cookie: member.cookie, 'sec-fetch-site': 'same-origin' },
        ...headers,
      },
    });

  test('has what the list has, and is audited', async () => {
    await addPayment(service.db, shop.merchant, {
      created_at: new Date(service.clock.now - 70 * DAY_MS),
      customer_reference_id: '=HYPERLINK("https://evil.example")',
    });
    const { body, headers } = await download(`${path}.csv`);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(headers['content-disposition']).toMatch(/^attachment; filename="payments-[\d-]+\.csv"$/);
    expect(body.startsWith('\uFEFFid,createdAt,')).toBe(true);
    const lines = body.trimEnd().split('\r\n');
    expect(lines).toHaveLength(62);
    expect(lines[1]).toContain(`${ids[0]},`);
    expect(lines.at(-1)).toContain(`"'=HYPERLINK(""https://evil.example"")"`);
    const entry = await service.db
      .selectFrom('audit_log')
      .selectAll()
      .where('action', '=', 'payment.export')
      .executeTakeFirstOrThrow();
    expect(entry).toMatchObject({ actor: member.email, detail: { rows: 61 } });
  });

  test('is had by a link of our own pages alone', async () => {
    const foreign = await download(`${path}.csv`, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.statusCode).toBe(403);
  });

  test('has the filters of the list, and is had six times an hour', async () => {
    const filtered = await download(`${path}.csv?status=cancelled`);
    expect(filtered.body.trimEnd().split('\r\n')).toHaveLength(2);
    for (let taken = 2; taken < 6; taken++) {
      expect((await download(`${path}.csv?status=cancelled`)).statusCode).toBe(200);
    }
    const refused = await download(`${path}.csv`);
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000);
  });
});

describe('a payment', () => {
  test('tells everything that happened to it', async () => {
    const { id } = await addPayment(service.db, shop.merchant, {
      created_at: new Date(service.clock.now),
      offered_blockchain_ids: ['eth-test'],
    });
    const page = await open(service, `${path}/${id}`, member);
    expect(page.statusCode).toBe(200);
    expect(textOf(page)).toContain('Created for $10.00');
    expect(page.body).toContain('data-refresh="5"');
  });

  test('of others looks like one that does not exist', async () => {
    const other = await addMerchant(service);
    const foreign = await addPayment(service.db, other.merchant, { created_at: new Date() });
    const plain = ({ body }: { body: string }) => body.replaceAll(/[0-9a-f-]{36}/g, 'ID');
    const [one, missing] = await Promise.all([
      open(service, `${path}/${foreign.id}`, member),
      open(service, `${path}/${uuidv7()}`, member),
    ]);
    expect(one.statusCode).toBe(404);
    expect(plain(one)).toBe(plain(missing));
    const played = await submit(
      service,
      `${path}/${foreign.id}/simulate`,
      { case: 'cancel' },
      member,
    );
    expect(played.statusCode).toBe(404);
  });

  test('is simulated, and what happened is there', async () => {
    const { id } = await addPayment(service.db, shop.merchant, {
      created_at: new Date(service.clock.now),
    });
    const played = await submit(service, `${path}/${id}/simulate`, { case: 'cancel' }, member);
    expect(played.statusCode).toBe(303);
    const text = textOf(await open(service, `${path}/${id}`, member));
    expect(text).toContain('Now cancelled: cancelled by simulation');
    const late = await submit(service, `${path}/${id}/simulate`, { case: 'confirm' }, member);
    expect(late.statusCode).toBe(422);
  });

  test('that still waits after a simulated transfer says why', async () => {
    const add = () =>
      addPayment(service.db, shop.merchant, {
        created_at: new Date(service.clock.now),
        offered_blockchain_ids: ['eth'],
      });
    const [one, other] = [await add(), await add()];
    const play = (id: string, name: string) =>
      submit(service, `${path}/${id}/simulate`, { case: name }, member);
    expect((await play(one.id, 'reorg')).statusCode).toBe(303);
    expect((await play(other.id, 'reorg')).statusCode).toBe(303);
    const waiting = await play(other.id, 'over');
    expect(waiting.statusCode).toBe(200);
    expect(textOf(waiting)).toContain('went to the inbox as ambiguous');
    expect((await play(one.id, 'expire')).statusCode).toBe(303);
    expect((await play(other.id, 'over')).statusCode).toBe(303);
  });
});
