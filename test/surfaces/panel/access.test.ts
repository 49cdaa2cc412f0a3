import type { RouteOptions } from 'fastify';
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setMerchant } from '#accounts/merchants.ts';
import { setPartner } from '#accounts/partners.ts';
import { setUser } from '#accounts/users.ts';
import { addMerchant, addPartner, operatorOf } from '../../helpers/accounts.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addPerson,
  addSession,
  HOST,
  open,
  submit,
} from '../../helpers/panel.ts';
import { addPayment } from '../../helpers/payments.ts';
import { startWithRoutes } from '../../helpers/registered-routes.ts';
import { fillPanel } from './filled-panel.ts';

/** Who may use a route; everybody else is refused. */
type Who =
  | 'everybody'
  | 'half signed in'
  | 'signed in'
  | 'admin'
  | 'admin and member'
  | 'owner'
  | 'owner and developer';

const M = '/panel/merchants/:accountId';
const P = '/panel/partners/:accountId';

/** Every route of the panel. */
const ROUTES: readonly (readonly [string, Who])[] = [
  ['GET /panel/', 'signed in'],
  ['GET /panel/sign-in', 'everybody'],
  ['POST /panel/sign-in', 'everybody'],
  ['GET /panel/forgotten-password', 'everybody'],
  ['POST /panel/forgotten-password', 'everybody'],
  ['GET /panel/forgotten-password/asked', 'everybody'],
  ['GET /panel/sign-in/code', 'half signed in'],
  ['POST /panel/sign-in/code', 'half signed in'],
  ['POST /panel/sign-out', 'everybody'],
  ['GET /panel/join/:token', 'everybody'],
  ['POST /panel/join/:token', 'everybody'],
  ['POST /panel/join/:token/accept', 'signed in'],
  ['GET /panel/join/:token/email', 'everybody'],
  ['POST /panel/join/:token/email', 'everybody'],
  ['GET /panel/join/:token/sign-in', 'everybody'],
  ['POST /panel/join/:token/sign-in', 'everybody'],
  ['GET /panel/invitation', 'signed in'],
  ['POST /panel/invitation', 'signed in'],
  ['GET /panel/profile', 'signed in'],
  ['GET /panel/profile/email', 'signed in'],
  ['POST /panel/profile/email', 'signed in'],
  ['POST /panel/profile/email/send', 'signed in'],
  ['GET /panel/profile/password', 'signed in'],
  ['POST /panel/profile/password', 'signed in'],
  ['GET /panel/profile/app', 'signed in'],
  ['POST /panel/profile/app', 'signed in'],
  ['GET /panel/profile/recovery-codes', 'signed in'],
  ['POST /panel/profile/recovery-codes', 'signed in'],
  ['POST /panel/profile/language', 'signed in'],
  ['POST /panel/profile/sessions/:id/end', 'signed in'],
  ['POST /panel/profile/sessions/end-others', 'signed in'],
  [`GET ${M}`, 'admin and member'],
  [`POST ${M}/attention`, 'admin and member'],
  [`GET ${M}/payments`, 'admin and member'],
  [`GET ${M}/payments/accounting.csv`, 'admin and member'],
  [`GET ${M}/payments/accounting.jsonl`, 'admin and member'],
  [`GET ${M}/payments.csv`, 'admin and member'],
  [`GET ${M}/payments/:paymentId`, 'admin and member'],
  [`GET ${M}/payments/:paymentId/evidence.json`, 'admin and member'],
  [`POST ${M}/payments/:paymentId/simulate`, 'admin and member'],
  [`POST ${M}/payments/:paymentId/return`, 'admin'],
  [`GET ${M}/unmatched`, 'admin and member'],
  [`GET ${M}/unmatched.csv`, 'admin and member'],
  [`GET ${M}/unmatched/:depositId`, 'admin and member'],
  [`POST ${M}/unmatched/dismiss`, 'admin'],
  [`POST ${M}/unmatched/:depositId/assign`, 'admin'],
  [`POST ${M}/unmatched/:depositId/ask`, 'admin'],
  [`POST ${M}/unmatched/:depositId/dismiss`, 'admin'],
  ['GET /panel/go/:setting', 'signed in'],
  [`GET ${M}/settings/business`, 'admin and member'],
  [`POST ${M}/settings/test-twin`, 'admin'],
  [`GET ${M}/settings/branches`, 'admin and member'],
  [`POST ${M}/settings/branches`, 'admin'],
  [`GET ${M}/settings/branches/:branchId/main`, 'admin'],
  [`POST ${M}/settings/branches/:branchId/main`, 'admin'],
  [`GET ${M}/settings/addresses`, 'admin and member'],
  [`GET ${M}/settings/addresses/:blockchainId`, 'admin and member'],
  [`POST ${M}/settings/addresses/:blockchainId/review`, 'admin'],
  [`POST ${M}/settings/addresses/:blockchainId/propose`, 'admin'],
  [`POST ${M}/settings/addresses/:blockchainId/remove`, 'admin'],
  [`GET ${M}/settings/changes/:changeId`, 'admin and member'],
  [`POST ${M}/settings/changes/:changeId/cancel`, 'admin'],
  [`POST ${M}/settings/changes/:changeId/approve`, 'admin'],
  [`POST ${M}/settings/second-admin`, 'admin'],
  [`GET ${M}/settings/second-admin/relax`, 'admin'],
  [`POST ${M}/settings/second-admin/relax`, 'admin'],
  [`GET ${M}/settings/domains`, 'admin and member'],
  [`POST ${M}/settings/domains/add`, 'admin'],
  [`POST ${M}/settings/domains/remove`, 'admin'],
  [`GET ${M}/settings/team`, 'admin and member'],
  [`GET ${M}/settings/team/invite`, 'admin'],
  [`POST ${M}/settings/team/invite`, 'admin'],
  [`GET ${M}/settings/team/:memberId/role`, 'admin'],
  [`POST ${M}/settings/team/:memberId/role`, 'admin'],
  [`GET ${M}/settings/team/:memberId/status`, 'admin'],
  [`POST ${M}/settings/team/:memberId/status`, 'admin'],
  [`GET ${M}/settings/team/:memberId/link`, 'admin'],
  [`POST ${M}/settings/team/:memberId/link`, 'admin'],
  [`GET ${M}/settings/activity`, 'admin'],
  ['GET /panel/preview/checkout/accents/:name', 'signed in'],
  [`GET ${M}/settings/appearance`, 'admin and member'],
  [`POST ${M}/settings/appearance`, 'admin'],
  [`GET ${M}/settings/appearance/preview`, 'admin and member'],
  [`POST ${M}/settings/appearance/preview`, 'admin and member'],
  [`GET ${M}/settings/developer/keys`, 'admin and member'],
  [`GET ${M}/settings/developer/keys/new`, 'admin'],
  [`POST ${M}/settings/developer/keys/new`, 'admin'],
  [`GET ${M}/settings/developer/keys/:keyId`, 'admin and member'],
  [`POST ${M}/settings/developer/keys/:keyId/rotate`, 'admin'],
  [`POST ${M}/settings/developer/keys/:keyId/revoke`, 'admin'],
  [`GET ${M}/settings/developer/webhooks`, 'admin and member'],
  [`GET ${M}/settings/developer/webhooks/new`, 'admin'],
  [`POST ${M}/settings/developer/webhooks/new`, 'admin'],
  [`GET ${M}/settings/developer/webhooks/:endpointId`, 'admin and member'],
  [`POST ${M}/settings/developer/webhooks/:endpointId/test`, 'admin'],
  [`POST ${M}/settings/developer/webhooks/:endpointId/rotate`, 'admin'],
  [`POST ${M}/settings/developer/webhooks/:endpointId/disable`, 'admin'],
  [`POST ${M}/settings/developer/webhooks/:endpointId/enable`, 'admin'],
  [`POST ${M}/settings/developer/webhooks/:endpointId/redeliver-failed`, 'admin and member'],
  [`GET ${M}/settings/developer/webhooks/:endpointId/deliveries.csv`, 'admin and member'],
  [`GET ${M}/settings/developer/webhooks/:endpointId/deliveries/:deliveryId`, 'admin and member'],
  [
    `GET ${M}/settings/developer/webhooks/:endpointId/deliveries/:deliveryId/payload.json`,
    'admin and member',
  ],
  [
    `POST ${M}/settings/developer/webhooks/:endpointId/deliveries/:deliveryId/redeliver`,
    'admin and member',
  ],
  [`GET ${M}/settings/developer/requests`, 'admin and member'],
  [`GET ${M}/settings/developer/requests.csv`, 'admin and member'],
  [`GET ${M}/settings/developer/requests/:requestId`, 'admin and member'],
  [`GET ${M}/settings/developer/explain`, 'admin and member'],
  [`POST ${M}/settings/developer/explain`, 'admin and member'],
  [`GET ${P}`, 'owner and developer'],
  [`POST ${P}/attention`, 'owner and developer'],
  [`GET ${P}/merchants`, 'owner'],
  [`GET ${P}/merchants/:merchantId`, 'owner'],
  [`GET ${P}/payments`, 'owner'],
  [`GET ${P}/payments.csv`, 'owner'],
  [`GET ${P}/payments/:paymentId`, 'owner'],
  [`GET ${P}/commission`, 'owner'],
  [`GET ${P}/commission.csv`, 'owner'],
  [`GET ${P}/commission.json`, 'owner'],
  [`GET ${P}/team`, 'owner'],
  [`GET ${P}/team/invite`, 'owner'],
  [`POST ${P}/team/invite`, 'owner'],
  [`GET ${P}/team/:memberId/role`, 'owner'],
  [`POST ${P}/team/:memberId/role`, 'owner'],
  [`GET ${P}/team/:memberId/status`, 'owner'],
  [`POST ${P}/team/:memberId/status`, 'owner'],
  [`GET ${P}/team/:memberId/link`, 'owner'],
  [`POST ${P}/team/:memberId/link`, 'owner'],
  [`GET ${P}/activity`, 'owner'],
  [`GET ${P}/settings`, 'owner'],
  [`POST ${P}/settings/self-service`, 'owner'],
  [`GET ${P}/developer/keys`, 'owner and developer'],
  [`GET ${P}/developer/keys/new`, 'owner and developer'],
  [`POST ${P}/developer/keys/new`, 'owner and developer'],
  [`GET ${P}/developer/keys/:keyId`, 'owner and developer'],
  [`POST ${P}/developer/keys/:keyId/rotate`, 'owner and developer'],
  [`POST ${P}/developer/keys/:keyId/revoke`, 'owner and developer'],
  [`GET ${P}/developer/requests`, 'owner and developer'],
  [`GET ${P}/developer/requests.csv`, 'owner and developer'],
  [`GET ${P}/developer/requests/:requestId`, 'owner and developer'],
  [`GET ${P}/developer/explain`, 'owner and developer'],
  [`POST ${P}/developer/explain`, 'owner and developer'],
];

