import type { FastifyRequest } from 'fastify';
import { isAllowed } from '#accounts/access/permissions.ts';
import { KEY_PAUSE_MS } from '#accounts/requests/deferred-explanations.ts';
import type { RequestRow } from '#storage/repositories/keys/request-log.ts';
import { type Html, html } from '../../../pages/html.ts';
import { membershipOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import { count, exactTime } from '../../kit/format.ts';
import { ownUrl } from '../../kit/navigation.ts';
import { addressOf } from '../../kit/page-address.ts';
import { PLACES } from '../../kit/places.ts';
import { renderFacts } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { renderFindings } from './findings.ts';
import { renderOutcome } from './list.ts';

export function requestPage(
  request: FastifyRequest,
  deps: PanelDependencies,
  row: RequestRow,
): PanelPage {
  const words = texts(request);
  const { requests: text } = words;
  const membership = membershipOf(request);
  const developerUrl = ownUrl(request, PLACES[membership.kind].developer);
  const paymentUrl = ownUrl(request, `/payments/${row.payment_id}`);
  const { payment_id: paymentId, key_id: keyId, requests, verified } = row;
  const payment = isAllowed(membership.role, 'payments.read')
    ? html`<a href="${paymentUrl}"><code>${paymentId}</code></a>`
    : html`<code>${paymentId}</code>`;
  return {
    title: `${row.method} ${row.target.split('?', 1)[0]}`,
    lead: renderOutcome(words, { ...row, requests: 1 }),
    content: html`${renderFacts([
      [text.error, row.error_code && renderError(words, row.error_code, deps.publicUrl)],
      [text.parameter, row.param && html`<code>${row.param}</code>`],
      [text.payment, paymentId && payment],
      [text.replayed, row.replayed ? text.replayedText : null],
      [verified ? text.time : text.minuteFrom, exactTime(words, row.at)],
      [text.counted, verified ? null : text.countedText(requests)],
      [text.key, html`<a href="${developerUrl}/keys/${keyId}">${row.key_name}</a>`],
      [text.request, html`<code>${row.method} ${row.target}</code>`],
      [text.address, row.address],
      [text.took, text.milliseconds(count(words, row.milliseconds))],
      [text.id, html`<code>${row.id}</code>`],
    ])}
${row.error_code === 'E2007' && renderSignature(words, row, developerUrl)}`,
  };
}

/** The error code with its meaning, linked to its page. */
function renderError(words: PanelTexts, code: string, publicUrl: string): Html {
  return html`<a href="${publicUrl}/docs/errors/${code}">${code}</a> ${meaningOf(words, code)}`;
}

/** Empty for a code that is no longer in the catalogue. */
export function meaningOf({ requests }: PanelTexts, code: string): string {
  const meanings: Readonly<Partial<Record<string, string>>> = requests.meanings;
  return meanings[code] ?? '';
}

function renderSignature(
  words: PanelTexts,
  { explanation, key_id: key, method, target: url }: RequestRow,
  developerUrl: string,
): Html {
  const { signature, notExplained, explainThis } = words.requests;
  return html`<section aria-labelledby="signature"><h2 id="signature">${signature}</h2>
${explanation === null ? html`<p>${notExplained(KEY_PAUSE_MS / 1000)}</p>` : renderFindings(words, { ...explanation, matches: false })}
<p><a href="${addressOf(`${developerUrl}/explain`, { key, method, url })}">${explainThis}</a></p></section>`;
}
