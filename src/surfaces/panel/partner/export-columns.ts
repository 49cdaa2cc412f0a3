import type { CsvColumn } from '#payments/csv.ts';
import type { PartnerPaymentRow } from '#schemas/partner-reports.ts';
import type { MerchantEnvironment } from '#storage/database/account-tables.ts';

/** A payment of a list, and whether its merchant takes real money: test payments must be left out of sums. */
export interface ExportedPayment extends PartnerPaymentRow {
  readonly environment: MerchantEnvironment;
}

type Column = CsvColumn<ExportedPayment>;

const same = (title: keyof ExportedPayment): Column => ({ title, cell: row => row[title] });

function inDollars(title: 'amount' | 'commissionAmount'): Column {
  return { title, cell: row => row[title]?.toFixed(2) ?? null };
}

/** What a file of a partner's payments holds: times in ISO 8601 and UTC, amounts in dollars. */
export const PARTNER_PAYMENT_COLUMNS: readonly Column[] = [
  ...(['id', 'createdAt', 'paidAt', 'status'] as const).map(same),
  inDollars('amount'),
  inDollars('commissionAmount'),
  ...(['flow', 'paymentSystem', 'blockchainId', 'tokenAmount', 'address'] as const).map(same),
  ...(
    ['transactionHash', 'customerReferenceId', 'merchantId', 'merchantName', 'environment'] as const
  ).map(same),
];
