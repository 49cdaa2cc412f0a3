import { readConfig } from '#config/config.ts';
import { HOLD_MS, OVERLOAD_RETRY_SECONDS } from '#http/admission.ts';
import { PATIENCE } from '#http/connections.ts';
import { DRAIN_MS } from '#http/graceful-close.ts';
import { SERVER_LIMITS } from '#http/server-options.ts';
import { UNREAD_BYTES_MAX } from '#http/unread-responses.ts';
import { sessionsAtOnce } from '#payments/processors/guard-processor.ts';
import { NONCE_BUCKETS } from '#signing/nonce-buckets.ts';
import { REPLICA_LAG_SECONDS } from '#signing/redis-info.ts';
import { SILENCE_MS } from '#storage/database/durability.ts';
import { MONTHS_AHEAD } from '#storage/database/partition-tables.ts';
import { SHARED_READ_CONNECTIONS } from '#storage/database/pipeline.ts';
import { POOLED_SETTINGS } from '#storage/database/session.ts';
import {
  CONNECT_TIMEOUT_MS,
  MARK_WAIT_MS,
  REPORT_STATEMENT_TIMEOUT_MS,
  RESPONSE_MARGIN_MS,
  STATEMENT_TIMEOUT_MS,
} from '#storage/database/time-limits.ts';
import { ASKED_ANEW_MINUTES } from '#storage/repositories/webhooks/withheld.ts';
import { CLOCK_MAXIMUM_SECONDS, CLOCK_REPORTED_SECONDS } from '#time/database-clock.ts';
import { alertTable, redisTable } from '../fact-tables.ts';
import { formatDuration } from '../format-duration.ts';
import type { Facts } from './facts.ts';

/** Pool sizes with the default settings. */
const { databasePoolSize, reportsPoolSize } = readConfig({});
/** Connections of a replica that bypass a pooler (DATABASE_DIRECT_URL); the last one listens for changes. */
const DIRECT_CONNECTIONS = reportsPoolSize + SHARED_READ_CONNECTIONS + 1;

/** What guides tell of limits and outages of the service itself. */
export const OPERATING_FACTS: Facts = {
  'redis.forms': redisTable(),
  'redis.buckets': NONCE_BUCKETS.length,
  'redis.lag': REPLICA_LAG_SECONDS,
  'partitions.ahead': `${MONTHS_AHEAD} months`,
  'overload.retry-after': OVERLOAD_RETRY_SECONDS,
  'overload.hold': `${HOLD_MS} milliseconds`,
  'slow.stall': formatDuration(PATIENCE.stallMs / 1000),
  'slow.headers': formatDuration(SERVER_LIMITS.headersMs / 1000),
  'slow.request': formatDuration(SERVER_LIMITS.requestMs / 1000),
  'slow.keep-alive': formatDuration(SERVER_LIMITS.keepAliveMs / 1000),
  'slow.connections': SERVER_LIMITS.connections,
  'slow.unread': UNREAD_BYTES_MAX / 2 ** 20,
  'pooler.query': Object.entries(POOLED_SETTINGS)
    .map(([name, value]) => `set ${name} = ${value}`)
    .join('; '),
  'pooler.wait': Math.floor(CONNECT_TIMEOUT_MS / 1000),
  'processor.sessions': sessionsAtOnce(databasePoolSize),
  'connections.worker': databasePoolSize,
  'connections.replica': databasePoolSize + DIRECT_CONNECTIONS,
  'connections.direct': DIRECT_CONNECTIONS,
  'durability.wait': formatDuration((STATEMENT_TIMEOUT_MS + RESPONSE_MARGIN_MS) / 1000),
  'durability.silence': formatDuration(SILENCE_MS / 1000),
  'restore.unreadable': formatDuration(MARK_WAIT_MS / 1000),
  'restore.asked-anew': formatDuration(ASKED_ANEW_MINUTES * 60),
  'shutdown.drain': formatDuration(DRAIN_MS / 1000),
  'report.statement-max': formatDuration(REPORT_STATEMENT_TIMEOUT_MS / 1000),
  'alerts.rules': alertTable(),
  'clock.reported': CLOCK_REPORTED_SECONDS,
  'clock.max': CLOCK_MAXIMUM_SECONDS,
};
