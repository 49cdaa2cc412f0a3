import type { CsvColumn } from '#payments/csv.ts';
import type { RequestRow } from '#storage/repositories/keys/request-log.ts';

/** What a file of requests holds: times in ISO 8601 and UTC. */
export const REQUEST_COLUMNS: readonly CsvColumn<RequestRow>[] = [
  { title: 'id', cell: ({ id }) => id },
  { title: 'time', cell: ({ at }) => at.toISOString() },
  { title: 'keyId', cell: row => row.key_id },
  { title: 'keyName', cell: row => row.key_name },
  { title: 'method', cell: ({ method }) => method },
  { title: 'target', cell: ({ target }) => target },
  { title: 'status', cell: ({ status }) => status },
  { title: 'errorCode', cell: row => row.error_code },
  { title: 'param', cell: ({ param }) => param },
  { title: 'milliseconds', cell: ({ milliseconds }) => milliseconds },
  { title: 'address', cell: ({ address }) => address },
  { title: 'replayed', cell: ({ replayed }) => String(replayed) },
  { title: 'paymentId', cell: row => row.payment_id },
  // Those of a minute whose signature did not hold are one row.
  { title: 'verified', cell: ({ verified }) => String(verified) },
  { title: 'requests', cell: ({ requests }) => requests },
];
