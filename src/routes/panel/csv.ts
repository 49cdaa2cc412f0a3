import { stringify } from 'csv-stringify/sync';

/** Bytes that make spreadsheets read the file as UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

export interface CsvColumn<T> {
  readonly title: string;
  readonly cell: (row: T) => string | number | null;
}

/**
 * Writes a file of comma-separated values page by page (RFC 4180). Text that a spreadsheet would take for a
 * formula begins with an apostrophe.
 * @param pages Rows, a page at a time; the next one is read when the client has taken the former.
 */
export async function* writeCsv<T>(
  columns: readonly CsvColumn<T>[],
  pages: AsyncIterable<readonly T[]>,
): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + format([columns.map(({ title }) => title)]);
  for await (const rows of pages) {
    if (rows.length > 0) yield format(rows.map(row => columns.map(({ cell }) => cell(row))));
  }
}

function format(rows: readonly (readonly (string | number | null)[])[]): string {
  return stringify(
    rows.map(row => [...row]),
    { record_delimiter: 'windows', escape_formulas: true },
  );
}
