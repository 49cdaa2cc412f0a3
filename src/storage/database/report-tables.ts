import type { Generated } from 'kysely';
import type { Cents, Day } from './column-types.ts';
import type { PaymentStatus } from './payment-tables.ts';

interface PartnerTotalsTable {
  partner_id: string;
  merchant_id: string;
  status: PaymentStatus;
  /** Empty while no network is chosen. */
  blockchain_id: string;
  /** Empty while no address is shown. */
  address: string;
  payments: number;
  cents: Cents;
}

/** What must still be added to the totals and the totals per day. */
interface PartnerDeltasTable extends PartnerTotalsTable {
  id: Generated<number>;
  created_day: Day;
  paid_day: Day | null;
}

interface PartnerCreatedDaysTable {
  partner_id: string;
  day: Day;
  payments: number;
}

interface PartnerPaidDaysTable extends PartnerCreatedDaysTable {
  merchant_id: string;
  cents: Cents;
}

/** Commission on successful payments. */
interface PartnerCommissionsTable {
  partner_id: string;
  merchant_id: string;
  cents: Cents;
}

interface PartnerCommissionDeltasTable extends PartnerCommissionsTable {
  id: Generated<number>;
}

/** Commission by the UTC month in which payments were paid. */
interface PartnerCommissionMonthsTable extends PartnerCommissionsTable {
  /** First day of the month. */
  month: Day;
}

interface PartnerCommissionMonthDeltasTable extends PartnerCommissionMonthsTable {
  id: Generated<number>;
}

/** A merchant's successful payments by the UTC day on which they were paid. */
interface MerchantPaidDaysTable {
  merchant_id: string;
  day: Day;
  payments: number;
  cents: Cents;
}

interface MerchantPaidDeltasTable extends MerchantPaidDaysTable {
  id: Generated<number>;
}

interface LegacyUsageTable {
  merchant_id: string;
  day: Day;
  /** Method and path of the route, as in `GET /external/payments/prompt/:id`. */
  route: string;
  requests: number;
}

/** What is counted: payments by partner and merchant, and the use of the older contract. */
export interface ReportTables {
  partner_deltas: PartnerDeltasTable;
  partner_totals: PartnerTotalsTable;
  partner_created_days: PartnerCreatedDaysTable;
  partner_paid_days: PartnerPaidDaysTable;
  partner_commission_deltas: PartnerCommissionDeltasTable;
  partner_commissions: PartnerCommissionsTable;
  partner_commission_month_deltas: PartnerCommissionMonthDeltasTable;
  partner_commission_months: PartnerCommissionMonthsTable;
  merchant_paid_deltas: MerchantPaidDeltasTable;
  merchant_paid_days: MerchantPaidDaysTable;
  legacy_usage: LegacyUsageTable;
}
