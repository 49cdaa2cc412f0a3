import { stringify } from 'csv-stringify/sync';

/** What a cell holds. Missing values are empty; numbers alone are written without quotes. */
export type CsvCell = string | number | null;

export interface CsvColumn<T> {
  readonly title: string;
  readonly cell: (row: T) => CsvCell;
}

/**
 * Beginnings that spreadsheets take for a formula, also after blanks and line breaks, which some of them
 * skip, and in their full-width forms.
 */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/;

/** Bytes that make spreadsheets read the file as UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF';

/** The line of titles of a CSV file. */
export function csvHeader<T>(columns: readonly CsvColumn<T>[]): string {
  return format([columns.map(({ title }) => title)]);
}

/**
 * Lines of a CSV file (RFC 4180), each with its end. All text is quoted: readers
 * disagree about which characters end a line. Text that a spreadsheet would run begins with an apostrophe,
 * since merchants and customers wrote it.
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
    cast: { string: text => (FORMULA.test(text) ? `'${text}` : text) },
  });
}
