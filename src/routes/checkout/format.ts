import { type Html, html } from '../pages/html.ts';

const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' });
const DATE_AND_TIME = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
});

/** For a time within a day, such as a deadline. */
export function timeOfDay(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${TIME.format(date)} UTC</time>`;
}

export function dateAndTime(date: Date): Html {
  return html`<time datetime="${date.toISOString()}">${DATE_AND_TIME.format(date)} UTC</time>`;
}
