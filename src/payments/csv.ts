import { stringify } from 'csv-stringify/sync';

/** What a cell holds. Missing values are empty; numbers alone are written without quotes. */
export type CsvCell = string | number | null;

export interface CsvColumn<T> {
  readonly title: string;
  readonly cell: (row: T) => CsvCell;
}

/**
 * Where a cell begins for some readers. One whose separator is `;` or a tab takes our quotes as text, and ends lines
 * inside of them.
 */
const CELL_START = '^|[;\\t\\r\\n]';
/**
 * Characters that spreadsheets take for the beginning of a formula, also in their full-width forms. They may follow
 * blanks, which some spreadsheets skip, and quotes, which such a reader takes for an empty quoted text.
 */
const FORMULA = new RegExp(`(${CELL_START})(?=(?:(?![\\t\\r\\n])[\\s"])*[=+\\-@＝＋－＠])`, 'g');
/** Leading characters that some spreadsheets skip. */
const SKIPPED = /^[\t\r\n]/;

/** Bytes that make spreadsheets read the file as UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

/** The line of titles of a CSV file. */
export function csvHeader<T>(columns: readonly CsvColumn<T>[]): string {
  return format([columns.map(({ title }) => title)]);
}

/**
 * Lines of a CSV file (RFC 4180), each with its end. All text is quoted: readers disagree about which characters end
 * a line. Merchants and customers wrote the texts, so an apostrophe precedes whatever a spreadsheet would run as a
 * formula, at the beginning of a text or inside it.
 */
export function csvRows<T>(columns: readonly CsvColumn<T>[], rows: readonly T[]): string {
  return format(rows.map(row => columns.map(({ cell }) => cell(row))));
}

/** A part of a file, and how many rows are in it. */
export interface FilePart {
  readonly text: string;
  readonly rows: number;
}

/** A whole CSV file, of which each page of rows is a part. */
export async function* csvParts<T>(
  columns: readonly CsvColumn<T>[],
  pages: AsyncIterable<readonly T[]>,
): AsyncGenerator<FilePart> {
  yield { text: BYTE_ORDER_MARK + csvHeader(columns), rows: 0 };
  for await (const page of pages) {
    if (page.length > 0) yield { text: csvRows(columns, page), rows: page.length };
  }
}

function format(lines: CsvCell[][]): string {
  return stringify(lines, {
    record_delimiter: 'windows',
    quoted_string: true,
    cast: { string: guard },
  });
}

function guard(text: string): string {
  return text.replaceAll(FORMULA, "$1'").replace(SKIPPED, "'$&");
}
