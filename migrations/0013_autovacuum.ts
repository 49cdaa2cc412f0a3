import { type Kysely, sql } from 'kysely';

/**
 * When the tables that grow with the payments are vacuumed and analysed. PostgreSQL waits for a fifth
 * of a table to be dead and a tenth to have changed, which at five million payments is a million
 * rows and half a million; the shares here keep the work that is put off the same size for longer.
 * Setting them stops neither reads nor writes.
 *
 * None sets a fillfactor, for hardly an update could use the room. A payment, a reservation or a
 * deposit changes what an index holds (status, expiry, address, hash, `released_at`, `state`), so
 * its new version needs new index entries wherever it lies; keys and nonces are inserted and deleted
 * only. Claiming a delivery changes no index, but room kept free for that is filled by the ends of
 * attempts, which do: tried with full pages, nine in ten claims of a burst stayed on their page by
 * what is pruned away, and with a tenth kept free all, for a table up to twice as large.
 */
const SETTINGS = {
  // Each row leaves two or three dead versions. A vacuum that finds many reads every index of the
  // table, so not too often: a twentieth of five million payments are those of a hundred thousand.
  // Statistics cost the same at any size, and plans depend on how few payments are pending.
  payments: { vacuum: 0.05, insert: 0.05, analyze: 0.02 },
  reservations: { vacuum: 0.05, insert: 0.05, analyze: 0.02 },
  deposits: { vacuum: 0.05, insert: 0.05, analyze: 0.02 },
  webhook_deliveries: { vacuum: 0.05, insert: 0.05, analyze: 0.02 },
  // What expires is looked for at the old end of an index, where the dead entries are. A fiftieth is
  // half an hour's of the keys, which are kept for a day, and 12 seconds' of the nonces.
  idempotency_keys: { vacuum: 0.02, insert: 0.05, analyze: 0.05 },
  nonces: { vacuum: 0.02, insert: 0.05, analyze: 0.05 },
  // What is only added to has no dead rows: a vacuum reads the new pages alone. It freezes them then
  // and there; otherwise the whole table would be read and written again, at once, much later.
  events: { insert: 0.02, analyze: 0.05, freezeAtOnce: true },
  payment_transitions: { insert: 0.02, analyze: 0.05, freezeAtOnce: true },
  webhook_attempts: { insert: 0.02, analyze: 0.05, freezeAtOnce: true },
} as const satisfies Record<string, Settings>;

/** Shares of the table. */
interface Settings {
  /** Dead rows that are vacuumed away. */
  readonly vacuum?: number;
  /** Inserted rows after which a vacuum marks and freezes them. */
  readonly insert: number;
  /** Changed rows after which the planner's statistics are taken anew. */
  readonly analyze: number;
  readonly freezeAtOnce?: true;
}

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, settings] of Object.entries<Settings>(SETTINGS)) {
    const { vacuum, insert, analyze, freezeAtOnce } = settings;
    const parameters = [
      ...(vacuum === undefined ? [] : [`autovacuum_vacuum_scale_factor = ${vacuum}`]),
      `autovacuum_vacuum_insert_scale_factor = ${insert}`,
      `autovacuum_analyze_scale_factor = ${analyze}`,
      ...(freezeAtOnce === undefined ? [] : ['autovacuum_freeze_min_age = 0']),
    ];
    await sql`alter table ${sql.table(table)} set (${sql.raw(parameters.join(', '))})`.execute(db);
  }
}
