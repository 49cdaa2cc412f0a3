import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { connect, type Database } from '../../src/database/connection.ts';
import { openEmbeddedDatabase } from '../../src/database/embedded.ts';
import { migrate } from '../../src/database/migrate.ts';
import { listMerchantReports, readMerchantReport } from '../../src/partners/merchant-reports.ts';
import { readFilters, readOverview } from '../../src/partners/overview.ts';
import { listPaymentReports } from '../../src/partners/payment-reports.ts';
import { resolveSearch } from '../../src/partners/search.ts';
import { verifyPartner } from '../../src/partners/verify.ts';
import { searchPartnerPayments } from '../../src/repositories/partner-payments.ts';
import { type Finding, report, sideBySide } from './measure.ts';
import { fillHistory, type PartnerHistory } from './partner-history.ts';

const SMALL = 10_000;
const LARGE = Number(process.env.BENCH_PAYMENTS ?? 5_000_000);
/** Share of the history that the far page lies behind. */
const FAR = 0.9;
const PAGE = 20;

type Side = PartnerHistory & { readonly db: Database; readonly payments: number };
type Case = (side: Side) => Promise<unknown>;

const now = new Date();
const list =
  (query: (side: Side) => Parameters<typeof listPaymentReports>[2]): Case =>
  side =>
    listPaymentReports(side.db, side.partnerId, query(side));

/** Reports whose cost must not grow with the history, and how much it may. */
const FLAT: readonly (readonly [string, number, Case])[] = [
  ['overview', 1.5, side => readOverview(side.db, side.partnerId, now)],
  ['merchants', 1.5, side => listMerchantReports(side.db, side.partnerId, {}, now)],
  [
    'merchant detail',
    1.5,
    side => readMerchantReport(side.db, side.partnerId, side.merchantId, now),
  ],
  ['payment filters', 1.5, side => readFilters(side.db, side.partnerId)],
  ['first page and total', 1.5, list(() => ({}))],
  ['far page and total', 3, list(side => ({ page: Math.floor((side.payments * FAR) / PAGE) }))],
  ['by status and total', 1.5, list(() => ({ status: 'cancelled' }))],
  ['by merchant and total', 1.5, list(side => ({ merchantId: side.merchantId }))],
  ['by network and total', 1.5, list(() => ({ blockchainId: 'eth-usdc' }))],
  ['search: payment ID', 1.5, list(side => ({ search: side.sample.id }))],
  ['search: transaction hash', 1.5, list(side => ({ search: side.sample.hash }))],
  ['search: address', 1.5, list(side => ({ search: side.sample.address }))],
  ['search: reference', 1.5, list(side => ({ search: side.sample.reference }))],
];

/** Builds both histories, measures them side by side and holds the ratios against the goals. */
export async function bench(): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'eps-bench-'));
  const server = await openEmbeddedDatabase({
    directory,
    holder: 'service',
    settings: {
      fsync: 'off',
      full_page_writes: 'off',
      shared_buffers: '2GB',
      max_wal_size: '8GB',
      effective_cache_size: '8GB',
    },
  });
  try {
    const small = await build(server.url, 'small', SMALL);
    const large = await build(server.url, 'large', LARGE);
    try {
      return await measure(small, large);
    } finally {
      await Promise.all([small.db.destroy(), large.db.destroy()]);
    }
  } finally {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function build(serverUrl: string, name: string, payments: number): Promise<Side> {
  const started = performance.now();
  const open = (database: string) => {
    const url = new URL(serverUrl);
    url.pathname = `/${database}`;
    return connect({
      url: url.href,
      poolSize: 4,
      applicationName: 'bench',
      statementTimeoutMs: 0,
      onIdleError: () => undefined,
    });
  };
  const admin = open('postgres');
  await sql`create database ${sql.id(name)}`.execute(admin);
  await admin.destroy();
  const db = open(name);
  await migrate(db);
  const history = await fillHistory(db, payments);
  const wrong = await verifyPartner(db, history.partnerId);
  if (wrong.length > 0) throw new Error(`void: ${JSON.stringify(wrong[0])}`);
  const seconds = Math.round((performance.now() - started) / 1000);
  process.stdout.write(`built ${payments} payments in ${seconds} s\n`);
  return { ...history, db, payments };
}

async function measure(small: Side, large: Side): Promise<boolean> {
  const findings: Finding[] = [];
  for (const [subject, allowed, call] of FLAT) {
    const [few = 0, many = 0] = await sideBySide([() => call(small), () => call(large)], {
      rounds: 7,
      repeats: 20,
    });
    findings.push({
      subject,
      measured: `${few.toFixed(2)} ms at ${small.payments}, ${many.toFixed(2)} ms at ${large.payments}`,
      ratio: many / few,
      goal: { relation: '<=', value: allowed },
    });
  }
  findings.push(await measureRareFragment(large), await measureFrequentFragment(large));
  return report(findings);
}

/** A rare fragment against looking at every payment of the partner for it. */
async function measureRareFragment(side: Side): Promise<Finding> {
  const text = side.sample.hash.slice(20, 32);
  const [search = 0, scan = 0] = await sideBySide(
    [() => list(() => ({ search: text }))(side), () => scanFor(side, text)],
    { rounds: 3, repeats: 1 },
  );
  return {
    subject: 'rare fragment against a scan',
    measured: `${search.toFixed(0)} ms, scan ${scan.toFixed(0)} ms`,
    ratio: search / scan,
    goal: { relation: '<=', value: 0.05 },
  };
}

/** The first page of a frequent fragment against its own total. */
async function measureFrequentFragment(side: Side): Promise<Finding> {
  const text = 'ORD-2026';
  const term = await resolveSearch(side.db, side.partnerId, text);
  const window = { limit: PAGE, offset: 0 };
  const [page = 0, all = 0] = await sideBySide(
    [
      () => searchPartnerPayments(side.db, side.partnerId, { term }, window),
      () => list(() => ({ search: text }))(side),
    ],
    { rounds: 3, repeats: 1 },
  );
  return {
    subject: 'first page of a frequent fragment',
    measured: `${page.toFixed(0)} ms, with its total ${all.toFixed(0)} ms`,
    ratio: page / all,
    goal: { relation: '<=', value: 0.05 },
  };
}

async function scanFor({ db, partnerId }: Side, text: string): Promise<void> {
  const pattern = `%${text}%`;
  await db.transaction().execute(async tx => {
    await sql`set local enable_bitmapscan = off`.execute(tx);
    await sql`
      select count(*) from payments where partner_id = ${partnerId}
      and (id::text ilike ${pattern} or transaction_hash ilike ${pattern}
           or customer_reference_id ilike ${pattern})`.execute(tx);
  });
}
