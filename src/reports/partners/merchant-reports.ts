import { ApiError } from '#errors/api-error.ts';
import { toDollars } from '#payments/dollars.ts';
import {
  PARTNER_PAGE_DEFAULT,
  type PartnerMerchantDetail,
  type PartnerMerchantPage,
  type PartnerMerchantRow,
  type PartnerMerchantsQuery,
} from '#schemas/partner-reports.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Connection } from '#storage/database/connection.ts';
import { listBranches } from '#storage/repositories/accounts/merchants.ts';
import {
  paidCentsByMerchant,
  sumByMerchantAndStatus,
  sumCommissions,
} from '#storage/repositories/partners/figures.ts';
import {
  countPartnerMerchants,
  findPartnerMerchant,
  listPartnerMerchants,
} from '#storage/repositories/partners/merchants.ts';
import { lastPaymentTimes, listPartnerPayments } from '#storage/repositories/partners/payments.ts';
import { trendStart } from '#time/days.ts';
import { toReportRow } from './payment-row.ts';

/** Number of latest payments in a merchant's report. */
export const RECENT_PAYMENTS = 10;

/** A page of a report, and what the report itself leaves out. */
interface MerchantReports extends PartnerMerchantPage {
  /** IDs of the test merchants among them. */
  readonly tested: ReadonlySet<string>;
}

/** One page of the partner's merchants with their totals, newest first. */
export async function listMerchantReports(
  db: Connection,
  partnerId: string,
  query: PartnerMerchantsQuery,
  now: Date,
): Promise<MerchantReports> {
  const { page = 1, limit = PARTNER_PAGE_DEFAULT, search, actionRequired } = query;
  const filters = { search, pendingOnly: actionRequired };
  const window = { limit, offset: (page - 1) * limit };
  const [total, merchants] = await Promise.all([
    countPartnerMerchants(db, partnerId, filters),
    listPartnerMerchants(db, partnerId, filters, window),
  ]);
  const ids = merchants.map(merchant => merchant.id);
  const [totals, lastPayments] = await Promise.all([
    readTotals(db, partnerId, ids, now),
    lastPaymentTimes(db, partnerId, ids),
  ]);
  const data = merchants.map((merchant): PartnerMerchantRow => {
    const { successfulPayments: _, ...shown } = totals(merchant.id);
    return {
      ...toAccount(merchant),
      ...shown,
      lastPaymentAt: lastPayments.get(merchant.id)?.toISOString() ?? null,
    };
  });
  const ofTest = merchants.filter(({ environment }) => environment === 'test');
  return { data, total, page, limit, tested: new Set(ofTest.map(({ id }) => id)) };
}

/** A merchant's report, and what the report itself leaves out. */
interface MerchantReport {
  readonly report: PartnerMerchantDetail;
  readonly environment: Merchant['environment'];
}

/**
 * A merchant with its branches, totals and latest payments.
 * @throws ApiError E3001 unless the merchant belongs to the partner.
 */
export async function readMerchantReport(
  db: Connection,
  partnerId: string,
  merchantId: string,
  now: Date,
): Promise<MerchantReport> {
  const merchant = await findPartnerMerchant(db, partnerId, merchantId);
  if (merchant === undefined) throw new ApiError('E3001', 'There is no such merchant.');
  const [branches, totals, commissionCents, recent] = await Promise.all([
    listBranches(db, merchant.id),
    readTotals(db, partnerId, [merchant.id], now),
    sumCommissions(db, partnerId, merchant.id),
    listPartnerPayments(
      db,
      partnerId,
      { merchantIds: [merchant.id] },
      { limit: RECENT_PAYMENTS, offset: 0 },
    ),
  ]);
  const report = {
    merchant: toAccount(merchant),
    branches: branches.map(({ id, name, is_main }) => ({ id, name, isMain: is_main })),
    aggregates: { ...totals(merchant.id), totalCommission: toDollars(commissionCents) },
    recentPayments: recent.map(toReportRow),
  };
  return { report, environment: merchant.environment };
}

/** Returns a function from a merchant's ID to its totals. */
async function readTotals(
  db: Connection,
  partnerId: string,
  merchantIds: readonly string[],
  now: Date,
) {
  const [sums, paid] = await Promise.all([
    sumByMerchantAndStatus(db, partnerId, merchantIds),
    paidCentsByMerchant(db, partnerId, trendStart(now), merchantIds),
  ]);
  return (merchantId: string) => {
    const own = sums.filter(sum => sum.merchantId === merchantId);
    const successful = own.find(sum => sum.status === 'successful');
    return {
      totalPayments: own.reduce((total, sum) => total + sum.payments, 0),
      successfulPayments: successful?.payments ?? 0,
      totalVolume: toDollars(successful?.cents ?? 0),
      volume30d: toDollars(paid.get(merchantId) ?? 0),
    };
  };
}

function toAccount(merchant: Merchant) {
  return {
    id: merchant.id,
    name: merchant.name,
    email: merchant.email,
    status: merchant.status,
    accountKind: merchant.account_kind,
    onboardingStatus: merchant.onboarding_status,
    actionRequired: merchant.onboarding_status === 'pending',
    createdAt: merchant.created_at.toISOString(),
  };
}