let service: TestApp;
let cookies: Record<string, string | undefined>;
let ids: Record<string, string>;
let registered: RouteOptions[];

beforeAll(async () => {
  ({ service, registered } = await startWithRoutes());
  const shop = await addMerchant(service);
  const others = await addMerchant(service);
  const demo = await addMerchant(service);
  const partner = await addPartner(service);
  const otherPartner = await addPartner(service);
  const idle = await addMerchantUser(service, shop.merchant.id, 'admin');
  await setUser(operatorOf(service), idle.userId, { status: 'inactive' });
  const payment = await addPayment(service.db, shop.merchant, {
    created_at: new Date(service.clock.now),
  });
  ids = {
    merchant: shop.merchant.id,
    demo: demo.merchant.id,
    partner: partner.partner.id,
    payment: payment.id,
    key: shop.keyId,
  };
  const cookieOf = async (visitor: Promise<{ cookie: string }>) => (await visitor).cookie;
  cookies = {
    visitor: undefined,
    'half signed in': await cookieOf(addPerson(service, { factorMinutesAgo: null })),
    'without account': await cookieOf(addPerson(service)),
    admin: await cookieOf(addMerchantUser(service, shop.merchant.id, 'admin')),
    demo: await cookieOf(addMerchantUser(service, demo.merchant.id, 'admin', { isDemo: true })),
    member: await cookieOf(addMerchantUser(service, shop.merchant.id, 'member')),
    'admin of others': await cookieOf(addMerchantUser(service, others.merchant.id, 'admin')),
    deactivated: await addSession(service, idle),
    owner: await cookieOf(addPartnerUser(service, partner.partner.id, 'owner')),
    developer: await cookieOf(addPartnerUser(service, partner.partner.id, 'developer')),
    'owner of others': await cookieOf(addPartnerUser(service, otherPartner.partner.id, 'owner')),
  };
});
afterAll(() => service.close());

