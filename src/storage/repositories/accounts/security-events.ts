import { type RawBuilder, sql } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import { putAsideBy } from '../people/attention-put-aside.ts';
import { MEMBER_TABLES, type Membership } from '../people/memberships.ts';

/** A change of what a person signs in with, or of the admins or owners of their account. */
export interface SecurityEvent {
  /** ID of its entry in the audit log. */
  readonly id: string;
  readonly action: string;
  /** ISO 8601, as in JSON. */
  readonly at: string;
  /** E-mail of who made it; null for an operator. */
  readonly by: string | null;
  readonly address: string | null;
  /** Name of somebody who was admin or owner of the account until then; null if the event is about the person. */
  readonly former: string | null;
}

export interface SecurityEventQuery {
  readonly kind: Membership['kind'];
  readonly personId: string;
  /** The user or member as whom they sign in. */
  readonly memberId: string;
  /** Null for somebody who does not see the account's team. */
  readonly accountId: string | null;
  /** Actions of the audit log that change what they sign in with. */
  readonly actions: readonly string[];
  readonly since: Date;
}

/** Maximum number of former admins or owners that are listed. */
const FORMER_MAXIMUM = 10;

/**
 * The security events of a person, newest first, as JSON: the last sign-in from an unknown device, the last change by each
 * action, and who is no longer admin or owner of the account.
 */
export function securityEvents({
  kind,
  personId,
  memberId,
  accountId,
  actions,
  since,
}: SecurityEventQuery): RawBuilder<SecurityEvent[]> {
  const { member, accountId: column, adminRole } = MEMBER_TABLES[kind];
  return sql`(
    select coalesce(json_agg(event order by event.at desc), '[]') from (
      (select distinct on (action) id, action, at, case when person_id is not null then actor end as by,
         address, null as former
       from audit_log
       where object_id in (${personId}, ${memberId}) and at >= ${since}
         and (action = any (${actions}::text[])
           or action = 'person.sign-in' and detail ->> 'device' = 'new')
       order by action, at desc, id desc)
      union all
      (select entry.*, own.name
       from ${sql.table(member)} as own
       cross join lateral (
         select id, action, at, case when person_id is not null then actor end as by, address
         from audit_log
         where object_id = own.id::text and at >= ${since} and detail ? 'was'
         order by at desc, id desc limit 1) as entry
       where own.${sql.ref(column)} = ${accountId}
         and not (own.role = ${adminRole} and own.status = 'active')
       order by entry.at desc limit ${FORMER_MAXIMUM})
    ) as event)`;
}

/** What a person should look at in an account where they see no more than that, and what they have put aside there. */
interface PersonAttention {
  readonly securityEvents: readonly SecurityEvent[];
  readonly putAside: readonly string[];
}

/** Reads all in one statement. */
export async function readPersonAttention(
  db: Connection,
  question: SecurityEventQuery,
  accountId: string,
): Promise<PersonAttention> {
  const owner = { person_id: question.personId, account_id: accountId };
  const { rows } = await sql<PersonAttention>`
    select ${securityEvents(question)} as "securityEvents", ${putAsideBy(owner)} as "putAside"`.execute(
    db,
  );
  const [found] = rows;
  if (found === undefined) throw new Error('a statement without a condition returns a row');
  return found;
}
