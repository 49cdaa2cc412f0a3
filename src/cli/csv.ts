/** Characters that need a cell in quotes (RFC 4180). */
const QUOTED = /["\r\n,]/;
/** Beginnings that spreadsheets take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/** A line of CSV (RFC 4180), with its end. Missing values are empty, times are ISO 8601. */
export function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return value.toISOString();
  const text = String(value);
  // Merchants and customers wrote it, and whoever opens the file must not run it.
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  return QUOTED.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