/** A request with invalid contents, so that an admitted sender is refused for these. */
async function ask(route: string, who: string) {
  const [method = '', path = ''] = route.split(' ');
  const merchantId = who === 'demo' ? ids.demo : ids.merchant;
  const url = path
    .replace('/panel/merchants/:accountId', `/panel/merchants/${merchantId}`)
    .replace('/panel/partners/:accountId', `/panel/partners/${ids.partner}`)
    .replace(':token', 'x'.repeat(43))
    .replace(':paymentId', method === 'POST' || who === 'demo' ? uuidv7() : (ids.payment ?? ''))
    .replace(':keyId', 'mpk_000000000000000000000000')
    .replace(':setting', 'keys')
    .replace(':blockchainId', 'btc')
    .replaceAll(/:\w+/g, () => uuidv7());
  const visitor = cookies[who] === undefined ? {} : { cookie: cookies[who] };
  if (method !== 'POST') return open(service, url, visitor);
  const response = await submit(service, url, {}, visitor);
  // The demo's factor is a button, which renews the cookie.
  cookies[who] = visitor.cookie;
  return response;
}

function isAdmitted(rule: Who, who: string, route: string): boolean {
  // An admin whose second factor is a button.
  if (who === 'demo') return isAdmitted(rule, 'admin', route);
  switch (rule) {
    case 'everybody':
      return true;
    case 'half signed in':
      return who === 'half signed in';
    case 'signed in':
      return !['visitor', 'half signed in'].includes(who);
    default:
      return (
        rule.split(' and ').includes(who) &&
        (route.includes('/merchants/:accountId')
          ? ['admin', 'member']
          : ['owner', 'developer']
        ).includes(who)
      );
  }
}

