import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { Agent } from 'undici';
import { setAddress } from '#accounts/deposit-addresses.ts';
import { createKey } from '#accounts/keys/manage-keys.ts';
import { createKeyring } from '#crypto/keyring.ts';
import { ADDRESSES } from '../test/helpers/accounts.ts';
import {
  addMerchantUser,
  addPartnerUser,
  addSession,
  type Visitor,
} from '../test/helpers/panel.ts';
import { watchNetworks } from '../test/helpers/watch-networks.ts';
import type { BenchDatabase } from './databases.ts';
import { fillEvents } from './event-history.ts';
import { buildHistories, type History } from './histories.ts';
import { type Finding, sideBySide, VoidRun } from './measure.ts';
import { fillHistory, type PartnerHistory } from './partner-history.ts';
import { startService } from './processes.ts';
import type { Resources } from './resources.ts';

/** A merchant that has all payments of a service, its partner, and visitors of their pages. */
interface Panel extends PartnerHistory {
  readonly keyId: string;
  readonly endpointId: string;
  readonly deliveryId: string;
  /** Opens a page in a separate session, since requests per session are limited. */
  open(path: string): Promise<() => Promise<void>>;
}

const HOST = 'panel.example.test';
/** The most that a page may take, in milliseconds, and as a multiple of the time with a short history. */
const PAGE_MS = 50;
const ALLOWED = 1.2;
const ROUNDS = 10;
const REPEATS = 3;
/** Requests in the account's log: as many as are kept. */
const REQUESTS = 100_000;

/** A UTC day, YYYY-MM-DD. */
const daysAgo = (days: number) =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

const DEVELOPER = '/settings/developer';
/** Pages of the merchant. */
const MERCHANT: Readonly<Record<string, (panel: Panel) => string>> = {
  home: () => '',
  payments: () => '/payments',
  'payments, an older page': ({ sample }) => `/payments?after=${sample.id}`,
  'payments of a rare status': () => '/payments?status=cancelled',
  'payments of a month': () => `/payments?from=${daysAgo(60)}&to=${daysAgo(30)}`,
  'payments, searched by reference': ({ sample }) => `/payments?search=${sample.reference}`,
  'payments, searched by part of one': () => '/payments?search=no-such-part',
  'a payment': ({ sample }) => `/payments/${sample.id}`,
  unmatched: () => '/unmatched',
  addresses: () => '/settings/addresses',
  activity: () => '/settings/activity',
  keys: () => `${DEVELOPER}/keys`,
  'a key': ({ keyId }) => `${DEVELOPER}/keys/${keyId}`,
  'an endpoint': ({ endpointId }) => `${DEVELOPER}/webhooks/${endpointId}`,
  'deliveries that failed': ({ endpointId }) => `${DEVELOPER}/webhooks/${endpointId}?status=failed`,
  'a delivery': ({ endpointId, deliveryId }) =>
    `${DEVELOPER}/webhooks/${endpointId}/deliveries/${deliveryId}`,
  requests: () => `${DEVELOPER}/requests`,
  'requests of an error': () => `${DEVELOPER}/requests?code=E3001`,
};
/** Pages of the partner. */
const PARTNER: Readonly<Record<string, (panel: Panel) => string>> = {
  overview: () => '',
  merchants: () => '/merchants',
  'a merchant': ({ merchantId }) => `/merchants/${merchantId}`,
  payments: () => '/payments',
  'a payment': ({ sample }) => `/payments/${sample.id}`,
  commission: () => '/commission',
};

/** Measures pages of the panel, for a merchant with a long history and for one with a short one. */
export async function bench(resources: Resources): Promise<Finding[]> {
  const sides = await buildHistories(resources, async ({ db }, payments) => {
    await watchNetworks(db);
    const history = await fillHistory(db, payments, { merchants: 1, linked: 1 });
    await fillEvents(db, history.merchantId);
    await setAddress(
      { db, clock: Date.now, actor: 'bench' },
      { merchantId: history.merchantId },
      'btc',
      ADDRESSES.btc,
    );
    return history;
  });
  return measurePages(resources, sides);
}

