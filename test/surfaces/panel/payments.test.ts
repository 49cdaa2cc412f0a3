import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setNetwork } from '#accounts/networks.ts';
import { observeTransfer } from '#onchain/settlement/observe-transfer.ts';
import { SIMULATION_CASES } from '#schemas/simulation-cases.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { SEARCH_WINDOW } from '#storage/repositories/payments/search.ts';
import {
  ADDRESSES,
  addMerchant,
  type MerchantWithKey,
  operatorOf,
} from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import { openCheckout } from '../../helpers/checkout.ts';
import { releaseAll } from '../../helpers/open-payment.ts';
import {
  addMerchantUser,
  addShop,
  HOST,
  noticeOf,
  open,
  submit,
  textOf,
  type Visitor,
} from '../../helpers/panel.ts';
import { addPayment, copyPayment } from '../../helpers/payments.ts';
import { simulatedTransfer } from '../../helpers/see-transfer.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Columns of a payment whose customer has chosen a network. */
const ON_NETWORK = {
  blockchain_id: 'eth-usdc-test',
  address: ADDRESSES['eth-test'],
  token_amount: 10_080_000n,
  token_decimals: 6,
};

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
      ...(index === 8 ? ON_NETWORK : {}),
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
  ['minimum=10.57&maximum=$10.58', [57, 58]],
  ['maximum=10.04&status=pending', [0, 1, 2, 4]],
  ['minimum=10.5&search=rder 5', Array.from({ length: 10 }, (_, n) => 50 + n)],
  ['network=eth-usdc-test', [8]],
  ['network=eth-usdc-test&minimum=10.08&search=order 8', [8]],
  ['network=btc&search=order 8', []],
  ['status=nonsense&from=yesterday', null],
] as const)('with ?%s it shows what matches', async (query, expected) => {
  const page = await open(service, `${path}?${query.replaceAll(' ', '%20')}`, member);
  expect(page.statusCode).toBe(200);
  expect(listed(page)).toEqual(expected === null ? ids.slice(0, 25) : expected.map(n => ids[n]));
});

