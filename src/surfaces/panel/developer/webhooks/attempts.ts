import { type AttemptProblem, problemOf } from '#payments/webhooks/attempt-problem.ts';
import type { WebhookAttempt } from '#storage/database/webhook-tables.ts';
import { type Html, html } from '../../../pages/html.ts';
import { count, exactTime } from '../../kit/format.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';

type Response = Pick<WebhookAttempt, 'status_code' | 'error' | 'response_excerpt' | 'duration_ms'>;

/** The attempts at a delivery, oldest first. */
export function renderAttempts(
  words: PanelTexts,
  attempts: readonly WebhookAttempt[],
  withExcerpts: boolean,
): Html {
  return html`<ol class="timeline">${attempts.map(
    attempt =>
      html`<li>${exactTime(words, attempt.at)}
<h3>${words.webhooks.delivery.attempt(attempt.number)}</h3>
${renderResponse(words, attempt, withExcerpts)}</li>`,
  )}</ol>`;
}

/**
 * How a server responded to an event, and what to do about it.
 * @param withExcerpt Whether the beginning of the response is shown, which may repeat the URL.
 */
export function renderResponse(words: PanelTexts, response: Response, withExcerpt: boolean): Html {
  const { deliveries, delivery, ...text } = words.webhooks;
  /** What was wrong, and what to do. */
  const problems: Readonly<Record<AttemptProblem, string>> = text.problems;
  const { status_code: status, error, response_excerpt: excerpt, duration_ms: took } = response;
  const problem = problemOf(response);
  const look = problem === null ? 'good' : 'bad';
  const result =
    status === null
      ? html`<code>${error}</code>`
      : html`<span class="tag ${look}">${deliveries.httpStatus(status)}</span>`;
  return html`<p>${result} ${delivery.took(count(words, took))}</p>
${problem !== null && html`<p>${problems[problem]}</p>`}
${withExcerpt && status !== null && renderExcerpt(words, excerpt ?? '')}`;
}

/** How a server responded, in a word or two. */
export function responseOf(
  { webhooks: { deliveries } }: PanelTexts,
  attempt: Pick<WebhookAttempt, 'status_code' | 'error'>,
): string {
  if (attempt.status_code !== null) return deliveries.httpStatus(attempt.status_code);
  const { other, ...errors } = deliveries.errors;
  const names: Readonly<Partial<Record<AttemptProblem, string>>> = errors;
  return names[problemOf(attempt) ?? 'other'] ?? other;
}

function renderExcerpt({ webhooks: { delivery } }: PanelTexts, excerpt: string): Html {
  if (excerpt === '') return html`<p class="quiet">${delivery.empty}</p>`;
  return html`<details><summary>${delivery.excerpt}</summary><pre tabindex="0"><code>${excerpt}</code></pre></details>`;
}
