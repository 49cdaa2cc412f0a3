import type { CsvColumn } from '#payments/csv.ts';
import { toDollarText } from '#payments/dollars.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';

/** A deposit with its amount as a decimal of its asset; null on a network that is not known. */
export type ExportedDeposit = Deposit & {
  readonly amount: string | null;
  readonly asset: string | null;
};

/** What a file of unmatched deposits holds: times in ISO 8601 and UTC, values in dollars. */
export const DEPOSIT_COLUMNS: readonly CsvColumn<ExportedDeposit>[] = [
  { title: 'id', cell: ({ id }) => id },
  { title: 'arrivedAt', cell: ({ observed_at: at }) => at.toISOString() },
  { title: 'blockchainId', cell: ({ blockchain_id: id }) => id },
  { title: 'address', cell: ({ address }) => address },
  { title: 'transactionHash', cell: ({ transaction_hash: hash }) => hash },
  { title: 'amount', cell: ({ amount }) => amount },
  { title: 'asset', cell: ({ asset }) => asset },
  { title: 'value', cell: ({ value_cents: cents }) => cents && toDollarText(cents) },
  { title: 'reason', cell: ({ outcome }) => outcome },
  { title: 'state', cell: ({ state }) => state },
];
