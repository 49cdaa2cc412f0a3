import type { PartnerPaymentRow } from '#schemas/partner-reports.ts';
import type { CsvColumn } from '../../payments/csv.ts';

type Column = CsvColumn<PartnerPaymentRow>;

const same = (title: keyof PartnerPaymentRow): Column => ({ title, cell: row => row[title] });

function inDollars(title: 'amount' | 'commissionAmount'): Column {
  return { title, cell: row => row[title]?.toFixed(2) ?? null };
}

/** What a file of a partner's payments holds: times in ISO 8601 and UTC, amounts in dollars. */
export const PARTNER_PAYMENT_COLUMNS: readonly Column[] = [
  ...(['id', 'createdAt', 'paidAt', 'status'] as const).map(same),
  inDollars('amount'),
  inDollars('commissionAmount'),
  ...(['flow', 'paymentSystem', 'blockchainId', 'tokenAmount', 'address'] as const).map(same),
  ...(['transactionHash', 'customerReferenceId', 'merchantId', 'merchantName'] as const).map(same),
];
