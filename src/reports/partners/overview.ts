import { ApiError } from '#errors/api-error.ts';
import { toDollars } from '#payments/dollars.ts';
import type { PartnerFilters, PartnerOverview, PartnerTeam } from '#schemas/partner-reports.ts';
import type { Connection } from '#storage/database/connection.ts';
import { listPartnerMembers } from '#storage/repositories/accounts/partners.ts';
import { sumByPaidDay, sumByStatus } from '#storage/repositories/partners/figures.ts';
import {
  findPartnerWithFigures,
  listMerchantNames,
  listPartnerMerchants,
} from '#storage/repositories/partners/merchants.ts';
import { listHistoryNetworks } from '#storage/repositories/partners/totals.ts';
import { trendDays, trendStart } from '#time/days.ts';

/** Maximum entries under `attention`; the merchant list has the rest. */
const ATTENTION_MAXIMUM = 100;
/** Maximum merchants offered as a filter. */
const FILTER_MERCHANTS_MAXIMUM = 10_000;

/** The totals of the partner's live merchants, those in onboarding, and the volume of the last 30 UTC days. */
export async function readOverview(
  db: Connection,
  partnerId: string,
  now: Date,
): Promise<PartnerOverview> {
  const [partner, statuses, paidDays, waiting] = await Promise.all([
    findPartnerWithFigures(db, partnerId),
    sumByStatus(db, partnerId),
    sumByPaidDay(db, partnerId, trendStart(now)),
    listPartnerMerchants(
      db,
      partnerId,
      { pendingOnly: true, liveOnly: true },
      { limit: ATTENTION_MAXIMUM, offset: 0 },
    ),
  ]);
  if (partner === undefined) throw new ApiError('E2008', 'The partner is missing.');
  const days = new Map(paidDays.map(day => [day.day, day]));
  const volumeTrend = trendDays(now).map(date => ({
    date,
    volume: toDollars(days.get(date)?.cents ?? 0),
    payments: days.get(date)?.payments ?? 0,
  }));
  const thirtyDays = trendDays(now).reduce((sum, date) => sum + (days.get(date)?.cents ?? 0), 0);
  return {
    partner: {
      id: partner.id,
      name: partner.name,
      status: partner.status,
      selfServiceApiPayments: partner.self_service_api_payments,
      createdAt: partner.created_at.toISOString(),
    },
    metrics: {
      totalMerchants: partner.merchants,
      approvedMerchants: partner.approved,
      actionRequired: partner.pending,
      volume30d: toDollars(thirtyDays),
      totalVolume: toDollars(statuses.find(row => row.status === 'successful')?.cents ?? 0),
      totalCommission: toDollars(partner.commission_cents ?? 0),
      totalPayments: statuses.reduce((sum, row) => sum + row.payments, 0),
    },
    attention: waiting.map(merchant => ({
      type: 'onboarding_pending',
      merchantId: merchant.id,
      merchantName: merchant.name,
      since: (merchant.onboarding_changed_at ?? merchant.created_at).toISOString(),
    })),
    volumeTrend,
  };
}

/** The values that a dashboard offers as payment filters. */
export async function readFilters(db: Connection, partnerId: string): Promise<PartnerFilters> {
  const [merchants, blockchainIds] = await Promise.all([
    listMerchantNames(db, partnerId, FILTER_MERCHANTS_MAXIMUM),
    listHistoryNetworks(db, partnerId),
  ]);
  return { merchants, blockchainIds };
}

/** The partner's members, newest first. */
export async function readTeam(db: Connection, partnerId: string): Promise<PartnerTeam> {
  const members = await listPartnerMembers(db, partnerId);
  return {
    data: members.map(member => ({
      id: member.id,
      name: member.name,
      email: member.email,
      role: member.role,
      status: member.status,
      createdAt: member.created_at.toISOString(),
    })),
  };
}
