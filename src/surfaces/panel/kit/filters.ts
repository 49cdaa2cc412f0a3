import { type Static, Type } from '@sinclair/typebox';
import { type Html, html } from '../../pages/html.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { type Choices, type FormFault, renderField, renderSelect } from './form.ts';

/** A UTC day, YYYY-MM-DD. */
const Day = Type.String({ format: 'date-bound', pattern: '^\\d{4}-\\d{2}-\\d{2}$' });

/** The first and the last day of a list. */
export const DaysQuery = Type.Object({ from: Type.Optional(Day), to: Type.Optional(Day) });

export type Days = Static<typeof DaysQuery>;

/** Why a list cannot show these days; null if it can. */
export function faultOfDays({ lists }: PanelTexts, { from, to }: Days): FormFault | null {
  if (from === undefined || to === undefined || from <= to) return null;
  return { field: 'from', message: lists.filters.daysReversed(from, to) };
}

/** The form that filters the list at `url`. */
export function renderFilters({ lists }: PanelTexts, url: string, fields: readonly Html[]): Html {
  return html`<form method="get" action="${url}" class="filters" role="search">
${fields}
<button>${lists.filters.submit}</button>
</form>`;
}

/** Filters by one of several values. */
export function renderChoice(
  { lists }: PanelTexts,
  name: string,
  label: string,
  choices: Choices,
  chosen: string | undefined,
): Html {
  return renderSelect(name, label, [['', lists.filters.any], ...choices], chosen);
}

export function renderDayFields(
  { lists }: PanelTexts,
  { from, to }: Days,
  fault: FormFault | null,
): Html {
  const field = { type: 'date', required: false } as const;
  return html`${renderField({ ...field, name: 'from', label: lists.filters.from, value: from }, fault)}
${renderField({ ...field, name: 'to', label: lists.filters.to, value: to })}`;
}

export function renderSearch(
  { lists }: PanelTexts,
  placeholder: string,
  value: string | undefined,
  maxlength?: number,
): Html {
  const field = { name: 'search', type: 'search', required: false } as const;
  const label = lists.filters.search;
  return renderField({ ...field, label, placeholder, value, maxlength });
}

/** Shown instead of a list without rows, with a link that clears the filters. */
export function renderNoMatch({ lists }: PanelTexts, text: string, url: string): Html {
  return html`<p>${text} <a href="${url}">${lists.filters.clear}</a></p>`;
}
