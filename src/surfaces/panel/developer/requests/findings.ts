import { TIMESTAMP_WINDOW_SECONDS } from '#signing/canonical.ts';
import type { Explanation } from '#signing/explain-mismatch.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';

/**
 * What is wrong with a signature, and what to do; never the signature that would be right.
 * @param tried Mistakes that were tried and ruled out, if known.
 */
export function renderFindings(
  { requests: { explain: text } }: PanelTexts,
  { matches, readable, findings }: Explanation,
  tried: readonly string[] = [],
): Html {
  if (matches)
    return html`<p><strong>${text.matches}</strong> ${text.matchesMore(TIMESTAMP_WINDOW_SECONDS)}</p>`;
  if (!readable) return html`<p>${text.unreadable}</p>`;
  if (findings.length > 0) {
    return html`<ul>${findings.map(
      ({ component, made, remedy }) =>
        html`<li><span class="tag">${component}</span> <strong>${text.madeWith(made)}</strong> ${remedy}</li>`,
    )}</ul>`;
  }
  return html`<p>${text.notFound} ${text.compare}</p>
${
  tried.length > 0 &&
  html`<details><summary>${text.tried}</summary><ul>${tried.map(made => html`<li>${made}</li>`)}</ul></details>`
}`;
}
