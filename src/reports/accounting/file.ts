import { createHash } from 'node:crypto';
import type { Keyring } from '#crypto/keyring.ts';
import { type CsvColumn, csvParts, type FilePart } from '#payments/csv.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import { listMovements, type MovementCursor } from '#storage/repositories/payments/movements.ts';
import type { Clock } from '#time/clock.ts';
import { addMonths, startOfMonth } from '#time/months.ts';
import { signEvidence } from '../evidence/sign.ts';
import type { SignedLines } from '../evidence/verify.ts';
import { type Account, type AccountingRow, ROW_FIELDS, toRows } from './rows.ts';

/** Movements that are read at once. */
const PAGE = 1_000;
/** Version of the statement's format; it rises when a member changes its meaning. */
const VERSION = 1;

export const FORMATS = ['csv', 'jsonl'] as const;
export type Format = (typeof FORMATS)[number];

const COLUMNS: readonly CsvColumn<AccountingRow>[] = ROW_FIELDS.map(title => ({
  title,
  cell: row => row[title],
}));

/** What is signed about a month's movements; the rows are the lines before the signature. */
export interface AccountingStatement extends SignedLines {
  readonly version: typeof VERSION;
  readonly madeAt: string;
  /** Base URL of the service; its public keys are below `/.well-known/jwks.json`. */
  readonly service: string;
  readonly merchantId: string;
  readonly environment: Account['environment'];
  readonly accounting: {
    /** YYYY-MM, of UTC. */
    readonly month: string;
    readonly rows: number;
    /** Sum of the payments' amounts. */
    readonly volumeCents: number;
    readonly commissionCents: number;
  };
}

interface Dependencies {
  readonly db: Database;
  /** The database that the movements are read from. */
  readonly reports: Database;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly publicUrl: string;
}

/** The name of the file of a month. */
export function accountingFileName(month: string, format: Format): string {
  return `accounting-${month}.${format}`;
}

/**
 * The file of a merchant's movements in a UTC month, in parts: comma-separated values, or JSON lines of which the
 * last one signs those before it. Rows are in the order of their times; those of one movement are together.
 */
export function accountingFile(
  deps: Dependencies,
  account: Account,
  month: string,
  format: Format,
): AsyncIterable<FilePart> {
  const pages = readRows(deps.reports, account, month, PAGE);
  return format === 'csv' ? csvParts(COLUMNS, pages) : signedLines(deps, account, month, pages);
}

async function* signedLines(
  { db, keyring, clock, publicUrl }: Dependencies,
  { id: merchantId, environment }: Account,
  month: string,
  pages: AsyncIterable<readonly AccountingRow[]>,
): AsyncGenerator<FilePart> {
  const hash = createHash('sha256');
  let bytes = 0;
  const sums = { rows: 0, volumeCents: 0, commissionCents: 0 };
  for await (const rows of pages) {
    const text = rows.map(row => `${JSON.stringify(row, ROW_FIELDS)}\n`).join('');
    hash.update(text);
    bytes += Buffer.byteLength(text);
    for (const { type, amountCents } of rows) {
      sums.rows += 1;
      if (type === 'payment') sums.volumeCents += amountCents ?? 0;
      if (type === 'commission') sums.commissionCents += amountCents ?? 0;
    }
    yield { text, rows: rows.length };
  }
  const signed = await signEvidence<AccountingStatement>(
    { db, keyring, clock },
    {
      version: VERSION,
      madeAt: new Date(clock()).toISOString(),
      service: publicUrl,
      merchantId,
      environment,
      accounting: { month, ...sums },
      lines: { bytes, sha256: hash.digest('hex') },
    },
  );
  yield { text: `${JSON.stringify(signed)}\n`, rows: 0 };
}

/**
 * All rows of a UTC month: by time and ID, those of one movement together.
 * @param limit Movements that are read at once.
 */
export async function* readRows(
  db: Connection,
  account: Account,
  month: string,
  limit: number,
): AsyncGenerator<readonly AccountingRow[]> {
  const period = { from: startOfMonth(month), until: startOfMonth(addMonths(month, 1)) };
  let after: MovementCursor | undefined;
  do {
    const page = await listMovements(db, account.id, { ...period, after, limit });
    yield page.flatMap(movement => toRows(account, movement));
    after = page.length === limit ? page.at(-1) : undefined;
  } while (after !== undefined);
}