test('every registered route of the panel is in the table, and requires something', () => {
  const own = registered.filter(
    ({ url, method }) => url.startsWith('/panel') && method !== 'HEAD' && !url.includes('/assets/'),
  );
  const names = new Set(own.map(({ method, url }) => `${method} ${url}`));
  expect([...names].sort()).toEqual(ROUTES.map(([route]) => route).sort());
  expect(own.filter(({ config }) => config?.panel === undefined)).toEqual([]);
});

describe.each([
  ...['visitor', 'half signed in', 'without account', 'admin', 'demo', 'member'],
  ...['admin of others', 'deactivated', 'owner', 'developer', 'owner of others'],
])('%s', who => {
  test('gets what the table says, and everything else changes nothing', async () => {
    const before = await snapshot();
    for (const [route, rule] of ROUTES) {
      // These end the current session.
      if (route === 'POST /panel/sign-out' || route.includes('/sessions/')) continue;
      // Files are audited; their contents have their own tests.
      if (/\.(csv|jsonl?)$/.test(route) && isAdmitted(rule, who, route)) continue;
      const { statusCode, headers } = await ask(route, who);
      const leads = String(headers.location ?? '');
      const isRefused =
        statusCode === 403 ||
        leads.startsWith('/panel/sign-in') ||
        (statusCode === 404 && isForeign(route, who));
      expect({ route, isRefused }, `${statusCode} ${leads}`).toEqual({
        route,
        isRefused: !isAdmitted(rule, who, route),
      });
    }
    expect(await snapshot()).toEqual(before);
  });
});

/** Whether an account in the path is not one of theirs: then they are refused with 404. */
function isForeign(route: string, who: string): boolean {
  if (route.includes('/sign-in/code')) return who !== 'half signed in';
  if (route.includes('/merchants/:accountId')) return !['admin', 'demo', 'member'].includes(who);
  if (route.includes('/partners/:accountId')) return !['owner', 'developer'].includes(who);
  return false;
}

