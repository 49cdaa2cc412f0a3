import { type Kysely, sql } from 'kysely';

/**
 * Functions that make and drop the monthly partitions of what is kept for some months. They run with the rights of
 * the tables' owner, since the service's role may change no table: what they do is bounded by the server's own clock.
 *
 * `mp migrate` makes the tables partitioned after all migrations (src/storage/database/partition-tables.ts), since a table
 * that is in use must not be locked for as long as a transaction with all migrations takes. Until then the functions
 * find no months to continue.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ schema: string }>`select current_schema() as schema`.execute(db);
  // Without the session's own path, a role could put objects of its own before those that are meant. What may not
  // exist is looked for in the schema or the catalogue: a temporary view of its name would run with the owner's rights.
  const bounded = sql`
    security definer set search_path = ${sql.id(rows[0]?.schema ?? 'public')}, pg_temp
    set timezone = 'UTC' set lock_timeout = '200ms'`;

  await sql`
    create function first_id_of(at timestamptz) returns uuid language sql immutable
    -- The lowest UUIDv7 of a millisecond, with which it begins.
    return (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid`.execute(
    db,
  );

  // With the rights of its caller, which is the function below.
  await sql`
    create function make_month_partition(parent text, month timestamptz) returns void
    language plpgsql as $$
    declare
      suffix text := to_char(month, 'YYYYMM');
      name text := parent || '_' || suffix;
      next_month timestamptz := month + interval '1 month';
      settings text;
      holder record;
    begin
      -- When it is vacuumed, as the partitions that there are.
      select ' with (' || array_to_string(reloptions, ', ') || ')' into settings
      from pg_inherits join pg_class on pg_class.oid = inhrelid
      where inhparent = parent::regclass order by relname desc limit 1;
      execute format('create table %I (like %I including all)%s', name, parent, settings);
      if parent = 'webhook_deliveries' then
        -- A delivery is in the month of its event, and so are those that repeat it.
        execute format('alter table %I add primary key (id), '
          'add foreign key (event_id) references %I (id), add foreign key (redelivery_of) references %I (id)',
          name, 'events_' || suffix, name);
      end if;
      if parent in ('events', 'webhook_attempts') then
        execute format('create trigger %I before update or truncate on %I '
          'for each statement execute function refuse_change()', parent || '_append_only', name);
      end if;
      if parent = 'request_log' then
        execute format('alter table %I attach partition %I for values from (%L) to (%L)',
          parent, name, month, next_month);
      else
        execute format('alter table %I attach partition %I for values from (%L) to (%L)',
          parent, name, first_id_of(month), first_id_of(next_month));
      end if;
      -- The service reads and writes through the parent alone.
      for holder in
        select distinct grantee::regrole as role from pg_class, aclexplode(relacl)
        where oid = name::regclass and grantee <> relowner and grantee <> 0
      loop
        execute format('revoke all on %I from %s', name, holder.role);
      end loop;
    end $$`.execute(db);

  await sql`
    create function make_month_partitions(until timestamptz) returns text[]
    language plpgsql ${bounded} as $$
    declare
      parent text;
      month timestamptz;
      made text[] := '{}';
    begin
      perform pg_advisory_xact_lock(hashtextextended('month partitions', 0));
      -- Months of events before those of their deliveries, which refer to them.
      foreach parent in array array['request_log', 'events', 'webhook_deliveries', 'webhook_attempts'] loop
        if not has_table_privilege(session_user, parent, 'INSERT') then
          raise insufficient_privilege using message = 'only who may insert rows may make partitions for them';
        end if;
        -- Those of before now may have been dropped around one that stays.
        select greatest(min(to_timestamp(right(relname, 6), 'YYYYMM')), date_trunc('month', now())) into month
        from pg_inherits join pg_class on pg_class.oid = inhrelid
        where inhparent = parent::regclass and relname ~ '_[0-9]{6}$';
        while month <= least(until, now() + interval '12 months') loop
          if to_regclass(format('%I.%I', current_schema(), parent || '_' || to_char(month, 'YYYYMM'))) is null then
            perform make_month_partition(parent, month);
            made := made || (parent || '_' || to_char(month, 'YYYYMM'));
          end if;
          month := month + interval '1 month';
        end loop;
      end loop;
      return made;
    end $$`.execute(db);

  // One at a time: who locks several tables in an order of its own would wait for those who use them in another one.
  await sql`
    create function drop_month_partition(parents text[], before timestamptz) returns text
    language plpgsql ${bounded} as $$
    declare
      -- What refers to others first.
      known text[] := array['request_log', 'webhook_attempts', 'webhook_deliveries', 'events'];
      parent text;
      part record;
      deliveries regclass;
      waits boolean;
    begin
      if not parents <@ known then raise 'these tables are not partitioned by month'; end if;
      foreach parent in array parents loop
        if not has_table_privilege(session_user, parent, 'DELETE') then
          raise insufficient_privilege using message = 'only who may delete rows may drop partitions of them';
        end if;
      end loop;
      if not pg_try_advisory_xact_lock(hashtextextended('month partitions', 0)) then return null; end if;
      for part in
        with parts as (
          select relname as name, whole, substring(relname from '_(before|[0-9]{6})$') as suffix
          from unnest(parents) as whole join pg_inherits on inhparent = whole::regclass
          join pg_class on pg_class.oid = inhrelid
        ), months as (
          select *, to_timestamp(suffix, 'YYYYMM') as at from parts where suffix <> 'before'
        ), ends as (
          select name, whole, suffix, at + interval '1 month' as at from months
          union all
          -- What was there before the first month ends where that begins.
          select name, whole, suffix, (select min(at) from months where months.whole = parts.whole)
          from parts where suffix = 'before'
        )
        select name, whole, suffix from ends
        -- A day less than the shortest RETENTION_DAYS, since clocks differ.
        where at <= least(before, now() - interval '6 days')
          -- Months are continued from those that there are.
          and at <= (select max(at) from months where months.whole = ends.whole)
        order by at, suffix <> 'before', array_position(known, whole)
      loop
        waits := false;
        if part.whole = 'webhook_deliveries' then
          -- What is being redelivered just now is committed, and seen below.
          lock table only webhook_deliveries in access exclusive mode;
        end if;
        select inhrelid into deliveries
        from pg_inherits join pg_class on pg_class.oid = inhrelid
        where inhparent = 'webhook_deliveries'::regclass and relname = 'webhook_deliveries_' || part.suffix;
        if 'webhook_deliveries' = any(parents) and deliveries is not null then
          execute format('select exists (select from %s where status = ''pending'')', deliveries) into waits;
        end if;
        continue when waits;
        execute format('drop table %I', part.name);
        return part.name;
      end loop;
      return null;
    end $$`.execute(db);
}
