/** Text that cannot be taken for anything else between the other details of a line. */
const PLAIN = /^[^\s"'={}[\],\p{Cc}]+$/u;

/** Details on one line, as in `name="Web shop" immediately=true`; null for none. */
export function detailText(detail: unknown): string | null {
  if (typeof detail !== 'object' || detail === null) return null;
  const fields = Object.entries(detail).map(([name, value]) => `${name}=${valueText(value)}`);
  return fields.length === 0 ? null : fields.join(' ');
}

function valueText(value: unknown): string {
  return typeof value === 'string' && PLAIN.test(value) ? value : JSON.stringify(value);
}