/** Measures the pages of a merchant and of its partner. */
export async function measurePages(
  resources: Resources,
  [few, many]: readonly [History<PartnerHistory>, History<PartnerHistory>],
): Promise<Finding[]> {
  const sides = [await openPanel(resources, few), await openPanel(resources, many)] as const;
  const findings: Finding[] = [];
  for (const [name, path] of Object.entries(MERCHANT)) {
    const whole = (side: Panel) => `/panel/merchants/${side.merchantId}${path(side)}`;
    findings.push(...(await measure(`pages: ${name}`, sides, whole)));
  }
  for (const [name, path] of Object.entries(PARTNER)) {
    const whole = (side: Panel) => `/panel/partners/${side.partnerId}${path(side)}`;
    findings.push(...(await measure(`pages: partner, ${name}`, sides, whole)));
  }
  return findings;
}

async function measure(
  subject: string,
  [few, many]: readonly [History<Panel>, History<Panel>],
  path: (panel: Panel) => string,
): Promise<Finding[]> {
  const calls = [await few.open(path(few)), await many.open(path(many))];
  const [short = 0, long = 0] = await sideBySide(calls, { rounds: ROUNDS, repeats: REPEATS });
  const measured = `${short.toFixed(1)} ms at ${few.payments}, ${long.toFixed(1)} ms at ${many.payments}`;
  return [
    {
      subject: `${subject}, in milliseconds`,
      measured,
      value: long,
      goal: { relation: '<=', value: PAGE_MS },
    },
    { subject, measured, value: long / short, goal: { relation: '<=', value: ALLOWED } },
  ];
}

/** Starts a service on a history, with people signed in to its panel. */
async function openPanel(
  resources: Resources,
  history: History<PartnerHistory>,
): Promise<History<Panel>> {
  const { db, url, merchantId, partnerId } = history;
  const masterKey = randomBytes(32);
  const keyring = createKeyring([masterKey]);
  const operator = { db, clock: Date.now, actor: 'bench' };
  const { keyId } = await createKey(operator, keyring, { owner: { merchantId }, name: 'bench' });
  await fillRequests(db, merchantId, keyId);
  const service = { db, keyring, clock: Date.now };
  const admin = await addMerchantUser(service, merchantId, 'admin');
  const owner = await addPartnerUser(service, partnerId, 'owner');
  const delivery = await db
    .selectFrom('webhook_deliveries')
    .select(['id', 'endpoint_id'])
    .where('status', '=', 'failed')
    .limit(1)
    .executeTakeFirstOrThrow();
  const state = { databaseUrl: url, masterKey: masterKey.toString('base64') };
  const { port } = await startService(resources, `pages-${history.payments}`, state, {
    env: { PANEL_URL: `https://${HOST}` },
  });
  const agent = new Agent({ connections: 1 });
  resources.defer(() => agent.close());
  return {
    ...history,
    keyId,
    deliveryId: delivery.id,
    endpointId: delivery.endpoint_id,
    async open(path) {
      const visitor: Visitor = path.startsWith('/panel/merchants/') ? admin : owner;
      const cookie = await addSession(service, visitor);
      return async () => {
        const { statusCode, body } = await agent.request({
          origin: `http://127.0.0.1:${port}`,
          path,
          method: 'GET',
          headers: { host: HOST, cookie },
        });
        await body.dump();
        if (statusCode !== 200) throw new VoidRun(`${path} was answered with ${statusCode}`);
      };
    },
  };
}

/** Fills the request log of an account to its maximum: one request a minute was refused. */
async function fillRequests(
  db: BenchDatabase['db'],
  accountId: string,
  keyId: string,
): Promise<void> {
  await sql`
    insert into request_log (id, at, account_id, key_id, verified, requests, method, target, status,
      error_code, milliseconds, address, replayed)
    select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7'
            || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 5, 15))::uuid,
           at, ${accountId}, ${keyId}, true, 1, 'GET', '/external/v1/payments/x', 404,
           case when n % 1000 = 0 then 'E3001' else 'E1001' end, 3, '192.0.2.1', false
    from generate_series(1, ${REQUESTS}::int) as n,
         lateral (select date_trunc('milliseconds', now() - n * interval '25 seconds') as at) as it`.execute(
    db,
  );
  await sql`vacuum (analyze) request_log`.execute(db);
}
