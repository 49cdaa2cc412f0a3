import { type Kysely, sql } from 'kysely';

/**
 * What a team sees of itself: what was changed in its account, by its people and by operators, and when its people
 * were last there. And in which account a link was made, since such a link must not open others.
 *
 * An entry of the audit log names the merchant or partner that it concerns, whoever writes it: in the panel that is
 * the account in which the change is made, else it follows from the changed object. Entries that are there already
 * get it once, and stay as they are otherwise.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table people add column last_seen_at timestamptz(3)`.execute(db);
  await sql`
    update people set last_seen_at = seen.at
    from (select person_id, max(last_seen_at) as at from panel_sessions group by person_id) as seen
    where seen.person_id = people.id`.execute(db);
  await sql`alter table panel_links add column account_id uuid`.execute(db);

  await sql`
    create function account_of_change(type text, object text, detail jsonb) returns uuid
    language plpgsql stable as $$
    declare
      uuid_form constant text := '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
      object_id constant uuid := case when object ~ uuid_form then object::uuid end;
      named constant text := case type
        when 'deposit' then coalesce(
          detail ->> 'paymentId',
          case when detail #>> '{merchantIds,1}' is null then detail #>> '{merchantIds,0}' end)
        when 'person' then detail ->> 'accountId'
      end;
      named_id constant uuid := case when named ~ uuid_form then named::uuid end;
    begin
      return case type
        when 'merchant' then object_id
        when 'partner' then object_id
        when 'domain' then object_id
        when 'branch' then coalesce((select merchant_id from branches where id = object_id), object_id)
        when 'address' then (select merchant_id from branches where id = object_id)
        when 'user' then (select merchant_id from merchant_users where id = object_id)
        when 'member' then (select partner_id from partner_members where id = object_id)
        when 'webhook' then (select merchant_id from webhook_endpoints where id = object_id)
        when 'payment' then (select merchant_id from payments where id = object_id)
        when 'key' then (
          select coalesce(api_keys.merchant_id, partner_members.partner_id)
          from api_keys left join partner_members on partner_members.id = api_keys.partner_member_id
          where api_keys.id = object)
        when 'deposit' then
          coalesce((select merchant_id from payments where id = named_id), named_id)
        when 'person' then named_id
      end;
    end $$`.execute(db);
  await sql`
    create function name_account_of_change() returns trigger language plpgsql as $$
    begin
      new.account_id := account_of_change(new.object_type, new.object_id, new.detail);
      return new;
    end $$`.execute(db);
  await sql`
    create trigger audit_log_account before insert on audit_log
    for each row when (new.account_id is null) execute function name_account_of_change()`.execute(
    db,
  );

  await sql`alter table audit_log disable trigger audit_log_append_only`.execute(db);
  await sql`
    update audit_log set account_id = account_of_change(object_type, object_id, detail)
    where account_id is null`.execute(db);
  await sql`alter table audit_log enable trigger audit_log_append_only`.execute(db);
  await sql`
    create index audit_log_account on audit_log (account_id, at, id) where account_id is not null`.execute(
    db,
  );
}
