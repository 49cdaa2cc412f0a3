import { sql } from 'kysely';
import { verifyPartner } from '#reports/partners/verify-rollups.ts';
import { connect } from '#storage/database/connection.ts';
import { claimDeliveries, findDueEndpoints } from '#storage/repositories/webhooks/claims.ts';
import { monthsOf } from '#storage/repositories/webhooks/event-months.ts';
import { cleanUpLoop } from '#worker/clean-up.ts';
import { keepMonthsLoop } from '#worker/keep-months.ts';
import type { Loop } from '#worker/loop.ts';
import { findNoticesLoop, SMALL_LOOPS } from '#worker/small-loops.ts';
import { createOnce } from './creation.ts';
import { compareSizes, type History } from './histories.ts';
import { type Finding, median, timed, VoidRun } from './measure.ts';
import type { PartnerHistory } from './partner-history.ts';
import type { Resources } from './resources.ts';
import { POOL_SIZE } from './settings.ts';

/** What the loops of a worker cost with a long history, while there is nothing to do and at a peak. */

type Side = History<PartnerHistory>;
type Run = (side: Side) => Promise<unknown>;

/** Days for which events are kept by default: no month is dropped here. */
const RETENTION_DAYS = 90;
/** Payments that are created for each round of a peak and expire in it, each with a delivery. */
const WORK = 200;
/** Stored responses that have expired. */
const EXPIRED = 2_000;
/** Deliveries of an endpoint that a worker claims at once. */
const CLAIMED = 50;
/** After the first, which only warms caches. */
const ROUNDS = 7;
const DAY_MS = 24 * 60 * 60_000;

const QUIET = { info: () => undefined, warn: () => undefined };
/** What a loop takes beside the database of a side. */
const BESIDE = { clock: Date.now, logger: QUIET };
const running = new AbortController().signal;
/** When everything that was created now has expired. */
const tomorrow = () => Date.now() + DAY_MS;

const once =
  (loop: (side: Side) => Loop): Run =>
  side =>
    loop(side).run(running, () => undefined);

const claim: Run = async ({ db }) => {
  const now = new Date();
  const [endpoint] = await findDueEndpoints(db, now, CLAIMED);
  if (endpoint === undefined) return 0;
  const { endpointId, due, events } = endpoint;
  // The claims expire at once, so that they can be made again.
  const times = { now, until: now };
  const claimed = await claimDeliveries(db, [{ endpointId, count: due }], times, monthsOf(events));
  if (claimed.length !== CLAIMED) throw new VoidRun(`${claimed.length} deliveries were claimed`);
};

const IDLE: readonly (readonly [subject: string, Run])[] = [
  ['expiry', once(({ db }) => SMALL_LOOPS.expirePayments({ db, ...BESIDE }))],
  ['lapsed quotes', once(({ db }) => SMALL_LOOPS.lapseQuotes({ db, ...BESIDE }))],
  ['cancellations', once(({ db }) => SMALL_LOOPS.cancelDeactivated({ db, ...BESIDE }))],
  ['rollups', once(({ db }) => SMALL_LOOPS.foldPartnerDeltas({ db, ...BESIDE }))],
  ['search for due deliveries', claim],
  ['clean-up', once(({ db }) => cleanUpLoop(db, Date.now))],
  ['months', once(({ db }) => keepMonthsLoop(db, Date.now, RETENTION_DAYS, QUIET))],
  ['notices', once(({ db }) => findNoticesLoop({ db, ...BESIDE }))],
];

/** In an order in which each finds its work. */
const PEAK: readonly (readonly [subject: string, Run])[] = [
  [`${CLAIMED} claims`, claim],
  [
    `${WORK} payments expire`,
    async side => {
      await once(({ db }) => SMALL_LOOPS.expirePayments({ db, clock: tomorrow, logger: QUIET }))(
        side,
      );
      const { rows } = await sql`select from payments where status = 'pending' limit 1`.execute(
        side.db,
      );
      if (rows.length > 0) throw new VoidRun('a payment has not expired');
    },
  ],
  ['their rollups', once(({ db }) => SMALL_LOOPS.foldPartnerDeltas({ db, ...BESIDE }))],
  [`${EXPIRED} responses removed`, once(({ db }) => cleanUpLoop(db, Date.now))],
];

/** Compares runs of the loops with a long history with those with a short one. */
export async function workerLoops(
  { defer }: Resources,
  [few, many]: readonly [Side, Side],
  allowed: number,
): Promise<Finding[]> {
  /** Opens a connection like a worker's. */
  const open = (side: Side): Side => {
    const db = connect({
      url: side.url,
      applicationName: 'bench-worker',
      poolSize: POOL_SIZE,
      plans: 'by-index',
      onIdleError: () => undefined,
    });
    defer(() => db.destroy());
    return { ...side, db };
  };
  const sides = [open(few), open(many)] as const;
  const findings: Finding[] = [];
  // Finishes what the history and earlier measurements left open.
  for (const side of sides) await finish(side);
  for (const [subject, run] of IDLE) {
    findings.push(await compareSizes(`worker, idle: ${subject}`, sides, run, allowed));
  }
  findings.push(...(await peak(sides, allowed)));
  let wrong: unknown;
  const seconds = await timed(async () => {
    [wrong] = await verifyPartner(many.db, many.partnerId);
  });
  if (wrong !== undefined) throw new VoidRun(JSON.stringify(wrong));
  findings.push({
    subject: 'rollups of the partner verified, in seconds',
    measured: `${many.partnerPayments} payments`,
    value: seconds / 1000,
    goal: null,
  });
  return findings;
}

async function peak(sides: readonly [Side, Side], allowed: number): Promise<Finding[]> {
  const durations = PEAK.map(() => sides.map((): number[] => []));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [which, side] of sides.entries()) {
      await prepare(side);
      for (const [step, [, run]] of PEAK.entries()) {
        const took = await timed(() => run(side));
        if (round > 0) durations[step]?.[which]?.push(took);
      }
      await finish(side);
    }
  }
  const [few, many] = sides;
  return PEAK.map(([subject], step) => {
    const [short = Number.NaN, long = Number.NaN] = durations[step]?.map(median) ?? [];
    return {
      subject: `worker, at a peak: ${subject}`,
      measured: `${short.toFixed(1)} ms at ${few.payments}, ${long.toFixed(1)} ms at ${many.payments}`,
      value: long / short,
      goal: { relation: '<=' as const, value: allowed },
    };
  });
}

/** Creates work for the loops. */
async function prepare(side: Side): Promise<void> {
  for (let created = 0; created < WORK; created++) await createOnce(side);
  await sql`
    insert into idempotency_keys
      (account_id, route, key, body_sha256, status, body, created_at, expires_at)
    select ${side.merchantId}, 'bench', gen_random_uuid()::text, '', 201, '', now(), now()
    from generate_series(1, ${EXPIRED}::int)`.execute(side.db);
}

/** Finishes the work that was left. */
async function finish(side: Side): Promise<void> {
  await once(({ db }) => SMALL_LOOPS.expirePayments({ db, clock: tomorrow, logger: QUIET }))(side);
  await once(({ db }) => SMALL_LOOPS.foldPartnerDeltas({ db, ...BESIDE }))(side);
  await sql`
    update webhook_deliveries
    set status = 'succeeded', finished_at = now(), next_attempt_at = null, claimed_until = null
    where status = 'pending'`.execute(side.db);
}
