import type { PaymentObject } from '#schemas/payment.ts';
import type { CsvColumn } from '../../payments/csv.ts';
import { toDollarText } from '../../payments/dollars.ts';

/** A payment with what has arrived for it, as the list shows it. */
export type ExportedPayment = PaymentObject & { readonly received: string | null };

/** What a file of payments holds: times in ISO 8601 and UTC, amounts in dollars. */
export const PAYMENT_COLUMNS: readonly CsvColumn<ExportedPayment>[] = [
  { title: 'id', cell: ({ id }) => id },
  { title: 'createdAt', cell: ({ createdAt }) => createdAt },
  { title: 'paidAt', cell: ({ paidAt }) => paidAt },
  { title: 'expiresAt', cell: ({ expiresAt }) => expiresAt },
  { title: 'status', cell: ({ status }) => status },
  { title: 'sessionStatus', cell: ({ sessionStatus }) => sessionStatus },
  { title: 'amount', cell: ({ amount }) => toDollarText(amount) },
  {
    title: 'commissionAmount',
    cell: ({ commissionAmount }) =>
      commissionAmount === null ? null : toDollarText(commissionAmount),
  },
  { title: 'blockchainId', cell: ({ blockchainId }) => blockchainId },
  { title: 'tokenAmount', cell: ({ tokenAmount }) => tokenAmount },
  { title: 'transactionHash', cell: ({ transactionHash }) => transactionHash },
  { title: 'customerReferenceId', cell: ({ customerReferenceId }) => customerReferenceId },
  { title: 'received', cell: ({ received }) => received },
  { title: 'lastError', cell: ({ lastError }) => lastError?.code ?? null },
];
