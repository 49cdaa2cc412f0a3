const UNITS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** A duration in the largest unit that divides it, e.g. `2 hours`; one day is `24 hours`. */
export function formatDuration(seconds: number): string {
  const [size, unit] = UNITS.find(([length]) => seconds % length === 0 && seconds !== length) ?? [
    1,
    'second',
  ];
  const count = seconds / size;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
