import { DELIVERY_STATUSES } from '#schemas/list-events.ts';
import type { Connection } from '#storage/database/connection.ts';
import type {
  DeliveryStatus,
  WebhookAttempt,
  WebhookEndpoint,
} from '#storage/database/webhook-tables.ts';
import { listAttempts } from '#storage/repositories/webhooks/attempts.ts';
import {
  type DeliveryFilters,
  listOwnDeliveries,
  type OwnDelivery,
  type OwnEndpoint,
} from '#storage/repositories/webhooks/own-deliveries.ts';
import { toDate, toInclusiveEnd } from '#time/date-bound.ts';
import { breakable, type Html, html } from '../../../pages/html.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { renderDownload } from '../../kit/export-days.ts';
import { renderChoice, renderDayFields } from '../../kit/filters.ts';
import type { FormFault } from '../../kit/form.ts';
import { count, exactTime } from '../../kit/format.ts';
import { filtersIn, type ReadRows, readPage, renderList } from '../../kit/list.ts';
import { addressOf } from '../../kit/page-address.ts';
import { renderTable } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { responseOf } from './attempts.ts';
import type { WantedDeliveries } from './forms.ts';

/** Most attempts at a delivery that are read; an attempt of a killed worker is repeated. */
const ATTEMPTS_READ = 20;
const PAGE_SIZE = 25;

/** A delivery with its last attempt; null before the first one. */
export type ListedDelivery = OwnDelivery & { readonly last: WebhookAttempt | null };

/** Reads deliveries to an endpoint with their last attempts. */
export function deliveriesOf(
  db: Connection,
  endpoint: OwnEndpoint,
  filters: DeliveryFilters,
): ReadRows<ListedDelivery> {
  return async (cursor, limit) => {
    const rows = await listOwnDeliveries(db, endpoint, filters, cursor, limit);
    const attempts = await listAttempts(db, rows, rows.length * ATTEMPTS_READ);
    const last = new Map(attempts.map(attempt => [attempt.delivery_id, attempt]));
    return rows.map(row => ({ ...row, last: last.get(row.id) ?? null }));
  };
}

/**
 * Deliveries of an endpoint with their filters.
 * @param url Of the endpoint's page, with the base path.
 * @param fault Why the days cannot filter them: then they do not.
 */
export async function renderDeliveries(
  words: PanelTexts,
  { clock, reports }: PanelDependencies,
  { id: endpointId, merchant_id: merchantId }: WebhookEndpoint,
  url: string,
  wanted: WantedDeliveries,
  fault: FormFault | null,
): Promise<Html> {
  const { outcome, outcomes, none, noMatch } = words.webhooks.deliveries;
  const { status, from, to, ...place } = fault === null ? wanted : {};
  const filters = { status, createdFrom: toDate(from), createdTo: toInclusiveEnd(to) };
  const statuses = DELIVERY_STATUSES.map(each => [each, outcomes[each]] as const);
  const file = addressOf(`${url}/deliveries.csv`, filtersIn(wanted));
  const read = deliveriesOf(reports, { merchantId, endpointId }, filters);
  return renderList(words, {
    url,
    query: wanted,
    filters: [
      renderChoice(words, 'status', outcome, statuses, wanted.status),
      renderDayFields(words, wanted, fault),
    ],
    page: await readPage(place, PAGE_SIZE, read),
    render: rows => renderRows(words, url, rows),
    none,
    noMatch,
    download: renderDownload(words, file, wanted, new Date(clock())),
  });
}

function renderRows(words: PanelTexts, url: string, rows: readonly ListedDelivery[]): Html {
  const { title, columns } = words.webhooks.deliveries;
  return renderTable<ListedDelivery>(
    title,
    [
      {
        title: columns.time,
        cell: ({ id, created_at: at }) =>
          html`<a href="${url}/deliveries/${id}">${exactTime(words, at)}</a>`,
      },
      {
        title: columns.outcome,
        cell: ({ status, last }) =>
          html`${renderOutcome(words, status)}${last !== null && ` ${responseOf(words, last)}`}`,
      },
      {
        title: columns.event,
        secondary: true,
        cell: delivery => html`<code>${breakable(delivery.event_type)}</code>`,
      },
      {
        title: columns.attempts,
        number: true,
        secondary: true,
        cell: ({ attempts }) => count(words, attempts),
      },
    ],
    rows,
  );
}

/** The outcome of a delivery in a word. */
export function renderOutcome({ webhooks }: PanelTexts, status: DeliveryStatus): Html {
  const look = status === 'succeeded' ? ' good' : status === 'failed' ? ' bad' : '';
  return html`<span class="tag${look}">${webhooks.deliveries.outcomes[status]}</span>`;
}
