const MINUTES: Intl.DateTimeFormatOptions = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
};
const DATE_AND_TIME = new Intl.DateTimeFormat('en-GB', MINUTES);
const WITH_SECONDS = new Intl.DateTimeFormat('en-GB', { ...MINUTES, second: '2-digit' });

/** How numbers and times are written. */
export const formats = {
  number: (value: number) => value.toLocaleString('en-US'),
  /** In UTC. */
  dateTime: (at: Date) => `${DATE_AND_TIME.format(at)} UTC`,
  /** In UTC, with seconds. */
  exactTime: (at: Date) => `${WITH_SECONDS.format(at)} UTC`,
};

/** A count with its noun: `1 deposit`, `2 deposits`. */
export function counted(value: number, noun: string): string {
  return `${formats.number(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** What was counted up to a bound, with its noun: `more than 1,000 deposits`. */
export function countedUpTo(value: number, most: number, noun: string): string {
  return value > most ? `more than ${counted(most, noun)}` : counted(value, noun);
}

/** A time in UTC within a sentence: `2026-03-01 at 12:30 UTC`. */
export function minuteOf(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' at ')} UTC`;
}