/** What a refused request must not change. */
async function snapshot() {
  const { rows } = await sql`
    select (select json_agg(k order by id) from api_keys k) as keys,
           (select json_agg(p order by id) from payments p) as payments,
           (select json_agg(p order by id) from people p) as people,
           (select json_agg(u order by id) from merchant_users u) as users,
           (select json_agg(m order by id) from partner_members m) as members,
           (select json_agg(l order by id) from panel_links l) as links,
           (select json_agg(p order by id) from partners p) as partners,
           (select json_agg(m order by id) from merchants m) as merchants,
           (select json_agg(l order by merchant_id) from merchant_logos l) as logos,
           (select json_agg(b order by id) from branches b) as branches,
           (select json_agg(a order by branch_id, blockchain_id, address) from deposit_addresses a)
             as addresses,
           (select json_agg(c order by id) from address_changes c) as changes,
           (select json_agg(e order by id) from webhook_endpoints e) as endpoints,
           (select json_agg(d order by id) from webhook_deliveries d) as deliveries,
           (select json_agg(d order by merchant_id, domain) from redirect_domains d) as domains,
           (select json_agg(a order by at) from attention_put_aside a) as put_aside,
           (select count(*) from audit_log) as audited`.execute(service.db);
  return rows[0];
}

test.each([
  ['from another site', { 'sec-fetch-site': 'cross-site' }],
  ['from another host of the domain', { 'sec-fetch-site': 'same-site' }],
  ['that somebody typed', { 'sec-fetch-site': 'none' }],
  ['with another origin', { origin: 'https://evil.example' }],
  ['with no origin that counts', { origin: 'null' }],
  ['that does not say', {}],
])('a form %s changes nothing', async (_, headers) => {
  const before = await snapshot();
  const cookie = cookies.admin ?? '';
  for (const [route] of ROUTES.filter(([each]) => each.startsWith('POST'))) {
    const path = (route.split(' ')[1] ?? '')
      .replace('merchants/:accountId', `merchants/${ids.merchant}`)
      .replace(':keyId', ids.key ?? '')
      .replace(':paymentId', ids.payment ?? '');
    const fields = { name: 'Test key', intent: uuidv7(), grace: 'no', case: 'confirm' };
    const response = await submit(service, path, fields, { cookie, headers });
    expect(response.statusCode, route).toBe(403);
  }
  expect(await snapshot()).toEqual(before);
  expect((await open(service, `/panel/merchants/${ids.merchant}`, { cookie })).statusCode).toBe(
    200,
  );
});

test.each([
  ['another site', { 'sec-fetch-site': 'cross-site' }],
  ['another host of the domain', { 'sec-fetch-site': 'same-site' }],
  ['a line that somebody typed', { 'sec-fetch-site': 'none' }],
  ['no origin at all', {}],
])('a file cannot be downloaded through a link of %s', async (_, headers) => {
  const before = await snapshot();
  for (const [route] of ROUTES.filter(([each]) => /\.(csv|jsonl?)$/.test(each))) {
    const cookie = cookies[route.includes('/partners/') ? 'owner' : 'admin'] ?? '';
    const url = (route.split(' ')[1] ?? '')
      .replace('merchants/:accountId', `merchants/${ids.merchant}`)
      .replace('partners/:accountId', `partners/${ids.partner}`)
      .replace(':paymentId', ids.payment ?? '')
      .replaceAll(/:\w+Id/g, () => uuidv7());
    const response = await service.app.inject({ url, headers: { host: HOST, cookie, ...headers } });
    expect(response.statusCode, route).toBe(403);
  }
  expect(await snapshot()).toEqual(before);
});

test('an old browser is judged by the Origin that it sends', async () => {
  const cookie = cookies.member ?? '';
  const headers = { origin: 'https://pay.example.test' };
  const path = `/panel/merchants/${ids.merchant}/payments/${ids.payment}/simulate`;
  const response = await submit(service, path, { case: 'nothing' }, { cookie, headers });
  expect(response.statusCode).toBe(422);
});

test('an account of others looks like a missing one', async () => {
  const cookie = cookies['admin of others'] ?? '';
  const [foreign, missing] = await Promise.all([
    open(service, `/panel/merchants/${ids.merchant}`, { cookie }),
    open(service, `/panel/merchants/${uuidv7()}`, { cookie }),
  ]);
  const plain = ({ body }: { body: string }) => body.replaceAll(/[0-9a-f-]{36}/g, 'ID');
  expect(foreign.statusCode).toBe(404);
  expect(plain(foreign)).toBe(plain(missing));
});

