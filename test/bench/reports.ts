import { sql } from 'kysely';
import { listMerchantReports, readMerchantReport } from '../../src/partners/merchant-reports.ts';
import { readFilters, readOverview } from '../../src/partners/overview.ts';
import { listPaymentReports } from '../../src/partners/payment-reports.ts';
import { resolveSearch } from '../../src/partners/search.ts';
import { verifyPartner } from '../../src/partners/verify-rollups.ts';
import { searchPartnerPayments } from '../../src/repositories/partner-payments.ts';
import { buildHistories, compareSizes, type History } from './histories.ts';
import { type Finding, sideBySide, VoidRun } from './measure.ts';
import { fillHistory, type PartnerHistory } from './partner-history.ts';
import type { Resources } from './resources.ts';

/** Share of the history that the far page lies behind. */
const FAR = 0.9;
const PAGE = 20;

type Side = History<PartnerHistory>;
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

/** Holds what a report costs on a long history against what it costs on a short one. */
export async function bench(resources: Resources): Promise<Finding[]> {
  const [small, large] = await buildHistories(resources, async ({ db }, payments) => {
    const history = await fillHistory(db, payments);
    const [wrong] = await verifyPartner(db, history.partnerId);
    if (wrong !== undefined) throw new VoidRun(JSON.stringify(wrong));
    return history;
  });
  const findings: Finding[] = [];
  for (const [subject, allowed, call] of FLAT) {
    findings.push(await compareSizes(subject, [small, large], call, allowed));
  }
  findings.push(await measureRareFragment(large), await measureFrequentFragment(large));
  return findings;
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
