import { type Kysely, sql } from 'kysely';

/**
 * The trace of the request that caused an event, as the headers of W3C Trace Context that its
 * deliveries carry on. The lengths are those the standard asks to be passed on.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table events
      add column traceparent text check (length(traceparent) = 55),
      add column tracestate text check (length(tracestate) <= 512)`.execute(db);
}
