import { createHash } from 'node:crypto';
import type { Keyring } from '#crypto/keyring.ts';
import { type CsvColumn, csvParts } from '#payments/csv.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import { closingOf } from '#time/months.ts';
import { requireReplayed } from '../evidence/replica-caught-up.ts';
import { type Signed, signEvidence } from '../evidence/sign.ts';
import { type CommissionRow, readCommissionRows } from './commission.ts';

/** Rows that are read at once. */
const PAGE = 1_000;
/** Version of the statement's format; it rises when a member changes its meaning. */
const VERSION = 1;

const column = (title: keyof CommissionRow): CsvColumn<CommissionRow> => ({
  title,
  cell: row => row[title],
});

/** What the file of a month's commission holds; amounts are cents. */
export const COMMISSION_COLUMNS: readonly CsvColumn<CommissionRow>[] = [
  ...(['month', 'merchantId', 'merchantName', 'payments', 'volumeCents'] as const).map(column),
  ...(['commissionCents', 'owedBy', 'owedTo'] as const).map(column),
];

/** What is signed about the file of a month's commission. */
export interface CommissionStatement {
  readonly version: typeof VERSION;
  readonly madeAt: string;
  /** Base URL of the service; its public keys are below `/.well-known/jwks.json`. */
  readonly service: string;
  readonly partnerId: string;
  readonly commission: {
    /** YYYY-MM, of UTC. */
    readonly month: string;
    readonly merchants: number;
    readonly payments: number;
    readonly volumeCents: number;
    readonly commissionCents: number;
  };
  readonly file: { readonly name: string; readonly bytes: number; readonly sha256: string };
}

interface Dependencies {
  readonly db: Database;
  /** The database that the figures are read from. */
  readonly reports: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly publicUrl: string;
}

/** The name of the file of a month. */
export function commissionFileName(month: string): string {
  return `commission-${month}.csv`;
}

/**
 * Signs the sums of a closed month, and the hash of the file with its rows.
 * @throws ApiError E5002 while the replica may lack some of them.
 */
export async function signCommission(
  { db, reports, keyring, clock, publicUrl }: Dependencies,
  partnerId: string,
  month: string,
): Promise<Signed<CommissionStatement>> {
  const now = new Date(clock());
  await requireReplayed({ primary: db, replica: reports }, closingOf(month), now);
  const hash = createHash('sha256');
  let bytes = 0;
  const sums = { merchants: 0, payments: 0, volumeCents: 0, commissionCents: 0 };
  async function* summed() {
    for await (const rows of readCommissionRows(reports, partnerId, month, PAGE)) {
      for (const { payments, volumeCents, commissionCents } of rows) {
        sums.merchants += 1;
        sums.payments += payments;
        sums.volumeCents += volumeCents;
        sums.commissionCents += commissionCents;
      }
      yield rows;
    }
  }
  for await (const { text } of csvParts(COMMISSION_COLUMNS, summed())) {
    hash.update(text);
    bytes += Buffer.byteLength(text);
  }
  const file = { name: commissionFileName(month), bytes, sha256: hash.digest('hex') };
  const commission = { month, ...sums };
  return signEvidence<CommissionStatement>(
    { db, keyring, clock },
    {
      version: VERSION,
      madeAt: now.toISOString(),
      service: publicUrl,
      partnerId,
      commission,
      file,
    },
  );
}
