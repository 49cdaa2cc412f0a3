import type { CsvColumn } from '#payments/csv.ts';
import { toDollarText } from '#payments/dollars.ts';
import type { PaymentObject } from '#schemas/payment.ts';

/** A payment with what has arrived for it, as the list shows it. */
export type ExportedPayment = PaymentObject & { readonly received: string | null };

type Column = CsvColumn<ExportedPayment>;

const same = (title: Exclude<keyof ExportedPayment, 'lastError'>): Column => ({
  title,
  cell: row => row[title],
});

function inDollars(title: 'amount' | 'commissionAmount'): Column {
  return { title, cell: ({ [title]: cents }) => (cents === null ? null : toDollarText(cents)) };
}

/** What a file of payments holds: times in ISO 8601 and UTC, amounts in dollars. */
export const PAYMENT_COLUMNS: readonly Column[] = [
  ...(['id', 'createdAt', 'paidAt', 'expiresAt', 'status', 'sessionStatus'] as const).map(same),
  inDollars('amount'),
  inDollars('commissionAmount'),
  ...(['blockchainId', 'tokenAmount', 'transactionHash'] as const).map(same),
  ...(['customerReferenceId', 'received'] as const).map(same),
  { title: 'lastError', cell: ({ lastError }) => lastError?.code ?? null },
];
