import type { WebhookAttempt, WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import type { DeliveredEvent } from '#storage/repositories/webhooks/own-deliveries.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, renderButton } from '../../kit/form.ts';
import { dateTime } from '../../kit/format.ts';
import { renderFacts } from '../../kit/table.ts';
import { texts } from '../../texts/index.ts';
import { renderAttempts } from './attempts.ts';
import { renderOutcome } from './delivery-list.ts';
import { shownUrl } from './list.ts';

const { delivery: text, redelivery } = texts.webhooks;
const { facts: names } = text;

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

export function deliveryPage(delivery: DeliveredEvent, frame: DeliveryFrame): PanelPage {
  const { endpoint, endpointUrl, paymentsUrl, attempts, payload, fault, seesPaths } = frame;
  const { id, status, payment_id: paymentId, redelivered_as: redeliveredAs } = delivery;
  const url = `${endpointUrl}/deliveries/${id}`;
  const time = (date: Date | null) => (date === null ? null : dateTime(texts, date));
  const other = (deliveryId: string | null) =>
    deliveryId &&
    html`<a href="${endpointUrl}/deliveries/${deliveryId}">${text.otherDelivery}</a> <code>${deliveryId}</code>`;
  const isPending = status === 'pending';
  return {
    title: text.title,
    lead: html`${renderOutcome(status)} <code>${delivery.event_type}</code>`,
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
  [names.made, dateTime(texts, delivery.created_at)],
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
${attempts.length === 0 ? html`<p>${text.noAttempt}</p>` : renderAttempts(attempts, seesPaths)}
${!seesPaths && attempts.length > 0 && html`<p class="quiet">${text.noExcerpts}</p>`}</section>
${renderPayload(payload, url)}`,
  };
}

function renderPayload(payload: string, url: string): Html {
  return html`<section aria-labelledby="payload"><h2 id="payload">${text.payload}</h2>
<pre tabindex="0"><code>${JSON.stringify(JSON.parse(payload), null, 2)}</code></pre>
<p class="quiet">${text.payloadText}</p>
<p><a href="${url}/payload.json" download>${text.download}</a></p></section>`;
}
