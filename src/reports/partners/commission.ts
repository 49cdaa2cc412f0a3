import type { Connection } from '#storage/database/connection.ts';
import {
  findFirstPaidDay,
  listMerchantMonths,
  type MerchantMonth,
  type MonthDays,
  type MonthSum,
  sumMonth,
} from '#storage/repositories/partners/months.ts';
import { addMonths, monthsBetween, utcMonth } from '#time/months.ts';

/** Creditor of the commission: whoever runs the service, which holds no money itself. */
const COMMISSION_CREDITOR = 'operator of the service';

/** What a merchant was paid in a UTC month, and the commission on it; amounts in cents. */
export interface CommissionRow extends MerchantMonth {
  /** YYYY-MM. */
  readonly month: string;
  /** Who owes the commission; null when there is none. */
  readonly owedBy: string | null;
  readonly owedTo: string | null;
}

interface CommissionPage {
  readonly rows: readonly CommissionRow[];
  /** Of all merchants, not of this page alone. */
  readonly total: MonthSum;
  /** Months with a page, newest first: from the first payment until now. */
  readonly months: readonly string[];
  /** Where the next page begins; null for the last one. */
  readonly next: string | null;
}

/**
 * Commission on the payments that a partner's live merchants were paid in a UTC month. Each payment counts
 * with the commission in its own record, whose rate was fixed when it was created.
 * @param after ID of the last merchant on the page before.
 */
export async function readCommissionPage(
  db: Connection,
  partnerId: string,
  month: string,
  { after, limit, now }: { after?: string | undefined; limit: number; now: Date },
): Promise<CommissionPage> {
  const days = daysOf(month);
  const [found, total, firstDay] = await Promise.all([
    listMerchantMonths(db, partnerId, days, { after, limit: limit + 1 }),
    sumMonth(db, partnerId, days),
    findFirstPaidDay(db, partnerId),
  ]);
  const rows = found.slice(0, limit).map(row => toRow(month, row));
  const current = utcMonth(now);
  return {
    rows,
    total,
    months: monthsBetween(firstDay === null ? current : utcMonth(new Date(firstDay)), current),
    next: found.length > limit ? (rows.at(-1)?.merchantId ?? null) : null,
  };
}

/** All rows of a month, in pages of at most `limit`. */
export async function* readCommissionRows(
  db: Connection,
  partnerId: string,
  month: string,
  limit: number,
): AsyncGenerator<readonly CommissionRow[]> {
  let after: string | undefined;
  for (;;) {
    const rows: readonly MerchantMonth[] = await listMerchantMonths(db, partnerId, daysOf(month), {
      after,
      limit,
    });
    if (rows.length > 0) yield rows.map(row => toRow(month, row));
    after = rows.at(-1)?.merchantId;
    if (rows.length < limit) return;
  }
}

function daysOf(month: string): MonthDays {
  return { first: `${month}-01`, end: `${addMonths(month, 1)}-01` };
}

function toRow(month: string, row: MerchantMonth): CommissionRow {
  const owes = row.commissionCents > 0;
  return {
    month,
    ...row,
    owedBy: owes ? row.merchantName : null,
    owedTo: owes ? COMMISSION_CREDITOR : null,
  };
}
