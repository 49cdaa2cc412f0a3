import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { SEARCH_WINDOW } from '#storage/repositories/payments/search.ts';
import { ADDRESSES, addMerchant, type MerchantWithKey } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';
import {
  addMerchantUser,
  addShop,
  HOST,
  open,
  submit,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';
import { addPayment, copyPayment } from '../../helpers/payments.ts';
import { simulatedTransfer } from '../../helpers/see-transfer.ts';

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

test('the list can be paged forwards and backwards', async () => {
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
  // Whole or in part, in any case; two characters are too few.
  ['search=order 59', [59]],
  ['search=DER 59', [59]],
  ['search=59', []],
  ['search=or', []],
  ['search=rder 5&status=pending', [5, ...Array.from({ length: 10 }, (_, n) => 50 + n)]],
  ['search=$10.07', [7]],
  ['search=10.59', [59]],
  ['search=10.5', [50]],
  ['status=nonsense&from=yesterday', null],
] as const)('with ?%s it shows what matches', async (query, expected) => {
  const page = await open(service, `${path}?${query.replaceAll(' ', '%20')}`, member);
  expect(page.statusCode).toBe(200);
  expect(listed(page)).toEqual(expected === null ? ids.slice(0, 25) : expected.map(n => ids[n]));
});

test('a payment can be found by its ID, and by days including their ends', async () => {
  const one = await open(service, `${path}?search=${ids[9]}`, member);
  expect(listed(one)).toEqual([ids[9]]);
  const day = new Date(service.clock.now - 5 * DAY_MS).toISOString().slice(0, 10);
  expect(listed(await open(service, `${path}?from=${day}&to=${day}`, member))).toEqual([ids[5]]);
});

test('a search examines a bounded number of payments, and can be continued', async () => {
  const first = await open(service, `${path}?search=ORDER`, member);
  expect(listed(first)).toEqual(ids.slice(0, 25));
  const second = await open(service, linkOf(first, 'next') ?? '', member);
  expect(listed(second)).toEqual(ids.slice(25, 50));
  const third = await open(service, linkOf(second, 'next') ?? '', member);
  expect(listed(third)).toEqual(ids.slice(50));
  expect(linkOf(third, 'next')).toBeUndefined();
  expect(textOf(third)).toContain('Newest');

  const large = (await addMerchant(service)).merchant;
  const { id } = await addPayment(service.db, large, {
    created_at: new Date(service.clock.now - DAY_MS),
    customer_reference_id: 'the oldest',
  });
  await copyPayment(service.db, id, { copies: SEARCH_WINDOW, apartMs: 1000 });
  const reader = await addMerchantUser(service, large.id, 'member');
  const url = `/panel/merchants/${large.id}/payments`;
  const none = await open(service, `${url}?search=oldest`, reader);
  expect(textOf(none)).toContain('None among the 5,000 payments that were searched.');
  expect(listed(await open(service, linkOf(none, 'next') ?? '', reader))).toEqual([id]);
  // A whole reference is found at once, however old, and not again when the search comes to it.
  const older = [];
  for (let index = 1; index <= 30; index++) {
    older.push(
      await addPayment(service.db, large, {
        created_at: new Date(service.clock.now - DAY_MS - index),
        customer_reference_id: index % 10 === 0 ? 'not the oldest' : 'the oldest',
      }),
    );
  }
  const all = [id, ...older.map(payment => payment.id)].toSorted();
  const begin = await open(service, `${url}?search=the+oldest`, reader);
  expect(listed(begin)).toHaveLength(25);
  expect(listed(begin)[0]).toBe(id);
  const rest = await open(service, linkOf(begin, 'next') ?? '', reader);
  expect([...listed(begin), ...listed(rest)].toSorted()).toEqual(all);
  const file = await service.app.inject({
    url: `${url}.csv?search=the+oldest`,
    headers: { host: HOST, cookie: reader.cookie, 'sec-fetch-site': 'same-origin' },
  });
  const rows = file.body.trimEnd().split('\r\n').slice(1);
  expect(rows.map(row => row.slice(1, 37)).toSorted()).toEqual(all);
});

describe('the state of what has arrived', () => {
  const USDC = { blockchainId: 'eth-usdc-test', address: ADDRESSES['eth-test'] };
  let account: MerchantWithKey;
  let reader: Visitor;
  let url: string;
  let serial = 0;
  const found = new Map<string, string>();

  /** Creates a payment of $50 in a stablecoin, and transfers of these shares of it. */
  async function pay(name: string, ...shares: readonly bigint[]) {
    const checkout = await openCheckout(service, account, { customerReferenceId: name });
    await checkout.pick(USDC.blockchainId);
    const { token_amount: asked, address } = await checkout.payment();
    for (const share of shares) {
      serial += 1;
      const transfer = simulatedTransfer({
        transactionHash: `0xarrived${serial}`,
        ...USDC,
        address: address ?? '',
        tokenAmount: (BigInt(asked ?? 0) * share) / 1000n,
        blockHeight: 1,
        occurredAt: new Date(service.clock.now),
      });
      await observeTransfer(service.db, transfer, new Date(service.clock.now));
      // Otherwise a payment that is created later could count as one that was open.
      service.clock.now += 1_000;
    }
    found.set(name, checkout.paymentId);
    return checkout;
  }

  beforeAll(async () => {
    account = await addMerchant(service, {
      addresses: { 'eth-usdc-test': ADDRESSES['eth-test'] },
    });
    reader = await addMerchantUser(service, account.merchant.id, 'member');
    url = `/panel/merchants/${account.merchant.id}/payments`;
    await pay('exactly', 1000n);
    await pay('too much', 1010n);
    await pay('twice', 1000n, 1000n);
    const late = await pay('late');
    await late.simulate('late');
    const short = await pay('too little', 500n);
    await short.simulate('rest');
    // The rest of another payment already has half of the price.
    await pay('half', 400n);
    await (await pay('undone')).simulate('reorg');
  });

  const shown = async (query: string) => {
    const page = await open(service, `${url}?${query}`, reader);
    const names = [...found].filter(([, id]) => listed(page).includes(id)).map(([name]) => name);
    return { names, text: textOf(page) };
  };

  test.each([
    ['under', ['half'], 'underpaid'],
    ['over', ['too much'], 'overpaid'],
    ['duplicate', ['twice'], 'paid twice'],
    ['late', ['late'], 'arrived late'],
  ])('is a filter (%s) and a badge', async (kind, names, badge) => {
    const list = await shown(`arrived=${kind}`);
    expect(list.names).toEqual(names);
    expect(list.text).toMatch(new RegExp(`(pending|successful|expired) ${badge}`));
    // In the filter, and once in the list.
    const all = await shown('');
    expect(all.text.split(` ${badge} `).length - 1).toBe(2);
  });

  test('is a column of the list and of the file, and filters can be combined', async () => {
    const list = await shown('search=half');
    expect(list.names).toEqual(['half']);
    expect(list.text).toMatch(/\$50\.00 pending underpaid 20(\.\d+)? USDC/);
    expect((await shown('arrived=under&status=successful')).names).toEqual([]);
    expect((await shown('arrived=under&search=hal')).names).toEqual(['half']);
    expect((await shown('search=HALF&from=2020-01-01&to=2020-01-02')).names).toEqual([]);
    const file = await service.app.inject({
      url: `${url}.csv?arrived=under`,
      headers: { host: HOST, cookie: reader.cookie, 'sec-fetch-site': 'same-origin' },
    });
    const [head = '', row = '', ...rest] = file.body.trimEnd().split('\r\n');
    expect(rest).toEqual([]);
    expect(head).toContain('received');
    expect(row).toMatch(/20(\.\d+)? USDC/);
  });

  const FIRST = 'Too little: the first part';
  test.each([
    ['exactly', ['The exact amount: it pays the payment.']],
    ['too much', ['A little more than asked for: it pays the payment.']],
    ['twice', ['The exact amount:', 'Duplicate, arrived again: not counted. Waits to be settled']],
    ['late', ['Arrived too late: not counted. Waits to be settled']],
    ['too little', [`${FIRST}, which the rest has completed.`, 'The rest: it completes']],
    ['half', [`${FIRST}. The customer is asked for the rest.`]],
    ['undone', ['undone by the chain Nothing arrived by it: not counted.']],
  ])('is told apart on the page of a payment: %s', async (name, words) => {
    const page = await open(service, `${url}/${found.get(name)}`, reader);
    const [, list = ''] = page.body.match(/id="transfers">.*?<ul class="rows">(.*?)<\/ul>/s) ?? [];
    const told = list.split('</li>').slice(0, -1);
    expect(told.map(body => textOf({ body }))).toEqual(
      words.map(each => expect.stringContaining(each)),
    );
    for (const each of told) {
      expect(textOf({ body: each })).toMatch(/[\d.]+ USDC on Ethereum Sepolia.*, \d+ May 2026/);
      expect(each).toMatch(/<code>0x\w+<\/code>/);
    }
    const uncounted = await service.db
      .selectFrom('deviating_deposits')
      .innerJoin('deposits', 'deposits.id', 'deposit_id')
      .select('deposit_id')
      .where('deviating_deposits.payment_id', '=', found.get(name) ?? '')
      .where('kind', 'in', ['late', 'duplicate'])
      .where('state', '=', 'final')
      .execute();
    const links = [...list.matchAll(/\/unmatched\/([0-9a-f-]{36})"/g)].map(([, id]) => id);
    expect(links).toEqual(uncounted.map(row => row.deposit_id));
  });

  test('payments can be found by an amount on chain and by their address', async () => {
    const payment = await findPayment(service.db, found.get('half') ?? '');
    const amount = String(Number(payment?.token_amount) / 1e6);
    expect((await shown(`search=${amount}`)).names).toEqual(['half']);
    const all = await shown(`search=${ADDRESSES['eth-test'].toLowerCase()}`);
    expect(all.names).toEqual([...found.keys()]);
  });
});

test('days in the wrong order are refused with a message, by the list and by the file', async () => {
  const days = 'from=2026-03-02&to=2026-03-01';
  const page = await open(service, `${path}?${days}`, member);
  expect(page.statusCode).toBe(422);
  expect(textOf(page)).toContain('From, 2026-03-02, is after To, 2026-03-01.');
  // The list shows times in the reader's zone.
  expect(textOf(page)).toMatch(/From \(UTC day\) .*To \(UTC day\)/);
  const file = await open(service, `${path}.csv?${days}`, member);
  expect(file.headers.location).toBe(`${path}?${days}`);
});

test('a filter that finds nothing says so, and how to remove it', async () => {
  const page = await open(service, `${path}?search=nothing`, member);
  expect(textOf(page)).toContain('No payment matches. Clear filters');
  expect(page.body).toContain('value="nothing"');
  expect(page.body).not.toContain('payments.csv');
});

test('before the first payment there is nothing to filter, and a hint how to create one', async () => {
  const { path: empty, ada } = await addShop(service, '/payments');
  const page = await open(service, empty, ada);
  expect(textOf(page)).toContain('Create one with your API key, as the quickstart shows.');
  expect(page.body).not.toMatch(/role="search"|payments\.csv/);
});

test('a page beyond the last says so, and links to the first', async () => {
  const url = `${path}?status=pending`;
  const after = ids.at(-1);
  expect(after).toBeDefined();
  const page = await open(service, `${path}?after=${after}`, member);
  expect(textOf(page)).toContain('There are none further. To the first page');
  expect(page.body).toContain(`<a href="${path}">To the first page</a>`);
  const newer = await open(service, `${url}&before=${ids[0]}`, member);
  expect(newer.body).toContain(`<a href="${url}">To the first page</a>`);
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
        host: HOST,
        cookie: member.cookie,
        'sec-fetch-site': 'same-origin',
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
    expect(body.startsWith('\uFEFF"id","createdAt",')).toBe(true);
    const lines = body.trimEnd().split('\r\n');
    expect(lines).toHaveLength(62);
    expect(lines[1]).toContain(`"${ids[0]}",`);
    expect(lines.at(-1)).toContain(`"'=HYPERLINK(""https://evil.example"")"`);
    const entry = await service.db
      .selectFrom('audit_log')
      .selectAll()
      .where('action', '=', 'payment.export')
      .where('actor', '=', member.email)
      .executeTakeFirstOrThrow();
    expect(entry).toMatchObject({ actor: member.email, detail: { rows: 61 } });
  });

  test('can be downloaded only through a link of our own pages', async () => {
    const foreign = await download(`${path}.csv`, { 'sec-fetch-site': 'cross-site' });
    expect(foreign.statusCode).toBe(403);
  });

  test('has the filters of the list, and can be downloaded six times an hour', async () => {
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
  test('shows everything that happened to it', async () => {
    const { id } = await addPayment(service.db, shop.merchant, {
      created_at: new Date(service.clock.now),
      offered_blockchain_ids: ['eth-test'],
    });
    const page = await open(service, `${path}/${id}`, member);
    expect(page.statusCode).toBe(200);
    expect(textOf(page)).toContain('Created for $10.00');
    expect(page.body).toContain('data-refresh="5"');
  });

  test('of others looks like a missing one', async () => {
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

  test('can be simulated, and shows what happened', async () => {
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
