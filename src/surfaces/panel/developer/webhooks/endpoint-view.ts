import { wordDisabling } from '#errors/refusals/disablings.ts';
import { originOf, SECRET_GRACE_MS } from '#payments/webhooks/manage-endpoints.ts';
import { REDELIVERIES_MAXIMUM } from '#payments/webhooks/redeliver.ts';
import type { EndpointTest } from '#payments/webhooks/test-endpoint.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, renderButton, renderField } from '../../kit/form.ts';
import { count, dateTime } from '../../kit/format.ts';
import type { ListPage } from '../../kit/list.ts';
import { renderFacts } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { renderResponse } from './attempts.ts';
import { type ListedDelivery, renderDeliveries } from './delivery-list.ts';
import type { WantedDeliveries } from './forms.ts';
import { renderSecretAge, renderState, renderTypes, shownUrl } from './list.ts';

const GRACE_HOURS = SECRET_GRACE_MS / 3_600_000;
const GONE = 410;

interface EndpointFrame {
  /** The page's address, with the base path. */
  readonly url: string;
  readonly now: Date;
  /** ID under which a secret is made once, however often the form is sent. */
  readonly intent: string;
  readonly wanted: WantedDeliveries;
  readonly page: ListPage<ListedDelivery>;
  readonly fault: FormFault | null;
  readonly test: EndpointTest | undefined;
  readonly since: string | undefined;
  readonly isFailing: boolean;
  /** When the service gives up on the oldest event that waits. */
  readonly givenUpAt: Date | null;
  readonly seesPaths: boolean;
  readonly mayManage: boolean;
  readonly mayRedeliver: boolean;
}

export function endpointPage(
  words: PanelTexts,
  endpoint: WebhookEndpoint,
  frame: EndpointFrame,
): PanelPage {
  const { webhooks: text } = words;
  const { url, now, intent, fault, test, isFailing, seesPaths, mayManage } = frame;
  const { disabled_at: disabled, previous_valid_until: previous } = endpoint;
  const isEnabled = disabled === null;
  return {
    title: originOf(endpoint.url),
    lead: renderState(words, endpoint, isFailing),
    fault,
    content: html`${test !== undefined && renderTest(words, test)}
${!isEnabled && html`<p class="notice">${text.disabled(wordDisabling(text.disablings, endpoint.disabled_reason))}</p>`}
${isEnabled && isFailing && html`<p class="notice">${text.failing(frame.givenUpAt)}</p>`}
${renderFacts([
  [text.facts.url, html`<code>${shownUrl(endpoint, seesPaths)}</code>`],
  [text.facts.types, renderTypes(words, endpoint)],
  [text.facts.secret, renderSecretAge(words, endpoint, now)],
  [text.facts.formerSecret, previous !== null && previous > now ? dateTime(words, previous) : null],
  [text.facts.created, dateTime(words, endpoint.created_at)],
  [text.facts.disabled, disabled === null ? null : dateTime(words, disabled)],
  [text.facts.id, html`<code>${endpoint.id}</code>`],
])}
${!seesPaths && html`<p class="quiet">${text.originOnly}</p>`}
${mayManage && renderSection('test', text.test, renderButton(`${url}/test`, text.test.submit))}
<section aria-labelledby="deliveries"><h2 id="deliveries">${text.deliveries.title}</h2>
${renderDeliveries(words, frame)}</section>
${isEnabled && frame.mayRedeliver && renderRedelivery(words, frame)}
${mayManage && isEnabled && renderRotation(words, url, intent)}
${mayManage && renderSwitch(words, url, isEnabled)}`,
  };
}

function renderSection(
  id: string,
  { title, text: lead }: { readonly title: string; readonly text: string },
  form: Html,
): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
<p>${lead}</p>
${form}</section>`;
}

function renderTest(
  words: PanelTexts,
  { statusCode, error, excerpt, durationMs }: EndpointTest,
): Html {
  const { result, received, gone } = words.webhooks.test;
  const isReceived = statusCode !== null && statusCode >= 200 && statusCode <= 299;
  return html`<section class="notice" aria-labelledby="result"><h2 id="result">${result}</h2>
${isReceived && html`<p>${received}</p>`}
${renderResponse(words, { status_code: statusCode, error, response_excerpt: excerpt, duration_ms: durationMs }, true)}
${statusCode === GONE && html`<p>${gone}</p>`}</section>`;
}

function renderRedelivery(words: PanelTexts, { url, fault, now, since }: EndpointFrame): Html {
  const { title, text: lead, since: label, submit } = words.webhooks.redelivery;
  const aDayAgo = new Date(now.getTime() - 24 * 3_600_000).toISOString().slice(0, 16);
  return renderSection(
    'redelivery',
    { title, text: lead(count(words, REDELIVERIES_MAXIMUM)) },
    html`<form method="post" action="${url}/redeliver-failed" class="filters">
${renderField({ name: 'since', label, type: 'datetime-local', value: since ?? aDayAgo }, fault)}
<button>${submit}</button>
</form>`,
  );
}

function renderRotation({ webhooks }: PanelTexts, url: string, intent: string): Html {
  const { title, text: lead, submit } = webhooks.rotation;
  return renderSection(
    'rotation',
    { title, text: lead(GRACE_HOURS) },
    html`<form method="post" action="${url}/rotate">
<input type="hidden" name="intent" value="${intent}">
<button>${submit}</button>
</form>`,
  );
}

function renderSwitch({ webhooks }: PanelTexts, url: string, isEnabled: boolean): Html {
  const text = isEnabled ? webhooks.disabling : webhooks.enabling;
  const verb = isEnabled ? 'disable' : 'enable';
  return renderSection(
    'switch',
    text,
    renderButton(`${url}/${verb}`, text.submit, isEnabled ? 'danger' : 'primary'),
  );
}
