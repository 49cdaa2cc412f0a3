import { type AttemptProblem, problemOf } from '#payments/webhooks/attempt-problem.ts';
import type { WebhookAttempt } from '#storage/database/webhook-tables.ts';
import { type Html, html } from '../../../pages/html.ts';
import { count, dateTime } from '../../kit/format.ts';
import { texts } from '../../texts/index.ts';

const text = texts.webhooks;
/** What was wrong, and what to do. */
const PROBLEMS: Readonly<Record<AttemptProblem, string>> = text.problems;

type Response = Pick<WebhookAttempt, 'status_code' | 'error' | 'response_excerpt' | 'duration_ms'>;

/** The attempts at a delivery, oldest first. */
export function renderAttempts(attempts: readonly WebhookAttempt[], withExcerpts: boolean): Html {
  return html`<ol class="timeline">${attempts.map(
    attempt =>
      html`<li>${dateTime(texts, attempt.at)}
<h3>${text.delivery.attempt(attempt.number)}</h3>
${renderResponse(attempt, withExcerpts)}</li>`,
  )}</ol>`;
}

/**
 * How a server responded to an event, and what to do about it.
 * @param withExcerpt Whether the beginning of the response is shown, which may repeat the URL.
 */
export function renderResponse(response: Response, withExcerpt: boolean): Html {
  const { status_code: status, error, response_excerpt: excerpt, duration_ms: took } = response;
  const problem = problemOf(response);
  const look = problem === null ? 'good' : 'bad';
  const result =
    status === null
      ? html`<code>${error}</code>`
      : html`<span class="tag ${look}">${text.deliveries.httpStatus(status)}</span>`;
  return html`<p>${result} ${text.delivery.took(count(texts, took))}</p>
${problem !== null && html`<p>${PROBLEMS[problem]}</p>`}
${withExcerpt && status !== null && renderExcerpt(excerpt ?? '')}`;
}

function renderExcerpt(excerpt: string): Html {
  if (excerpt === '') return html`<p class="quiet">${text.delivery.empty}</p>`;
  return html`<details><summary>${text.delivery.excerpt}</summary><pre tabindex="0"><code>${excerpt}</code></pre></details>`;
}
