const DATE_AND_TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** How numbers and times are written. */
export const formats = {
  number: (value: number) => value.toLocaleString('en-US'),
  /** In UTC. */
  dateTime: (at: Date) => `${DATE_AND_TIME.format(at)} UTC`,
};

/** A count with its noun: `1 deposit`, `2 deposits`. */
export function counted(value: number, noun: string): string {
  return `${formats.number(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** A time in UTC within a sentence: `2026-03-01 at 12:30 UTC`. */
export function minuteOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' at ')} UTC`;
}
