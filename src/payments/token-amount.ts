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
