import { PUT_ASIDE_KEPT_MS } from '#accounts/people/attention-put-aside.ts';
import { HALF_MS, IDLE_MS, LIFETIME_MS } from '#accounts/people/panel-sessions.ts';
import { DEVICE_KNOWN_MS } from '#accounts/people/throttle.ts';
import { REQUESTS_PER_ACCOUNT_MAXIMUM } from '#accounts/requests/stored-fields.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import { wipePreviousSecrets } from '#storage/repositories/keys/api-keys.ts';
import { deleteExcessRequests } from '#storage/repositories/keys/excess-requests.ts';
import { deleteBefore } from '#storage/repositories/old-rows.ts';
import { deleteEndedSessions } from '#storage/repositories/people/sessions.ts';
import { wipePreviousWebhookSecrets } from '#storage/repositories/webhooks/endpoints.ts';
import type { Clock } from '#time/clock.ts';
import { workOff } from './batch-loop.ts';
import type { Loop } from './loop.ts';

/** Rows per statement: few enough that locks are short. */
const BATCH = 1_000;
const INTERVAL_MS = 30_000;

const DAY_MS = 24 * 60 * 60_000;
/** How long failed attempts to sign in with an e-mail are kept after the last one, in milliseconds. */
const COUNTERS_KEPT_MS = 30 * DAY_MS;

/**
 * How long mails are kept, in milliseconds: longer than any occasion of which a person is notified once, such
 * as a key that is about to expire.
 */
const MAILS_KEPT_MS = 30 * DAY_MS;

type Removal = (db: Connection, now: Date, limit: number) => Promise<number>;

/** Removes rows that are older than a period. */
function older(table: Parameters<typeof deleteBefore>[1], milliseconds: number): Removal {
  return (db, now, limit) => deleteBefore(db, table, new Date(now.getTime() - milliseconds), limit);
}

const REMOVALS: readonly Removal[] = [
  older('nonces', 0),
  older('idempotency_keys', 0),
  wipePreviousSecrets,
  wipePreviousWebhookSecrets,
  (db, now, limit) =>
    deleteEndedSessions(
      db,
      {
        seenBefore: new Date(now.getTime() - IDLE_MS),
        createdBefore: new Date(now.getTime() - LIFETIME_MS),
        halfBefore: new Date(now.getTime() - HALF_MS),
      },
      limit,
    ),
  older('panel_links', DAY_MS),
  older('email_links', DAY_MS),
  older('sign_in_counters', COUNTERS_KEPT_MS),
  older('known_devices', DEVICE_KNOWN_MS),
  older('mails', MAILS_KEPT_MS),
  // An older form has lost its session.
  older('panel_intents', DAY_MS),
  older('attention_put_aside', PUT_ASIDE_KEPT_MS),
  (db, _now, limit) => deleteExcessRequests(db, REQUESTS_PER_ACCOUNT_MAXIMUM, limit),
];

/**
 * Deletes expired nonces, stored responses, sessions, invitations, mails and counters of attempts to sign in,
 * what was put aside long ago, and the excess of the request log; wipes rotated secrets after their grace period.
 */
export function cleanUpLoop(db: Database, clock: Clock): Loop {
  return {
    name: 'clean-up',
    intervalMs: INTERVAL_MS,
    async run(signal) {
      const failures: unknown[] = [];
      for (const remove of REMOVALS) {
        // A failed removal must not keep the others from running.
        const batch = () => remove(db, new Date(clock()), BATCH);
        await workOff(BATCH, signal, batch).catch(error => void failures.push(error));
      }
      if (failures.length > 0) {
        throw new AggregateError(failures, `${failures.length} kinds of rows were not removed`);
      }
    },
  };
}
