import { type Kysely, sql } from 'kysely';

/**
 * The trace of the request that caused an event, as the headers of W3C Trace Context that its
 * deliveries carry on. The lengths are those the standard asks to be passed on; rows of before have
 * neither, so that the table need not be read for it while it is locked.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table events
      add column traceparent text,
      add column tracestate text,
      add constraint events_traceparent_check
        check (length(traceparent) = 55) not valid,
      add constraint events_tracestate_check
        check (tracestate is null or (length(tracestate) <= 512 and traceparent is not null)) not valid`.execute(
    db,
  );
}
