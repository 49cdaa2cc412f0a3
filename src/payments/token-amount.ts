/**
 * Writes an integer of an asset's smallest unit as a decimal string without trailing zeros:
 * 1500000 with 6 decimals is `1.5`.
 */
export function formatBaseUnits(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Whole digits, and after a point as many more as the asset may have. */
const DECIMAL = /^(\d{1,60})(?:\.(\d{1,18}))?$/;

/** The inverse of `formatBaseUnits`; undefined for any text but a plain decimal of at most `decimals` places. */
export function parseBaseUnits(text: string, decimals: number): bigint | undefined {
  const [matched, whole = '', written = ''] = DECIMAL.exec(text.trim()) ?? [];
  const fraction = written.replace(/0+$/, '');
  if (matched === undefined || fraction.length > decimals) return undefined;
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
