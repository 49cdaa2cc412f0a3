import { type Kysely, sql } from 'kysely';

/**
 * What the panel's pages on webhooks read: deliveries of an endpoint by outcome, newest first, and since when an
 * endpoint has its secret. Rotations of before are in the audit log.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index webhook_deliveries_outcome
    on webhook_deliveries (endpoint_id, status, created_at desc, id desc)`.execute(db);
  await sql`alter table webhook_endpoints add column rotated_at timestamptz(3)`.execute(db);
  await sql`
    update webhook_endpoints set rotated_at = (
      select max(at) from audit_log
      where object_id = webhook_endpoints.id::text and action = 'webhook.rotate')`.execute(db);
}
