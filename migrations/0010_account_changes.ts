import { type Kysely, sql } from 'kysely';

/** Tables that the service decides from on every request, and the column that says whose a row is. */
const TABLES = [
  ['api_keys', 'id'],
  ['merchants', 'id'],
  ['partners', 'id'],
  ['partner_members', 'id'],
  ['branches', 'merchant_id'],
  ['deposit_addresses', 'branch_id'],
  ['redirect_domains', 'merchant_id'],
  // A network concerns everybody.
  ['networks', ''],
] as const;

/**
 * Tells every replica of each change to accounts and networks, whoever makes it and by whatever
 * means, so that a replica may remember what it has read. The payload is the ID of what changed, or
 * `*`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function tell_account_change() returns trigger language plpgsql as $$
    begin
      if tg_op = 'TRUNCATE' or tg_argv[0] = '' then
        perform pg_notify('account_changes', '*');
        return null;
      end if;
      if tg_op <> 'INSERT' then
        perform pg_notify('account_changes', to_jsonb(old) ->> tg_argv[0]);
      end if;
      if tg_op <> 'DELETE' then
        perform pg_notify('account_changes', to_jsonb(new) ->> tg_argv[0]);
      end if;
      return null;
    end $$`.execute(db);
  for (const [table, column] of TABLES) {
    await sql`
      create trigger tell_account_change after insert or update or delete on ${sql.table(table)}
      for each row execute function tell_account_change(${sql.lit(column)})`.execute(db);
    await sql`
      create trigger tell_account_truncation after truncate on ${sql.table(table)}
      for each statement execute function tell_account_change(${sql.lit(column)})`.execute(db);
  }
}
