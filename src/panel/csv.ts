import { type CsvColumn, csvHeader, csvRows } from '../payments/csv.ts';

/** Bytes that make spreadsheets read the file as UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Writes a file of comma-separated values page by page.
 * @param pages Rows, a page at a time; the next one is read when the client has taken the former.
 */
export async function* writeCsv<T>(
  columns: readonly CsvColumn<T>[],
  pages: AsyncIterable<readonly T[]>,
): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvHeader(columns);
  for await (const rows of pages) {
    if (rows.length > 0) yield csvRows(columns, rows);
  }
}
