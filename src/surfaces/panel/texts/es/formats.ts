import type { PanelTexts } from '../panel-texts.ts';

const MINUTES: Intl.DateTimeFormatOptions = {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
};
const DATE_AND_TIME = new Intl.DateTimeFormat('es', MINUTES);
const WITH_SECONDS = new Intl.DateTimeFormat('es', { ...MINUTES, second: '2-digit' });

export const formats: PanelTexts['formats'] = {
  number: value => value.toLocaleString('es'),
  dateTime: at => `${DATE_AND_TIME.format(at)} UTC`,
  exactTime: at => `${WITH_SECONDS.format(at)} UTC`,
};

/** A count with its noun: `1 depósito`, `2 depósitos`. */
export function counted(value: number, one: string, several: string): string {
  return `${formats.number(value)} ${value === 1 ? one : several}`;
}

/** What was counted up to a bound, with its noun: `más de 1000 depósitos`. */
export function countedUpTo(value: number, most: number, one: string, several: string): string {
  return value > most ? `más de ${counted(most, one, several)}` : counted(value, one, several);
}

/** A time in UTC within a sentence: `2026-03-01 a las 12:30 UTC`. */
export function minuteOf(at: Date): string {
  const [day = '', time = ''] = at.toISOString().slice(0, 16).split('T');
  return `${day} a ${time.startsWith('01') ? 'la' : 'las'} ${time} UTC`;
}
