import { setAddress } from '#accounts/deposit-addresses.ts';
import { listPayments } from '#payments/list-payments.ts';
import { listEvents } from '#payments/webhooks/list-events.ts';
import type { Database } from '#storage/database/connection.ts';
import { connectPipeline } from '#storage/database/pipeline.ts';
import { findMerchantPayment } from '#storage/repositories/payments/merchant-payments.ts';
import { ADDRESSES } from '../test/helpers/accounts.ts';
import { watchNetworks } from '../test/helpers/watch-networks.ts';
import { backupFindings } from './backup.ts';
import { createOnce } from './creation.ts';
import type { BenchDatabase } from './databases.ts';
import { fillEvents } from './event-history.ts';
import { buildHistories, compareSizes, type History } from './histories.ts';
import { type Finding, VoidRun } from './measure.ts';
import { layMonths, monthFindings } from './months.ts';
import { measurePages } from './pages.ts';
import { fillHistory, type PartnerHistory } from './partner-history.ts';
import { partnerFigures, partnerSearches } from './reports.ts';
import { requireArchiver } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { FEW_PAYMENTS } from './settings.ts';
import { workerLoops } from './worker-loops.ts';
import { growFromEmpty } from './young-database.ts';

/** A history with what a merchant of the partner reads of it. */
interface Known extends PartnerHistory {
  /** IDs of the merchant's payments, in the order of a list. */
  readonly ids: readonly string[];
  /** IDs of its events, which are kept for some months. */
  readonly eventIds: readonly string[];
  /** Connections with the settings that the service reads with. */
  readonly reads: Database;
}

type Side = History<Known>;
type Call = (side: Side) => Promise<unknown>;

/** Share of the merchant's payments before the deep page. */
const DEEP = 0.9;
const PAGE = 10;
/** Rows of the list by a rare status, of which the short history has few. */
const RARE_PAGE = 3;
/** The most that a call may take with the long history, as a multiple of the short one. */
const ALLOWED = 1.2;

const list =
  (
    rows: number,
    query: (side: Side) => Omit<Parameters<typeof listPayments>[2], 'limit'>,
    filters: (side: Side) => Parameters<typeof listPayments>[3] = () => ({}),
  ): Call =>
  async side => {
    const found = await listPayments(
      side.reads,
      side.merchantId,
      { limit: rows, ...query(side) },
      filters(side),
    );
    if (found.data.length === 0) throw new VoidRun('a list is empty');
  };

const listEventsOf =
  (query: (side: Side) => Parameters<typeof listEvents>[2]): Call =>
  async side => {
    const wanted = { limit: PAGE, ...query(side) };
    const page = await listEvents(side.reads, side.merchantId, wanted, new Date(0));
    if (!page.startsWith('{"object":"list","data":[{')) throw new VoidRun('a list is empty');
  };

const deepIn = (ids: readonly string[]) => ids[Math.floor(ids.length * DEEP)] ?? '';

const READS: readonly (readonly [subject: string, Call])[] = [
  [
    'get by ID',
    async side => {
      const id = side.ids[Math.floor(Math.random() * side.ids.length)] ?? '';
      const payment = await findMerchantPayment(side.reads, side.merchantId, id);
      if (payment?.id !== id) throw new VoidRun('a payment was not found');
    },
  ],
  ['first page', list(PAGE, () => ({}))],
  ['deep page behind a cursor', list(PAGE, ({ ids }) => ({ startingAfter: deepIn(ids) }))],
  [
    'list by rare status',
    list(
      RARE_PAGE,
      () => ({}),
      () => ({ status: 'cancelled' }),
    ),
  ],
  [
    'list by customer reference',
    list(
      PAGE,
      () => ({}),
      ({ sample }) => ({ customerReferenceId: sample.reference }),
    ),
  ],
  ['events', listEventsOf(() => ({}))],
  // Events have the IDs of their payments.
  ['events behind a cursor', listEventsOf(({ eventIds }) => ({ startingAfter: deepIn(eventIds) }))],
  ['events, oldest first', listEventsOf(() => ({ order: 'oldest' }))],
  ['events of a payment', listEventsOf(({ eventIds }) => ({ paymentId: deepIn(eventIds) }))],
  ['events not delivered', listEventsOf(() => ({ delivered: false }))],
  [
    'events of a rare type, of a time',
    listEventsOf(() => ({
      type: 'payment_prompt.cancelled',
      startDate: '2020-01-01',
      limit: RARE_PAGE,
    })),
  ],
];

/** Compares requests with a long history with the same requests with a short one. */
export async function bench(resources: Resources): Promise<Finding[]> {
  requireArchiver();
  const sides = await buildHistories(resources, (database, payments) =>
    fill(resources, database, payments),
  );
  const [, long] = sides;
  const findings: Finding[] = [];
  for (const [subject, call] of READS) {
    findings.push(await compareSizes(`growth: ${subject}`, sides, call, ALLOWED));
  }
  findings.push(...(await partnerFigures(sides)), ...(await partnerSearches(long)));
  findings.push(...(await measurePages(resources, sides)));
  // Last, since creates leave the rollups behind until a worker folds them.
  findings.push(await compareSizes('growth: create', sides, createOnce, ALLOWED));
  findings.push(...(await workerLoops(resources, sides, ALLOWED)));
  findings.push(...(await monthFindings(resources, long)));
  findings.push(await growFromEmpty(resources, ALLOWED));
  findings.push(...(await backupFindings(resources, long)));
  return findings;
}

async function fill(
  { defer }: Resources,
  { db, url }: BenchDatabase,
  payments: number,
): Promise<Known> {
  await watchNetworks(db);
  // The short history has no partitions, so that the comparison shows what they cost.
  if (payments > FEW_PAYMENTS) await layMonths(db);
  const history = await fillHistory(db, payments);
  const { merchantId } = history;
  await fillEvents(db, merchantId);
  const operator = { db, clock: Date.now, actor: 'bench' };
  await setAddress(operator, { merchantId }, 'btc', ADDRESSES.btc);
  await setAddress(operator, { merchantId }, 'eth', ADDRESSES.eth);
  const listIds = async (table: 'payments' | 'events') => {
    const rows = await db
      .selectFrom(table)
      .select('id')
      .where('merchant_id', '=', merchantId)
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .execute();
    return rows.map(({ id }) => id);
  };
  const reads = connectPipeline({
    url,
    connections: 1,
    applicationName: 'bench-reads',
    onError: () => undefined,
  });
  defer(() => reads.destroy());
  return { ...history, ids: await listIds('payments'), eventIds: await listIds('events'), reads };
}
