import { type Kysely, sql } from 'kysely';

/**
 * Where payments are simulated, the clock of one is advanced by moving its end back. The time to pay that the older
 * contract promises stays fixed for everything else: a transaction has to say that it advances a clock, and then the
 * end comes earlier, never later and never before the creation.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function guard_fixed_expiry() returns trigger language plpgsql as $$
    begin
      if current_setting('eps.advances_clock', true) = 'on'
         and new.expiry_fixed = old.expiry_fixed
         and new.expires_at between old.created_at and old.expires_at then
        return new;
      end if;
      raise exception 'the time to pay of payment % is fixed', old.id
        using errcode = 'integrity_constraint_violation';
    end $$`.execute(db);
}
