import { ERRORS, type ErrorCode } from '../../errors/catalogue.ts';
import { escapeHtml } from '../html.ts';
import { renderDocument } from '../plain-document.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];

/** The page of one error: what it means, what to do, and whether to retry. */
export function renderErrorPage(errorCode: ErrorCode): string {
  const { code, status, type, retry, meaning, remedy } = ERRORS[errorCode];
  const advice = retry
    ? 'Yes, freshly signed with a new nonce and timestamp.'
    : 'No, not unchanged.';
  return page(
    `${errorCode} ${code}`,
    `<p><a href="/docs/errors">All errors</a></p>
<h1>${errorCode} <code>${escapeHtml(code)}</code></h1>
<p>${escapeHtml(meaning)}</p>
<h2>What to do</h2>
<p>${escapeHtml(remedy)}</p>
<table>
<tr><th scope="row">HTTP status</th><td>${status}</td></tr>
<tr><th scope="row">type</th><td><code>${type}</code></td></tr>
<tr><th scope="row">code</th><td><code>${escapeHtml(code)}</code></td></tr>
<tr><th scope="row">Retry</th><td>${advice}</td></tr>
</table>`,
  );
}

/** The list of all errors. */
export function renderErrorIndex(): string {
  const rows = CODES.map(errorCode => {
    const { code, status, retry, meaning } = ERRORS[errorCode];
    return `<tr><th scope="row"><a href="/docs/errors/${errorCode}">${errorCode}</a></th><td><code>${escapeHtml(code)}</code></td><td>${status}</td><td>${retry ? 'yes' : 'no'}</td><td>${escapeHtml(meaning)}</td></tr>`;
  });
  return page(
    'Errors',
    `<h1>Errors</h1>
<p>Every error is JSON with one <code>error</code> object; decide by its <code>code</code> or <code>errorCode</code>, and retry only where <code>X-MP-Should-Retry</code> is <code>true</code>.</p>
<table>
<thead><tr><th scope="col">errorCode</th><th scope="col">code</th><th scope="col">HTTP</th><th scope="col">Retry</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`,
  );
}

function page(title: string, content: string): string {
  return renderDocument(`${title} · External Payments Service`, ['/docs/style.css'], content);
}
