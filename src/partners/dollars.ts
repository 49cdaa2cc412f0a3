/** Cents as the number of dollars that partner reports show: 1234 is 12.34. */
export function toDollars(cents: number): number {
  return cents / 100;
}
