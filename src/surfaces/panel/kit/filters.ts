import { type Static, Type } from '@sinclair/typebox';
import { type Html, html } from '../../pages/html.ts';
import { texts } from '../texts/index.ts';
import { type Choices, type FormFault, renderField, renderSelect } from './form.ts';

const filterTexts = texts.lists.filters;

/** A UTC day, YYYY-MM-DD. */
const Day = Type.String({ format: 'date-bound', pattern: '^\\d{4}-\\d{2}-\\d{2}$' });

/** The first and the last day of a list. */
export const DaysQuery = Type.Object({ from: Type.Optional(Day), to: Type.Optional(Day) });

export type Days = Static<typeof DaysQuery>;

/** Why a list cannot show these days; null if it can. */
export function faultOfDays({ from, to }: Days): FormFault | null {
  if (from === undefined || to === undefined || from <= to) return null;
  return { field: 'from', message: filterTexts.daysReversed(from, to) };
}

/** The form that filters the list at `url`. */
export function renderFilters(url: string, fields: readonly Html[]): Html {
  return html`<form method="get" action="${url}" class="filters" role="search">
${fields}
<button>${filterTexts.submit}</button>
</form>`;
}

/** Filters by one of several values. */
export function renderChoice(
  name: string,
  label: string,
  choices: Choices,
  chosen: string | undefined,
): Html {
  return renderSelect(name, label, [['', filterTexts.any], ...choices], chosen);
}

export function renderDayFields({ from, to }: Days, fault: FormFault | null): Html {
  const field = { type: 'date', required: false } as const;
  return html`${renderField({ ...field, name: 'from', label: filterTexts.from, value: from }, fault)}
${renderField({ ...field, name: 'to', label: filterTexts.to, value: to })}`;
}

export function renderSearch(
  placeholder: string,
  value: string | undefined,
  maxlength?: number,
): Html {
  const field = { name: 'search', type: 'search', required: false } as const;
  const label = filterTexts.search;
  return renderField({ ...field, label, placeholder, value, maxlength });
}

/** Shown instead of a list without rows, with a link that clears the filters. */
export function renderNoMatch(text: string, url: string): Html {
  return html`<p>${text} <a href="${url}">${filterTexts.clear}</a></p>`;
}
