import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { isAllowed, isChangeAllowed } from '#accounts/access/permissions.ts';
import { wordDisabling } from '#errors/refusals/disablings.ts';
import { originOf } from '#payments/webhooks/manage-endpoints.ts';
import { REDELIVERIES_MAXIMUM } from '#payments/webhooks/redeliver.ts';
import { givenUpAt } from '#payments/webhooks/retry-schedule.ts';
import type { EndpointTest } from '#payments/webhooks/test-endpoint.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import { findOldestPending } from '#storage/repositories/webhooks/own-deliveries.ts';
import { type Html, html } from '../../../pages/html.ts';
import { membershipOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import { faultOfDays } from '../../kit/filters.ts';
import { type FormFault, renderButton, renderField } from '../../kit/form.ts';
import { count, dateTime } from '../../kit/format.ts';
import { ownUrl } from '../../kit/navigation.ts';
import { renderFacts } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { renderResponse } from './attempts.ts';
import { renderDeliveries } from './delivery-list.ts';
import { GRACE_HOURS, readTroubled, WEBHOOKS } from './endpoint.ts';
import type { WantedDeliveries } from './forms.ts';
import { renderSecretAge, renderState, renderTypes, shownUrl } from './list.ts';

const GONE = 410;

/** What a form of the page was sent with, or led to. */
interface EndpointState {
  /** Which deliveries are listed; the newest unless given. */
  readonly wanted?: WantedDeliveries;
  readonly fault?: FormFault;
  /** Result of a test. */
  readonly test?: EndpointTest;
  /** The time that was sent in the form to redeliver. */
  readonly since?: string;
}

/** The page of an endpoint, which all its forms return to. */
export async function endpointPage(
  request: FastifyRequest,
  deps: PanelDependencies,
  endpoint: WebhookEndpoint,
  { wanted = {}, fault, test, since }: EndpointState,
): Promise<PanelPage> {
  const words = texts(request);
  const { webhooks: text } = words;
  const membership = membershipOf(request);
  const { id, merchant_id: merchantId, disabled_at: disabled } = endpoint;
  const { previous_valid_until: previous } = endpoint;
  const url = ownUrl(request, `${WEBHOOKS}/${id}`);
  const now = new Date(deps.clock());
  const wrongDays = faultOfDays(words, wanted);
  const [troubled, deliveries, oldest] = await Promise.all([
    readTroubled(deps, merchantId),
    renderDeliveries(words, deps, endpoint, url, wanted, wrongDays),
    findOldestPending(deps.reports, { merchantId, endpointId: id }),
  ]);
  const next = oldest?.next_attempt_at ?? null;
  const isFailing = troubled.some(each => each.id === id);
  const isEnabled = disabled === null;
  const seesPaths = isAllowed(membership.role, 'webhooks.manage');
  const mayManage = isChangeAllowed(membership, 'webhooks.manage');
  const mayRedeliver = isChangeAllowed(membership, 'webhooks.redeliver');
  return {
    title: originOf(endpoint.url),
    lead: renderState(words, endpoint, isFailing),
    fault: fault ?? wrongDays,
    content: html`${test !== undefined && renderTest(words, test)}
${!isEnabled && html`<p class="notice">${text.disabled(wordDisabling(text.disablings, endpoint.disabled_reason))}</p>`}
${isEnabled && isFailing && html`<p class="notice">${text.failing(next && givenUpAt(oldest?.attempts ?? 0, next))}</p>`}
${renderFacts([
  [text.facts.url, html`<code>${shownUrl(endpoint, seesPaths)}</code>`],
  [text.facts.types, renderTypes(words, endpoint)],
  [text.facts.secret, renderSecretAge(words, endpoint, now)],
  [text.facts.formerSecret, previous !== null && previous > now ? dateTime(words, previous) : null],
  [text.facts.created, dateTime(words, endpoint.created_at)],
  [text.facts.disabled, disabled === null ? null : dateTime(words, disabled)],
  [text.facts.id, html`<code>${id}</code>`],
])}
${!seesPaths && html`<p class="quiet">${text.originOnly}</p>`}
${mayManage && renderSection('test', text.test, renderButton(`${url}/test`, text.test.submit))}
<section aria-labelledby="deliveries"><h2 id="deliveries">${text.deliveries.title}</h2>
${deliveries}</section>
${isEnabled && mayRedeliver && renderRedelivery(words, url, since ?? aDayBefore(now), fault ?? null)}
${mayManage && isEnabled && renderRotation(words, url)}
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

/** A day before a time, as the field for a time holds it. */
function aDayBefore(time: Date): string {
  return new Date(time.getTime() - 24 * 3_600_000).toISOString().slice(0, 16);
}

function renderRedelivery(
  words: PanelTexts,
  url: string,
  value: string,
  fault: FormFault | null,
): Html {
  const { title, text: lead, since: label, submit } = words.webhooks.redelivery;
  return renderSection(
    'redelivery',
    { title, text: lead(count(words, REDELIVERIES_MAXIMUM)) },
    html`<form method="post" action="${url}/redeliver-failed" class="filters">
${renderField({ name: 'since', label, type: 'datetime-local', value }, fault)}
<button>${submit}</button>
</form>`,
  );
}

function renderRotation({ webhooks }: PanelTexts, url: string): Html {
  const { title, text: lead, submit } = webhooks.rotation;
  return renderSection(
    'rotation',
    { title, text: lead(GRACE_HOURS) },
    html`<form method="post" action="${url}/rotate">
<input type="hidden" name="intent" value="${randomUUID()}">
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
