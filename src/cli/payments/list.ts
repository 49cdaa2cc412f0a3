import { Option } from 'commander';
import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { requireMerchant } from '#accounts/merchants.ts';
import { type CsvCell, type CsvColumn, csvHeader, csvRows } from '#payments/csv.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { PaymentStatus } from '#storage/database/payment-tables.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import {
  listOperatorPayments,
  type OperatorPaymentsQuery,
} from '#storage/repositories/payments/operator-payments.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import { type CliCommand, pageNote } from '../cli-command.ts';
import type { JsonFlag } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import { choice, integerFrom, parseDate, parseId, parseInclusiveEnd } from '../values.ts';
import { paymentFields } from './payment-object.ts';

/** Spelled out, because loading the schema loads TypeBox, which takes longer than the command. */
const STATUSES: readonly PaymentStatus[] = [
  ...(['pending', 'successful', 'unsuccessful', 'expired', 'cancelled'] as const),
];
const LIMIT_DEFAULT = 100;
const PAGE_MAXIMUM = 1000;

interface ListFlags extends JsonFlag {
  readonly csv?: true;
  readonly merchant?: string;
  readonly status?: PaymentStatus;
  readonly blockchain?: string;
  readonly reference?: string;
  readonly since?: Date;
  readonly until?: Date;
  readonly limit?: number;
  readonly before?: string;
}

/** `mp payment list` */
export function defineList(noun: CliCommand): void {
  noun
    .verb('list', 'list payments, newest first')
    .option('--merchant <id>', 'only payments of this merchant', parseId)
    .addOption(choice('--status <status>', 'only payments with this status', STATUSES))
    .option('--blockchain <id>', 'only payments on this network, for example btc')
    .option('--reference <text>', 'only payments with exactly this customerReferenceId')
    .option('--since <date>', 'created at this ISO 8601 date-time or later', parseDate)
    .option(
      '--until <date>',
      'created at this date-time or earlier; a day is included',
      parseInclusiveEnd,
    )
    .option(
      '--limit <n>',
      `most rows to list, 1 to ${PAGE_MAXIMUM} (default: ${LIMIT_DEFAULT}, with --csv all)`,
      integerFrom(1, PAGE_MAXIMUM),
    )
    .option('--before <id>', 'only payments older than the one with this ID', parseId)
    .addOption(new Option('--csv', 'print CSV with a header line').conflicts('json'))
    .addHelpText(
      'after',
      '\nAmounts are US cents, as in the API. In CSV all text is in quotes; what a spreadsheet\n' +
        "would take for a formula has an apostrophe (') before it.",
    )
    .onDatabase(async ({ db, showList }, flags: ListFlags) => {
      const query = await readQuery(db, flags);
      if (flags.csv) return printCsv(noun.terminal, db, query, flags.limit);
      const limit = flags.limit ?? LIMIT_DEFAULT;
      const payments = await listOperatorPayments(db, { ...query, limit });
      const rows = payments.map(paymentFields);
      showList(
        rows,
        [
          ...(['id', 'createdAt', 'merchantId', 'status', 'amount'] as const),
          ...(['blockchainId', 'customerReferenceId'] as const),
        ],
        pageNote(rows, { ...flags, limit }),
      );
    });
}

/** @throws OperationRefused for a merchant, a network or a payment that does not exist. */
async function readQuery(
  db: Connection,
  { merchant, status, blockchain, reference, since, until, before }: ListFlags,
): Promise<Omit<OperatorPaymentsQuery, 'limit'>> {
  if (merchant !== undefined) await requireMerchant(db, merchant);
  if (blockchain !== undefined && (await findNetwork(db, blockchain)) === undefined) {
    throw new OperationRefused('network-unknown', { blockchainId: blockchain });
  }
  if (before !== undefined && (await findPayment(db, before)) === undefined) {
    throw new OperationRefused('payment-unknown', { paymentId: before });
  }
  return {
    merchantId: merchant,
    status,
    since,
    until,
    before,
    blockchainId: blockchain,
    customerReferenceId: reference,
  };
}

/**
 * Prints page by page, so that any number of payments fits into memory.
 * @param limit Most payments; all if undefined.
 */
async function printCsv(
  terminal: Terminal,
  db: Connection,
  query: Omit<OperatorPaymentsQuery, 'limit'>,
  limit: number | undefined,
): Promise<void> {
  terminal.out(csvHeader(CSV_COLUMNS));
  let { before } = query;
  do {
    const page = await listOperatorPayments(db, { ...query, before, limit: limit ?? PAGE_MAXIMUM });
    terminal.out(csvRows(CSV_COLUMNS, page.map(paymentFields)));
    before = page.length === PAGE_MAXIMUM ? page.at(-1)?.id : undefined;
  } while (before !== undefined && limit === undefined && terminal.isRead?.() !== false);
}

type Fields = ReturnType<typeof paymentFields>;

/** Fields that are text or numbers as they are. */
type PlainName = {
  [N in keyof Fields]: Fields[N] extends CsvCell ? N : never;
}[keyof Fields];

const PLAIN: readonly PlainName[] = [
  ...(['id', 'createdAt', 'merchantId', 'branchId', 'partnerId', 'flow', 'status'] as const),
  ...(['sessionStatus', 'amount', 'commissionAmount', 'commissionPayer'] as const),
  ...(['settlementModel', 'blockchainId', 'tokenAmount', 'address', 'transactionHash'] as const),
  ...(['processor', 'externalId', 'paidAt', 'expiresAt', 'customerReferenceId', 'note'] as const),
  'cancellationReason',
];

const CSV_COLUMNS: readonly CsvColumn<Fields>[] = [
  ...PLAIN.map(title => ({ title, cell: (fields: Fields) => fields[title] })),
  { title: 'lastErrorCode', cell: ({ lastError }) => lastError?.code ?? null },
  { title: 'lastErrorMessage', cell: ({ lastError }) => lastError?.message ?? null },
];
