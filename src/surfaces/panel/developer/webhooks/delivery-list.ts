import { DELIVERY_STATUSES } from '#schemas/list-events.ts';
import type { DeliveryStatus, WebhookAttempt } from '#storage/database/webhook-tables.ts';
import type { DeliveryWithEventType } from '#storage/repositories/webhooks/deliveries.ts';
import { breakable, type Html, html } from '../../../pages/html.ts';
import { renderChoice, renderDayFields, renderFilters, renderNoMatch } from '../../kit/filters.ts';
import type { FormFault } from '../../kit/form.ts';
import { count, dateTime } from '../../kit/format.ts';
import { addressOf } from '../../kit/page-address.ts';
import { isFirstPage, renderNoneFurther, renderPaging, renderTable } from '../../kit/table.ts';
import { texts } from '../../texts/index.ts';
import type { WantedDeliveries } from './forms.ts';

const text = texts.webhooks.deliveries;

export interface DeliveryPage {
  readonly rows: readonly DeliveryWithEventType[];
  /** The last attempt by ID of the delivery. */
  readonly last: ReadonlyMap<string, WebhookAttempt>;
  readonly hasNewer: boolean;
  readonly hasOlder: boolean;
}

/**
 * Deliveries of an endpoint with their filters.
 * @param url Of the endpoint's page, with the base path.
 */
export function renderDeliveries(
  url: string,
  wanted: WantedDeliveries,
  page: DeliveryPage,
  fault: FormFault | null,
): Html {
  const { status, from, to } = wanted;
  const isFiltered = [status, from, to].some(each => each !== undefined);
  const renderEmpty = () => {
    if (!isFirstPage(wanted)) return renderNoneFurther(texts, addressOf(url, { status, from, to }));
    return isFiltered ? renderNoMatch(texts, text.noMatch, url) : html`<p>${text.none}</p>`;
  };
  const outcomes = DELIVERY_STATUSES.map(each => [each, text.outcomes[each]] as const);
  const filters = renderFilters(texts, url, [
    renderChoice(texts, 'status', text.outcome, outcomes, status),
    renderDayFields(texts, wanted, fault),
  ]);
  return html`${(page.rows.length > 0 || isFiltered) && filters}
${page.rows.length > 0 ? renderRows(url, page) : renderEmpty()}
${renderPages(url, wanted, page)}`;
}

function renderRows(url: string, { rows, last }: DeliveryPage): Html {
  return renderTable<DeliveryWithEventType>(
    text.title,
    [
      {
        title: text.columns.time,
        cell: ({ id, created_at: at }) =>
          html`<a href="${url}/deliveries/${id}">${dateTime(texts, at)}</a>`,
      },
      {
        title: text.columns.event,
        cell: delivery => html`<code>${breakable(delivery.event_type)}</code>`,
      },
      { title: text.columns.outcome, cell: ({ status }) => renderOutcome(status) },
      {
        title: text.columns.attempts,
        number: true,
        secondary: true,
        cell: ({ attempts }) => count(texts, attempts),
      },
      {
        title: text.columns.last,
        secondary: true,
        cell: ({ id }) => responseOf(last.get(id)),
      },
    ],
    rows,
  );
}

/** The outcome of a delivery in a word. */
export function renderOutcome(status: DeliveryStatus): Html {
  const look = status === 'succeeded' ? ' good' : status === 'failed' ? ' bad' : '';
  return html`<span class="tag${look}">${text.outcomes[status]}</span>`;
}

function responseOf(attempt: WebhookAttempt | undefined): string | null {
  if (attempt === undefined) return null;
  return attempt.status_code === null ? text.noResponse : text.httpStatus(attempt.status_code);
}

function renderPages(
  url: string,
  { status, from, to }: WantedDeliveries,
  { rows, hasNewer, hasOlder }: DeliveryPage,
): Html | null {
  const [first, last] = [rows[0], rows.at(-1)];
  const place = (cursor: Pick<WantedDeliveries, 'after' | 'before'>) =>
    addressOf(url, { status, from, to, ...cursor });
  return renderPaging(
    texts,
    hasNewer && first !== undefined ? place({ before: first.id }) : null,
    hasOlder && last !== undefined ? place({ after: last.id }) : null,
  );
}
