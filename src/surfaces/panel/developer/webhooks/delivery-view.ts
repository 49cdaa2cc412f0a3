import type { FastifyRequest } from 'fastify';
import { isAllowed, isChangeAllowed } from '#accounts/access/permissions.ts';
import { eventEnvelope } from '#payments/webhooks/send-event.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import { listAttempts } from '#storage/repositories/webhooks/attempts.ts';
import type { DeliveredEvent } from '#storage/repositories/webhooks/own-deliveries.ts';
import { type Html, html } from '../../../pages/html.ts';
import { membershipOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, renderButton } from '../../kit/form.ts';
import { exactTime } from '../../kit/format.ts';
import { ownUrl } from '../../kit/navigation.ts';
import { renderFacts } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { renderAttempts } from './attempts.ts';
import { renderOutcome } from './delivery-list.ts';
import { WEBHOOKS } from './endpoint.ts';
import { shownUrl } from './list.ts';

/** How often the page of a pending delivery looks for news, in seconds. */
const REFRESH_SECONDS = 5;

/** Most attempts on a page: ten are made, plus repeats of those that a killed worker left. */
const ATTEMPTS_SHOWN = 100;

/** A delivery with the endpoint that it is for. */
export interface EndpointDelivery {
  readonly endpoint: WebhookEndpoint;
  readonly delivery: DeliveredEvent;
}

export async function deliveryPage(
  request: FastifyRequest,
  deps: PanelDependencies,
  { endpoint, delivery }: EndpointDelivery,
  fault: FormFault | null,
): Promise<PanelPage> {
  const words = texts(request);
  const { delivery: text, redelivery } = words.webhooks;
  const { facts: names } = text;
  const membership = membershipOf(request);
  const seesPaths = isAllowed(membership.role, 'webhooks.manage');
  const attempts = await listAttempts(deps.reports, [delivery], ATTEMPTS_SHOWN);
  const { id, status, payment_id: paymentId } = delivery;
  const endpointUrl = ownUrl(request, `${WEBHOOKS}/${endpoint.id}`);
  const paymentsUrl = ownUrl(request, '/payments');
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
  [names.repeatedAs, other(delivery.redelivered_as)],
  [names.id, html`<code>${id}</code>`],
])}
${
  isChangeAllowed(membership, 'webhooks.redeliver') &&
  endpoint.disabled_at === null &&
  html`<p>${isPending ? redelivery.instead : redelivery.oneText}</p>
${renderButton(`${url}/redeliver`, redelivery.one)}`
}
<section aria-labelledby="attempts"><h2 id="attempts">${text.attempts}</h2>
${attempts.length === 0 ? html`<p>${text.noAttempt}</p>` : renderAttempts(words, attempts, seesPaths)}
${!seesPaths && attempts.length > 0 && html`<p class="quiet">${text.noExcerpts}</p>`}</section>
${renderPayload(words, delivery, url)}`,
  };
}

function renderPayload(
  { webhooks: { delivery: text } }: PanelTexts,
  delivery: DeliveredEvent,
  url: string,
): Html {
  const payload = JSON.stringify(JSON.parse(payloadOf(delivery)), null, 2);
  return html`<section aria-labelledby="payload"><h2 id="payload">${text.payload}</h2>
<pre tabindex="0"><code>${payload}</code></pre>
<p class="quiet">${text.payloadText}</p>
<p><a href="${url}/payload.json" download>${text.download}</a></p></section>`;
}

/** What an endpoint is sent. */
export function payloadOf(delivery: DeliveredEvent): string {
  const {
    event_id: id,
    event_type: type,
    event_created_at: createdAt,
    event_data: data,
  } = delivery;
  return eventEnvelope({ id, type, createdAt, data });
}
