import { listMerchantReports, readMerchantReport } from '#reports/partners/merchant-reports.ts';
import { readFilters, readOverview } from '#reports/partners/overview.ts';
import { listPaymentReports } from '#reports/partners/payment-reports.ts';
import { compareSizes, type History } from './histories.ts';
import { type Finding, sideBySide } from './measure.ts';
import type { PartnerHistory } from './partner-history.ts';

/** Share of the partner's payments before the far page. */
const FAR = 0.9;
const PAGE = 20;
/** The most that a search with its total may take, in seconds, and the most beyond five million payments. */
const SEARCH_SECONDS = 1;
const LONG_SEARCH_SECONDS = 2;
const SEARCH_ROUNDS = 3;

type Side = History<PartnerHistory>;
type Call = (side: Side) => Promise<unknown>;
type Query = Parameters<typeof listPaymentReports>[2];

const now = new Date();
const list =
  (query: (side: Side) => Query): Call =>
  side =>
    listPaymentReports(side.db, side.partnerId, query(side));

/** Figures whose cost must not grow with the history, and the permitted ratio. */
const FIGURES: readonly (readonly [subject: string, allowed: number, Call])[] = [
  ['overview', 1.5, side => readOverview(side.db, side.partnerId, now)],
  ['merchants', 1.5, side => listMerchantReports(side.db, side.partnerId, {}, now)],
  [
    'merchant detail',
    1.5,
    side => readMerchantReport(side.db, side.partnerId, side.merchantId, now),
  ],
  ['payment filters', 1.5, side => readFilters(side.db, side.partnerId)],
  ['first page and total', 1.5, list(() => ({}))],
  [
    'far page and total',
    3,
    list(({ partnerPayments }) => ({ page: Math.floor((partnerPayments * FAR) / PAGE) })),
  ],
  ['by status and total', 1.5, list(() => ({ status: 'cancelled' }))],
  ['by merchant and total', 1.5, list(({ merchantId }) => ({ merchantId }))],
  ['by network and total', 1.5, list(() => ({ blockchainId: 'eth-usdc' }))],
];

const daysAgo = (days: number) => new Date(now.getTime() - days * 24 * 60 * 60_000);

/** Every kind of term that a partner may search for, from selective to matching every payment. */
const SEARCHES: readonly (readonly [
  subject: string,
  (sample: PartnerHistory['sample']) => Query,
])[] = [
  ['payment ID', ({ id }) => ({ search: id })],
  ['transaction hash', ({ hash }) => ({ search: hash })],
  ['address', ({ address }) => ({ search: address })],
  ['reference', ({ reference }) => ({ search: reference })],
  ['part of a reference', ({ reference }) => ({ search: reference.slice(-6) })],
  ['12 characters of a hash', ({ hash }) => ({ search: hash.slice(20, 32) })],
  ['4 characters of a hash', ({ hash }) => ({ search: hash.slice(20, 24) })],
  ['2 characters of a hash', ({ hash }) => ({ search: hash.slice(20, 22) })],
  ['part of every reference', () => ({ search: 'ORD-2026' })],
  ['no match', () => ({ search: 'no such text' })],
  ['name of a merchant', () => ({ search: 'Shop number 1' })],
  ['part of every merchant name', () => ({ search: 'Shop' })],
  ['part of every reference of a status', () => ({ search: 'ORD-2026', status: 'successful' })],
  ['part of every reference of a rare status', () => ({ search: 'ORD-2026', status: 'cancelled' })],
  [
    'part of every reference of a month',
    () => ({ search: 'ORD-2026', startDate: daysAgo(60), endDate: daysAgo(30) }),
  ],
  ['filter by part of a payment ID', ({ id }) => ({ transactionId: id.slice(-8) })],
  ['filter by part of a hash', ({ hash }) => ({ txHash: hash.slice(20, 28) })],
  ['filter by part of an address', ({ address }) => ({ addressSearch: address.slice(4, 12) })],
  ['filter by part of a merchant name', () => ({ merchantName: 'number' })],
];

/** Compares a partner's reads with a long history with those with a short one. */
export async function partnerFigures(sides: readonly [Side, Side]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const [subject, allowed, call] of FIGURES) {
    findings.push(await compareSizes(`growth: partner, ${subject}`, sides, call, allowed));
  }
  return findings;
}

/** Measures each kind of search, with its first page and its total. */
export async function partnerSearches(side: Side): Promise<Finding[]> {
  const findings: Finding[] = [];
  const allowed = side.payments > 5_000_000 ? LONG_SEARCH_SECONDS : SEARCH_SECONDS;
  for (const [subject, toQuery] of SEARCHES) {
    const query = toQuery(side.sample);
    let total = '';
    const search = async () => {
      const found = await listPaymentReports(side.db, side.partnerId, query);
      total = String(found.total);
    };
    const [ms = Number.NaN] = await sideBySide([search], { rounds: SEARCH_ROUNDS, repeats: 1 });
    findings.push({
      subject: `search: ${subject}, in seconds`,
      measured: `${total} of ${side.partnerPayments} of the partner's payments`,
      value: ms / 1000,
      goal: { relation: '<=', value: allowed },
    });
  }
  return findings;
}
