import { type Html, html } from '../../pages/html.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { count, dollars } from './format.ts';
import { renderTable } from './table.ts';

/** Payments of a UTC day. */
interface DayFigure {
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly payments: number;
  readonly cents: number;
}

/** The drawing's size; it is stretched to the width of the page. */
const WIDTH = 720;
const HEIGHT = 144;

/** A bar for each day, and the figures as a table. */
export function renderDays(words: PanelTexts, title: string, days: readonly DayFigure[]): Html {
  const { chart } = words.lists;
  const most = Math.max(...days.map(({ cents }) => cents), 0);
  const first = days[0]?.day ?? '';
  const last = days.at(-1)?.day ?? '';
  if (most === 0) return html`<p class="quiet">${chart.nothing(first, last)}</p>`;
  const total = days.reduce((sum, { cents }) => sum + cents, 0);
  const step = WIDTH / days.length;
  return html`<figure class="days"><svg class="chart" role="img" aria-label="${chart.label(title, dollars(total), first, last)}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none">
<line class="axis" x1="0" x2="${WIDTH}" y1="${HEIGHT - 1}" y2="${HEIGHT - 1}"/>
${days.map(({ day, cents, payments }, index) => {
  const height = Math.round((HEIGHT * cents) / most);
  // The smallest amount is still visible.
  const drawn = cents > 0 ? Math.max(height, 2) : 0;
  return html`<rect class="bar-rect" x="${round(index * step + 1)}" y="${HEIGHT - drawn}" width="${round(step - 2)}" height="${drawn}"><title>${chart.day(day, dollars(cents), payments)}</title></rect>`;
})}
</svg>
<figcaption><span>${first}</span><span>${chart.highest(dollars(most))}</span><span>${last}</span></figcaption></figure>
<details><summary>${chart.table}</summary>${renderTable<DayFigure>(
    title,
    [
      { title: chart.columns.day, cell: ({ day }) => day },
      {
        title: chart.columns.payments,
        cell: ({ payments }) => count(words, payments),
        number: true,
      },
      { title: chart.columns.volume, cell: ({ cents }) => dollars(cents), number: true },
    ],
    days.toReversed(),
  )}</details>`;
}

function round(value: number): string {
  return value.toFixed(1);
}
