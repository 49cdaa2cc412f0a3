import type { PartnerPaymentRow } from '#schemas/partner-reports.ts';
import type { CsvColumn } from '../../payments/csv.ts';

const dollarText = (dollars: number | null) => (dollars === null ? null : dollars.toFixed(2));

/** What a file of a partner's payments holds: times in ISO 8601 and UTC, amounts in dollars. */
export const PARTNER_PAYMENT_COLUMNS: readonly CsvColumn<PartnerPaymentRow>[] = [
  { title: 'id', cell: ({ id }) => id },
  { title: 'createdAt', cell: ({ createdAt }) => createdAt },
  { title: 'paidAt', cell: ({ paidAt }) => paidAt },
  { title: 'status', cell: ({ status }) => status },
  { title: 'amount', cell: ({ amount }) => dollarText(amount) },
  { title: 'commissionAmount', cell: ({ commissionAmount }) => dollarText(commissionAmount) },
  { title: 'flow', cell: ({ flow }) => flow },
  { title: 'paymentSystem', cell: ({ paymentSystem }) => paymentSystem },
  { title: 'blockchainId', cell: ({ blockchainId }) => blockchainId },
  { title: 'tokenAmount', cell: ({ tokenAmount }) => tokenAmount },
  { title: 'address', cell: ({ address }) => address },
  { title: 'transactionHash', cell: ({ transactionHash }) => transactionHash },
  { title: 'customerReferenceId', cell: ({ customerReferenceId }) => customerReferenceId },
  { title: 'merchantId', cell: ({ merchantId }) => merchantId },
  { title: 'merchantName', cell: ({ merchantName }) => merchantName },
];
