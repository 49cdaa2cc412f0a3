import { type Kysely, sql } from 'kysely';

/**
 * Lets a worker find the endpoints with something to send, and what is due to each, without reading
 * the backlog of one that cannot take more now.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index webhook_deliveries_waiting on webhook_deliveries (endpoint_id, next_attempt_at)
    where status = 'pending'`.execute(db);
}
