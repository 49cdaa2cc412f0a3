import type { WebhookAttempt, WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import type { DeliveredEvent } from '#storage/repositories/webhooks/own-deliveries.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, renderButton } from '../../kit/form.ts';
import { exactTime } from '../../kit/format.ts';
import { renderFacts } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { renderAttempts } from './attempts.ts';
import { renderOutcome } from './delivery-list.ts';
import { shownUrl } from './list.ts';

/** How often the page of a pending delivery looks for news, in seconds. */
const REFRESH_SECONDS = 5;

interface DeliveryFrame {
  readonly endpoint: WebhookEndpoint;
  /** Of the endpoint's page, with the base path. */
  readonly endpointUrl: string;
  readonly paymentsUrl: string;
  /** Oldest first. */
  readonly attempts: readonly WebhookAttempt[];
  /** What is sent. */
  readonly payload: string;
  readonly fault: FormFault | null;
  readonly seesPaths: boolean;
  readonly mayRedeliver: boolean;
}

export function deliveryPage(
  words: PanelTexts,
  delivery: DeliveredEvent,
  frame: DeliveryFrame,
): PanelPage {
  const { delivery: text, redelivery } = words.webhooks;
  const { facts: names } = text;
  const { endpoint, endpointUrl, paymentsUrl, attempts, payload, fault, seesPaths } = frame;
  const { id, status, payment_id: paymentId, redelivered_as: redeliveredAs } = delivery;
  const url = `${endpointUrl}/deliveries/${id}`;
  const time = (date: Date | null) => (date === null ? null : exactTime(words, date));
  const other = (deliveryId: string | null) =>
    deliveryId &&
    html`<a href="${endpointUrl}/deliveries/${deliveryId}">${text.otherDelivery}</a> <code>${deliveryId}</code>`;
  const isPending = status === 'pending';
  return {
    title: text.title,
    lead: html`${renderOutcome(words, status)} <code>${delivery.event_type}</code>`,
    ...(isPending ? { refreshSeconds: REFRESH_SECONDS } : {}),
    fault,
    content: html`${status === 'withheld' && html`<p class="notice">${text.withheld}</p>`}
${renderFacts([
  [names.endpoint, html`<a href="${endpointUrl}">${shownUrl(endpoint, seesPaths)}</a>`],
  [
    names.payment,
    paymentId && html`<a href="${paymentsUrl}/${paymentId}"><code>${paymentId}</code></a>`,
  ],
  [names.eventId, html`<code>${delivery.event_id}</code>`],
  [names.made, exactTime(words, delivery.created_at)],
  [names.next, time(delivery.next_attempt_at)],
  [names.ended, time(delivery.finished_at)],
  [names.repeats, other(delivery.redelivery_of)],
  [names.repeatedAs, other(redeliveredAs)],
  [names.id, html`<code>${id}</code>`],
])}
${
  frame.mayRedeliver &&
  endpoint.disabled_at === null &&
  html`<p>${isPending ? redelivery.instead : redelivery.oneText}</p>
${renderButton(`${url}/redeliver`, redelivery.one)}`
}
<section aria-labelledby="attempts"><h2 id="attempts">${text.attempts}</h2>
${attempts.length === 0 ? html`<p>${text.noAttempt}</p>` : renderAttempts(words, attempts, seesPaths)}
${!seesPaths && attempts.length > 0 && html`<p class="quiet">${text.noExcerpts}</p>`}</section>
${renderPayload(words, payload, url)}`,
  };
}

function renderPayload(
  { webhooks: { delivery: text } }: PanelTexts,
  payload: string,
  url: string,
): Html {
  return html`<section aria-labelledby="payload"><h2 id="payload">${text.payload}</h2>
<pre tabindex="0"><code>${JSON.stringify(JSON.parse(payload), null, 2)}</code></pre>
<p class="quiet">${text.payloadText}</p>
<p><a href="${url}/payload.json" download>${text.download}</a></p></section>`;
}