test('a payment can be found by its ID, and by days including their ends', async () => {
  const one = await open(service, `${path}?search=${ids[9]}`, member);
  expect(listed(one)).toEqual([ids[9]]);
  for (const filter of ['network=btc', 'minimum=10.10', 'maximum=10.08']) {
    expect(listed(await open(service, `${path}?search=${ids[9]}&${filter}`, member))).toEqual([]);
  }
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
  const dear = await open(service, `${url}?search=the+oldest&minimum=10.01`, reader);
  expect(listed(dear)).toEqual([]);
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
    ['duplicate', ['twice'], 'more came once paid'],
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
    ['too much', ['More than asked for: it pays the payment.']],
    ['twice', ['The exact amount:', 'Arrived once it was paid: not counted. Waits to be settled']],
    ['late', ['Arrived too late: not counted. Waits to be settled']],
    ['too little', [`${FIRST}, which the rest has completed.`, 'The rest: it completes']],
    ['half', [`${FIRST}. The customer is asked for the rest.`]],
    ['undone', ['undone by the chain Nothing arrived by it: not counted.']],
  ])('is told apart on the page of a payment: %s', async (name, words) => {
    const page = await open(service, `${url}/${found.get(name)}`, reader);
    const excess = / In all 0\.5\d* USDC more than was asked for\./;
    expect(excess.test(textOf(page))).toBe(name === 'too much');
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

test.each([
  ['minimum=cheap', 'Give an amount in dollars, as 10.00.'],
  ['maximum=1.234', 'Give an amount in dollars, as 10.00.'],
  ['minimum=$2&maximum=1.99', 'Amount from, $2, is more than Amount to, 1.99.'],
])(
  'amounts as in ?%s are refused with a message, by the list and by the file',
  async (amounts, message) => {
    const page = await open(service, `${path}?${amounts}`, member);
    expect(page.statusCode).toBe(422);
    expect(textOf(page)).toContain(message);
    const file = await open(service, `${path}.csv?${amounts}`, member);
    expect(file.headers.location).toBe(`${path}?${new URLSearchParams(amounts)}`);
  },
);

describe('a search for fewer characters than a part has', () => {
  const HINT = 'A part of a reference takes at least 3 characters.';

  test.each(['or', '李', '张三', '😀😀', 'é', 'ор'])('says so: %s', async text => {
    const page = await open(service, `${path}?search=${encodeURIComponent(text)}`, member);
    expect(textOf(page)).toContain(HINT);
    expect(textOf(page)).toContain('Clear filters');
  });

  test.each(['der', '张三李', '😀😀😀', 'орд'])('does not for %s', async text => {
    const page = await open(service, `${path}?search=${encodeURIComponent(text)}`, member);
    expect(textOf(page)).not.toContain(HINT);
  });

  test('finds a whole reference, and says so as well', async () => {
    const { merchant, path: own, ada } = await addShop(service, '/payments');
    const { id } = await addPayment(service.db, merchant, {
      created_at: new Date(service.clock.now),
      customer_reference_id: '张三',
    });
    const page = await open(service, `${own}?search=${encodeURIComponent('张三')}`, ada);
    expect(listed(page)).toEqual([id]);
    expect(textOf(page)).toContain(HINT);
  });
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
    const grace = await addMerchantUser(service, shop.merchant.id, 'member', { name: 'Grace' });
    const amounts = await download(`${path}.csv?minimum=10.57&maximum=10.58&network=`, {
      cookie: grace.cookie,
    });
    expect(amounts.body.trimEnd().split('\r\n')).toHaveLength(3);
    const network = await download(`${path}.csv?network=eth-usdc-test`, { cookie: grace.cookie });
    expect(network.body.trimEnd().split('\r\n')).toHaveLength(2);
    const audited = await service.db
      .selectFrom('audit_log')
      .select('detail')
      .where('action', '=', 'payment.export')
      .where('actor', '=', grace.email)
      .orderBy('id')
      .execute();
    expect(audited).toMatchObject([
      { detail: { rows: 2, filters: { minimum: '10.57', maximum: '10.58' } } },
      { detail: { rows: 1, filters: { network: 'eth-usdc-test' } } },
    ]);
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
    expect(noticeOf(played)).toEqual({ text: 'Simulated: cancel.' });
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
    expect(noticeOf(await play(other.id, 'over'))?.text).toMatch(
      /^The payment is still pending\. A transfer went to the inbox: several payments wait at/,
    );
    expect((await play(one.id, 'expire')).statusCode).toBe(303);
    expect(noticeOf(await play(other.id, 'over'))?.text).toBe('Simulated: over.');
  });

  test('on a network without a price is not simulated, and the page says why', async () => {
    const { id } = await addPayment(service.db, shop.merchant, {
      created_at: new Date(service.clock.now),
      offered_blockchain_ids: ['eth'],
    });
    service.rates.switchOff('ETH');
    const refused = await submit(service, `${path}/${id}/simulate`, { case: 'confirm' }, member);
    service.rates.switchOn('ETH');
    expect(refused.statusCode).toBe(422);
    expect(textOf(refused)).toContain('has no price or no free amount just now');
  });

  describe('offers to simulate what its state allows', () => {
    /** The cases that a page offers. */
    const offered = async (id: string, list = path, visitor = member) => {
      const { body } = await open(service, `${list}/${id}`, visitor);
      const [, select = ''] = /<select id="case".*?>(.*?)<\/select>/s.exec(body) ?? [];
      return [...select.matchAll(/value="(\w+)"/g)].map(([, name]) => name);
    };
    const add = (columns: Partial<Parameters<typeof addPayment>[2]> = {}) =>
      addPayment(service.db, shop.merchant, {
        created_at: new Date(service.clock.now),
        offered_blockchain_ids: ['eth'],
        ...columns,
      });
    const play = (id: string, name: string) =>
      submit(service, `${path}/${id}/simulate`, { case: name }, member);

    beforeEach(() => releaseAll(service.db));

    test('while it is open: every case, none of which is refused', async () => {
      const { id } = await add();
      expect(await offered(id)).toEqual(SIMULATION_CASES);
      for (const name of SIMULATION_CASES) {
        const payment = await add();
        expect((await play(payment.id, name)).statusCode, name).toBe(303);
        await releaseAll(service.db);
      }
    });

    test('once funds have been seen, and once it has ended', async () => {
      const { id } = await add();
      await play(id, 'detect');
      expect(await offered(id)).toEqual(['confirm']);
      expect((await play(id, 'cancel')).statusCode).toBe(422);
      await play(id, 'confirm');
      expect(await offered(id)).toEqual(['late']);
      expect((await play(id, 'expire')).statusCode).toBe(422);
      expect((await play(id, 'late')).statusCode).toBe(303);
      const { id: cancelled } = await add();
      await play(cancelled, 'cancel');
      expect(await offered(cancelled)).toEqual([]);
    });

    test('on a US account: what the sandbox sends in its state', async () => {
      const { merchant, path: list, ada } = await addShop(service, '/payments', { kind: 'us' });
      const addUs = (columns: Partial<Parameters<typeof addPayment>[2]>) =>
        addPayment(service.db, merchant, {
          created_at: new Date(service.clock.now),
          processor: 'sandbox',
          ...columns,
        });
      for (const [columns, cases] of [
        [{}, ['confirm', 'detect', 'fail', 'cancel']],
        [{ session_status: 'completed' }, ['confirm', 'fail']],
        [{ status: 'cancelled', session_status: 'cancelled' }, []],
        [{ processor: 'stripe' }, []],
      ] as const) {
        const { id } = await addUs(columns);
        expect(await offered(id, list, ada)).toEqual(cases);
      }
    });

    test('without a network that is simulated: no transfer', async () => {
      expect(await offered((await add({ offered_blockchain_ids: [] })).id)).toEqual([
        'cancel',
        'expire',
      ]);
      const network = (columns: object) =>
        service.db.updateTable('networks').set(columns).where('id', '=', 'eth').execute();
      await network({ settled_by: 'chain' });
      expect(await offered((await add()).id)).toEqual(['cancel', 'expire']);
      const chosen = { ...ON_NETWORK, blockchain_id: 'eth', token_decimals: 18 };
      const { id } = await add(chosen);
      expect(await offered(id)).toEqual(['cancel']);
      expect((await play(id, 'confirm')).statusCode).toBe(422);
      await network({ settled_by: 'simulation', is_active: false });
      expect(await offered((await add()).id)).toEqual(['cancel', 'expire']);
      await network({ is_active: true });
    });
  });

  test('names its network, and its ID, address and transaction can be copied', async () => {
    const { id } = await addPayment(service.db, shop.merchant, {
      created_at: new Date(service.clock.now),
      ...ON_NETWORK,
      transaction_hash: '0xabc',
    });
    const explorer = 'https://explorer.example/tx/{hash}';
    await setNetwork(operatorOf(service), ON_NETWORK.blockchain_id, { explorer });
    const page = await open(service, `${path}/${id}`, member);
    await setNetwork(operatorOf(service), ON_NETWORK.blockchain_id, { explorer: null });
    expect(page.body).toContain('USDC on Ethereum Sepolia <code>eth-usdc-test</code>');
    for (const [what, value] of [
      ['id', id],
      ['address', ON_NETWORK.address],
      ['transaction', '0xabc'],
    ]) {
      expect(page.body).toContain(`<code id="payment-${what}">${value}</code>`);
      expect(page.body).toContain(`data-copy="payment-${what}" aria-label="Copy: `);
    }
    expect(page.body).toContain('<a href="https://explorer.example/tx/0xabc" rel="noreferrer">');
    expect((await open(service, `${path}/${id}`, member)).body).not.toContain('explorer.example');
    const list = await open(service, `${path}?network=${ON_NETWORK.blockchain_id}`, member);
    expect(textOf(list).match(/USDC on Ethereum Sepolia/g)?.length).toBeGreaterThan(2);
  });
});
