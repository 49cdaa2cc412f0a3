import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../database/connection.ts';
import type { Mail } from '../database/mail-tables.ts';
import type { Person } from '../database/people-tables.ts';
import { MEMBER_TABLES, type Membership } from './people/memberships.ts';

/** Content of a mail, whoever gets it. */
interface NewMail {
  readonly kind: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly now: Date;
  /** Key by which a person gets the mail only once, however often it is written. */
  readonly occasion?: string;
}

/** Who gets a mail besides the active admins of a merchant, or owners of a partner. */
export interface OtherRecipients {
  readonly besides?: string | null;
  readonly formerSince?: Date | null;
}

/**
 * Queues a mail to a person or, without one, to the e-mail address that the facts name. Nothing is sent to an e-mail of
 * a person that is not confirmed: others may read it.
 */
export async function insertMail(
  db: Connection,
  personId: string | null,
  mail: NewMail,
): Promise<void> {
  const facts = sql`${JSON.stringify(mail.facts)}::jsonb`;
  await insertFrom(
    db,
    mail,
    personId === null
      ? sql`null::uuid, null, ${facts}`
      : sql`id, email, ${facts} from people
          where id = ${personId} and not is_demo and email_confirmed_at is not null`,
  );
}

/**
 * Queues a mail to each active admin of a merchant, or owner of a partner, whose e-mail is confirmed, and adds the
 * account to its facts.
 * @param others.besides ID of a member of the account who gets it too.
 * @param others.formerSince If given, members who lost that role since then get it too, whoever removed them.
 */
export async function insertMailToAdmins(
  db: Connection,
  { kind, accountId }: Pick<Membership, 'kind' | 'accountId'>,
  mail: NewMail,
  { besides = null, formerSince = null }: OtherRecipients = {},
): Promise<void> {
  const { member, account, accountId: column, adminRole } = MEMBER_TABLES[kind];
  await insertFrom(
    db,
    mail,
    sql`people.id, people.email, ${JSON.stringify(mail.facts)}::jsonb || jsonb_build_object('account',
        jsonb_build_object('kind', ${kind}::text, 'id', account.id, 'name', account.name))
      from ${sql.table(member)} as own
      join people on people.id = own.person_id
      join ${sql.table(account)} as account on account.id = own.${sql.ref(column)}
      where own.${sql.ref(column)} = ${accountId} and not people.is_demo
        and people.email_confirmed_at is not null
        and (own.status = 'active' and (own.role = ${adminRole} or own.id = ${besides})
          or exists (
            select from audit_log
            where object_id = own.id::text and at >= ${formerSince} and detail ? 'was'))`,
  );
}

/** @param recipients Person, e-mail and facts of each mail: the end of a select list, and its `from` clause. */
async function insertFrom(
  db: Connection,
  { kind, occasion, now }: NewMail,
  recipients: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    insert into mails (id, kind, occasion, created_at, due_at, person_id, email, facts)
    select gen_random_uuid(), ${kind}::text, ${occasion ?? null}::text, ${now}::timestamptz,
      ${now}::timestamptz, ${recipients}
    on conflict (person_id, occasion) do nothing`.execute(db);
}

/** A mail that is to be sent now. */
export interface ClaimedMail
  extends Pick<Mail, 'id' | 'kind' | 'facts' | 'attempts' | 'created_at'> {
  /** The recipient; null if the facts name an e-mail address instead. */
  readonly person: Pick<Person, 'name' | 'email' | 'language'> | null;
  /** End of the claim: the mail may be sent again if nothing has been recorded by then. */
  readonly until: Date;
}

/**
 * Claims the mail that is longest due, and counts the attempt. Only one of several workers gets it.
 * @param until End of the claim.
 */
export async function claimMail(
  db: Connection,
  now: Date,
  until: Date,
): Promise<ClaimedMail | undefined> {
  const { rows } = await sql<ClaimedMail>`
    with claimed as (
      update mails set attempts = attempts + 1, due_at = ${until}
      where id = (
        select id from mails where outcome is null and due_at <= ${now}
        order by due_at limit 1 for update skip locked)
      returning *
    )
    select claimed.id, kind, facts, attempts, claimed.created_at, due_at as until,
      case when people.id is not null
      then json_build_object('name', people.name, 'email', claimed.email, 'language', people.language)
      end as person
    from claimed left join people on people.id = person_id`.execute(db);
  return rows[0];
}

/**
 * Ends a claimed mail, unless its claim has run out, and clears its address and facts. A mail that was given up also
 * loses its occasion, since the person was not told, so that it can be written again.
 */
export async function endMail(
  db: Connection,
  { id, until }: ClaimedMail,
  outcome: NonNullable<Mail['outcome']>,
  now: Date,
): Promise<void> {
  await db
    .updateTable('mails')
    .set({
      outcome,
      ended_at: now,
      due_at: null,
      email: null,
      facts: '{}',
      ...(outcome === 'given-up' ? { occasion: null } : {}),
    })
    .where('id', '=', id)
    .where('outcome', 'is', null)
    .where('due_at', '=', until)
    .execute();
}

/** Puts a claimed mail off, unless its claim has run out. */
export async function postponeMail(
  db: Connection,
  { id, until }: ClaimedMail,
  dueAt: Date,
): Promise<void> {
  await db
    .updateTable('mails')
    .set({ due_at: dueAt })
    .where('id', '=', id)
    .where('outcome', 'is', null)
    .where('due_at', '=', until)
    .execute();
}

/** Ends at most `limit` due mails of a service that sends none; returns how many. Skips those being claimed now. */
export async function dropMails(db: Connection, now: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update mails set outcome = 'dropped', ended_at = ${now}, due_at = null, email = null, facts = '{}'
    where id = any(array(
      select id from mails where outcome is null and due_at <= ${now} order by due_at limit ${limit} for update skip locked
    ))`.execute(db);
  return Number(numAffectedRows ?? 0n);
}
