import type { CsvColumn } from '#payments/csv.ts';
import type { ListedDelivery } from './delivery-list.ts';

const timeOf = (at: Date | null | undefined) => at?.toISOString() ?? null;

/** What a file of deliveries holds: times in ISO 8601 and UTC. It has nothing of the endpoint's URL. */
export const DELIVERY_COLUMNS: readonly CsvColumn<ListedDelivery>[] = [
  { title: 'id', cell: ({ id }) => id },
  { title: 'createdAt', cell: row => timeOf(row.created_at) },
  { title: 'eventId', cell: row => row.event_id },
  { title: 'eventType', cell: row => row.event_type },
  { title: 'paymentId', cell: row => row.payment_id },
  { title: 'status', cell: ({ status }) => status },
  { title: 'attempts', cell: ({ attempts }) => attempts },
  { title: 'lastAttemptAt', cell: ({ last }) => timeOf(last?.at) },
  { title: 'lastStatusCode', cell: ({ last }) => last?.status_code ?? null },
  { title: 'lastError', cell: ({ last }) => last?.error ?? null },
  { title: 'lastMilliseconds', cell: ({ last }) => last?.duration_ms ?? null },
  { title: 'nextAttemptAt', cell: row => timeOf(row.next_attempt_at) },
  { title: 'finishedAt', cell: row => timeOf(row.finished_at) },
  { title: 'redeliveryOf', cell: row => row.redelivery_of },
];
