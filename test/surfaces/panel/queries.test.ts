import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { SEARCH_WINDOW } from '#storage/repositories/payments/search.ts';
import type { TestApp } from '../../helpers/app.ts';
import { addDelivery } from '../../helpers/deliveries.ts';
import { open } from '../../helpers/panel.ts';
import { copyPayment } from '../../helpers/payments.ts';
import { startWithRoutes } from '../../helpers/registered-routes.ts';
import { simulate } from '../../helpers/simulate.ts';
import { type FilledPanel, fillPanel, OWN_ADDRESS } from './filled-panel.ts';

/** How many queries each page makes, when it has something to show. */

/** The most queries of a page, those of its session included. */
const QUERIES = 8;

/**
 * Statements that may be sent meanwhile but do not belong to a page: a new connection asks whether its server is the
 * primary, the use of keys is written within a second, and starting or ending a transaction reads nothing.
 */
const NOT_OF_PAGES =
  /pg_walfile_name|insert into (request_log|api_key_usage) |"(begin|start transaction|commit)\b/;

/** Queries of lists, besides the plain one. */
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  '/panel/merchants/:accountId/payments': [
    '?status=successful&from=2026-01-01&to=2026-12-31',
    '?arrived=duplicate',
    '?network=eth-test&minimum=1&maximum=1000000',
    '?search=10.00',
    '?search=HASH',
    // Found, while older payments are left to examine.
    `?search=${OWN_ADDRESS}`,
  ],
  '/panel/merchants/:accountId/unmatched': ['?why=unknown&network=eth-test&worth=1000000'],
  '/panel/merchants/:accountId/settings/developer/requests': ['?code=E2007&status=401'],
  '/panel/merchants/:accountId/settings/developer/webhooks/:endpointId': [
    '?status=failed&from=2026-01-01&to=2026-12-31',
  ],
  '/panel/partners/:accountId/merchants': ['?search=a&action=required', '?search=a'],
  '/panel/partners/:accountId/payments': [
    '?status=pending&network=eth-test&from=2026-01-01&to=2026-12-31',
    '?search=a',
    '?search=7099&name=shop&address=7099',
  ],
};

const LEADS = /^\/panel\/($|go\/)/;
/** Pages of a person, independent of accounts, and links to a setting of one of them. */
const OWN_PAGES = /^\/panel\/($|profile|confirm|go\/)/;

let service: TestApp;
let paths: string[];
let panel: FilledPanel;
/** Hash of the transaction that settled the merchant's payment. */
let hash: string;

beforeAll(async () => {
  const started = await startWithRoutes();
  service = started.service;
  paths = started.registered
    .filter(({ method }) => method === 'GET')
    .map(({ url }) => url)
    .filter(url => /\/panel\/(merchants|partners)\//.test(url) || OWN_PAGES.test(url))
    .filter(url => !/\.(csv|jsonl?)$/.test(url));
  panel = await fillPanel(service);
  hash = await payTwice();
  await giveAddress();
  const [paymentId = ''] = panel.ids.paymentId ?? [];
  await copyPayment(service.db, paymentId, { copies: SEARCH_WINDOW, apartMs: -1000 });
});
afterAll(() => service.close());

/** Makes the partner's payment findable by its address. */
async function giveAddress(): Promise<void> {
  await service.db
    .updateTable('payments')
    .set({ blockchain_id: 'eth-test', address: OWN_ADDRESS, token_amount: '1', token_decimals: 6 })
    .where('id', '=', panel.ids.paymentId?.at(-1) ?? '')
    .execute();
}

/** Pays the merchant's payment twice, and delivers one of its events in vain. */
async function payTwice(): Promise<string> {
  const { paymentId = [], endpointId = [] } = panel.ids;
  const now = new Date(service.clock.now);
  const { payment } = await simulate(service, paymentId[0] ?? '', 'duplicate', now);
  await addDelivery(service, payment, {
    endpointId: endpointId[0] ?? '',
    log: [{ status_code: 500 }, { error: 'timeout' }],
  });
  return payment.transaction_hash ?? '';
}

/** How many queries a page makes. */
async function queriesOf(url: string, cookie: string): Promise<number> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  try {
    const { statusCode } = await open(service, url, { cookie });
    // Who has only one account is redirected to it.
    expect({ url, statusCode }).toEqual({ url, statusCode: LEADS.test(url) ? 303 : 200 });
    const sent = query.mock.calls.map(([given]) => JSON.stringify(given));
    return sent.filter(text => !NOT_OF_PAGES.test(text)).length;
  } finally {
    query.mockRestore();
  }
}

test('no page makes more than eight queries', async () => {
  const { people, ids, merchantId, partnerId } = panel;
  expect(paths.length).toBeGreaterThan(40);
  const counted: string[] = [];
  for (const path of paths) {
    const isPartners = path.includes('/partners/');
    const url = path
      .replace(':accountId', isPartners ? partnerId : merchantId)
      .replace(':setting', 'domains')
      .replaceAll(/:(\w+)/g, (_, name) => ids[name]?.at(isPartners ? -1 : 0) ?? '');
    const cookie = people[isPartners ? 'owner' : 'admin']?.visitor.cookie ?? '';
    for (const filters of ['', ...(FILTERS[path] ?? [])]) {
      const queries = await queriesOf(url + filters.replace('HASH', hash), cookie);
      expect(queries, path).toBeGreaterThan(0);
      if (queries > QUERIES) counted.push(`${path}${filters} makes ${queries}`);
    }
  }
  expect(counted).toEqual([]);
});