test.each(['admin', 'member'])(
  'an inactive account can be read by its %s, but not changed',
  async who => {
    const setStatus = (status: 'active' | 'inactive') =>
      setMerchant(operatorOf(service), ids.merchant ?? '', { status });
    await setStatus('inactive');
    const before = await snapshot();
    for (const [route, rule] of ROUTES.filter(([each]) => each.includes('/merchants/:accountId'))) {
      if (/\.(csv|jsonl?)$/.test(route)) continue;
      const { statusCode, body } = await ask(route, who);
      const isRefused = route.startsWith('POST') || !isAdmitted(rule, who, route);
      expect({ route, isRefused: statusCode === 403 }, String(statusCode)).toEqual({
        route,
        isRefused,
      });
      if (isAdmitted(rule, who, route) && isRefused)
        expect(body).toContain('This account is inactive');
    }
    expect(await snapshot()).toEqual(before);
    await setStatus('active');
  },
);

test('no page of an inactive account shows a form that would be refused', async () => {
  const { merchantId, partnerId, people } = await fillPanel(service);
  await setMerchant(operatorOf(service), merchantId, { status: 'inactive' });
  await setPartner(operatorOf(service), partnerId, { status: 'inactive' });
  for (const [start, who] of [
    [`/panel/merchants/${merchantId}`, 'admin'],
    [`/panel/partners/${partnerId}`, 'owner'],
  ] as const) {
    const pages = await crawl(start, people[who]?.visitor);
    for (const { path, main } of pages) {
      expect(main, path).not.toMatch(/<form method="post"|formmethod="post"/);
    }
    expect(pages.length).toBeGreaterThan(10);
  }
});

/** Opens all pages of an account that can be reached by links from the first one. */
async function crawl(start: string, visitor: { cookie: string } | undefined) {
  const seen = new Set<string>([start]);
  const pages: { path: string; main: string }[] = [];
  for (const path of seen) {
    const { body, statusCode } = await open(service, path, visitor);
    expect(statusCode, path).toBe(200);
    pages.push({ path, main: body.slice(body.indexOf('<main')) });
    for (const [, link = ''] of body.matchAll(/href="([^"?#]+)/g)) {
      if (link.startsWith(start) && !/\.(csv|json)$/.test(link)) seen.add(link);
    }
  }
  return pages;
}

test('a role sees only pages and forms that it may use', async () => {
  const { merchantId, partnerId, people } = await fillPanel(service);
  for (const [who, least] of [
    ['demo', 30],
    ['member', 18],
    ['developer', 4],
  ] as const) {
    const start = who === 'developer' ? `partners/${partnerId}` : `merchants/${merchantId}`;
    const visitor = { cookie: people[who]?.visitor.cookie ?? '' };
    const pages = await crawl(`/panel/${start}`, visitor);
    expect(pages.length, who).toBeGreaterThan(least);
    for (const { path, main } of pages) {
      for (const [, form = ''] of main.matchAll(/<form method="post" action="([^"?]+)/g)) {
        // Refused for its field, unless the sender is refused.
        const { statusCode } = await submit(service, form, { 'no-such-field': '1' }, visitor);
        expect(statusCode, `${form} on ${path}`).not.toBe(403);
      }
    }
  }
});

test('a refusal names the people whose role allows it', async () => {
  const { merchant } = await addMerchant(service, { name: 'Blue Coffee' });
  await addMerchantUser(service, merchant.id, 'admin', { name: 'Grace' });
  const { cookie } = await addMerchantUser(service, merchant.id, 'member');
  const path = `/panel/merchants/${merchant.id}/settings/developer/keys/new`;
  const { statusCode, body } = await open(service, path, { cookie });
  expect(statusCode).toBe(403);
  expect(body).toContain('You are a member of Blue Coffee; this takes a Merchant Admin: Grace.');
});

test('the panel’s own host serves only the panel, and no other host serves it', async () => {
  const apart = await startTestApp({ env: { PANEL_URL: 'https://panel.example.test' } });
  try {
    const status = async (host: string, url: string) =>
      (await apart.app.inject({ url, headers: { host } })).statusCode;
    expect(await status('panel.example.test', '/panel/sign-in')).toBe(200);
    expect(await status('panel.example.test', '/healthz')).toBe(200);
    expect(await status('panel.example.test', '/docs')).toBe(404);
    expect(await status('panel.example.test', '/external/v1/payments')).toBe(404);
    expect(await status('pay.example.test', '/panel/sign-in')).toBe(404);
    expect(await status('pay.example.test', '/docs')).toBe(200);
  } finally {
    await apart.close();
  }
});
