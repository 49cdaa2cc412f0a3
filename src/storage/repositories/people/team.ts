import { expressionBuilder, sql } from 'kysely';
import type { ActiveStatus, PartnerRole, UserRole } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import type { Tables } from '../../database/tables.ts';
import { countRows, hasRow } from '../rows.ts';
import { endEmailLinks } from './email-links.ts';
import { endLinksOf } from './invitations.ts';
import { MEMBER_TABLES, type Membership } from './memberships.ts';
import { deleteSessionsOf } from './sessions.ts';

type Kind = Membership['kind'];

/** A user of a merchant or a member of a partner, with what its team sees of the person. */
export interface TeamMember {
  readonly id: string;
  readonly name: string;
  /** The e-mail that it was created with; its person may sign in with another one. */
  readonly email: string;
  /** The e-mail that its person signs in with; null while nobody does. */
  readonly signInEmail: string | null;
  /** When they confirmed it; null if they have not. */
  readonly emailConfirmedAt: Date | null;
  readonly role: UserRole | PartnerRole;
  readonly status: ActiveStatus;
  /** null while nobody signs in as this member. */
  readonly personId: string | null;
  readonly isDemo: boolean | null;
  /** Since when the person has the present factors, and when a link last gave them any. */
  readonly factorsSince: Date | null;
  readonly recoveredAt: Date | null;
  readonly lastSeenAt: Date | null;
  /** Until when an invitation, or a link for new factors, can be used; null without one. */
  readonly linkUntil: Date | null;
}

/** @param after ID of a member; only those who were added later are read. */
const members = (db: Connection, kind: Kind, accountId: string, now: Date, after?: string) => {
  const { member, accountId: account } = MEMBER_TABLES[kind];
  const own = kind === 'merchant' ? 'merchant_user_id' : 'partner_member_id';
  return db
    .with('own', creator => {
      const team = creator.selectFrom(member).where(account, '=', accountId);
      if (after === undefined) return team.selectAll();
      const cursor = team.select(['created_at', 'id']).where('id', '=', after);
      return team
        .selectAll()
        .where(({ eb, refTuple }) =>
          eb(refTuple('created_at', 'id'), '>', cursor.$asTuple('created_at', 'id')),
        );
    })
    .selectFrom('own')
    .leftJoin('people', 'people.id', 'own.person_id')
    .select(['own.id', 'own.name', 'own.email', 'own.status', 'own.person_id as personId'])
    .select(({ ref, selectFrom }) => [
      ref('own.role').as('role'),
      selectFrom('panel_links')
        .select(({ fn }) => fn.max('expires_at').as('until'))
        .where('used_at', 'is', null)
        .where('expires_at', '>', now)
        // Nobody else needs to know of a link that the person has asked for.
        .where('by_mail', '=', false)
        .where(({ eb, or }) =>
          or([
            eb(`panel_links.${own}`, '=', ref('own.id')),
            eb('panel_links.person_id', '=', ref('own.person_id')),
          ]),
        )
        .as('linkUntil'),
    ])
    .select([
      'people.email as signInEmail',
      'people.email_confirmed_at as emailConfirmedAt',
      'people.is_demo as isDemo',
      'people.factors_since as factorsSince',
      'people.recovered_at as recoveredAt',
      'people.last_seen_at as lastSeenAt',
    ]);
};

/** The team of an account in the order in which they were added, at most `limit` after the member `after`. */
export function listTeam(
  db: Connection,
  kind: Kind,
  accountId: string,
  { after, limit, now }: { after?: string | undefined; limit: number; now: Date },
): Promise<TeamMember[]> {
  return members(db, kind, accountId, now, after)
    .orderBy('own.created_at')
    .orderBy('own.id')
    .limit(limit)
    .execute();
}

/** Undefined for a member of another account, as for a missing one. */
export function findTeamMember(
  db: Connection,
  kind: Kind,
  accountId: string,
  { id, now }: { readonly id: string; readonly now: Date },
): Promise<TeamMember | undefined> {
  return members(db, kind, accountId, now).where('own.id', '=', id).executeTakeFirst();
}

/** The active admins or owners of an account who sign in. */
const admins = (db: Connection, kind: Kind, accountId: string) => {
  const { member, accountId: account, adminRole } = MEMBER_TABLES[kind];
  return db
    .selectFrom(member)
    .select('id')
    .where(account, '=', accountId)
    .where('role', '=', adminRole)
    .where('status', '=', 'active')
    .where('person_id', 'is not', null);
};

/** Whether anybody signs in as an active admin or owner of an account. */
export function hasAdmin(db: Connection, kind: Kind, accountId: string): Promise<boolean> {
  return hasRow(admins(db, kind, accountId));
}

/** How many people besides a member sign in as an active admin or owner of an account. */
export function countOtherAdmins(
  db: Connection,
  kind: Kind,
  accountId: string,
  memberId: string,
): Promise<number> {
  return countRows(admins(db, kind, accountId).clearSelect().where('id', '!=', memberId));
}

/** Whether this person is an active admin or owner of the account; locks that until the transaction ends. */
export function isActiveAdmin(
  tx: Connection,
  kind: Kind,
  accountId: string,
  personId: string,
): Promise<boolean> {
  return hasRow(admins(tx, kind, accountId).where('person_id', '=', personId).forShare());
}

/**
 * Ends the open links that people made in the panel of an account of which they are no longer admin or owner. A link
 * names its maker by the e-mail they had then, so links of somebody who has changed it, or has not confirmed it, end as
 * well. Links that operators made, or that were sent by mail, belong to no account.
 */
export async function endLinksOfFormerAdmins(
  db: Connection,
  kind: Kind,
  accountId: string,
  now: Date,
): Promise<void> {
  await db
    .updateTable('panel_links')
    .set({ used_at: now })
    .where('used_at', 'is', null)
    .where('account_id', '=', accountId)
    .where('made_by', 'not in', ({ selectFrom }) =>
      selectFrom('people')
        .select('email')
        .where('email_confirmed_at', 'is not', null)
        .where('id', 'in', admins(db, kind, accountId).clearSelect().select('person_id')),
    )
    .execute();
}

/** Whether an account has a user or member with an e-mail, in any case. */
export function hasEmail(
  db: Connection,
  kind: Kind,
  accountId: string,
  email: string,
): Promise<boolean> {
  const { member, accountId: account } = MEMBER_TABLES[kind];
  return hasRow(
    db
      .selectFrom(member)
      .select('id')
      .where(account, '=', accountId)
      .where(({ fn }) => fn('lower', ['email']), '=', email.toLowerCase()),
  );
}

/**
 * Whether a person is in another account, even if inactive there: that could be undone while a link is open. The test
 * twin of a live merchant does not count, since whoever may open the merchant may open its twin; the reverse does not
 * hold.
 */
export function hasOtherAccount(
  db: Connection,
  personId: string,
  accountId: string,
): Promise<boolean> {
  const eb = expressionBuilder<Tables, never>();
  const merchants = eb
    .selectFrom('merchant_users as own')
    .innerJoin('merchants', 'merchants.id', 'own.merchant_id')
    .select(sql.lit(1).as('one'))
    .where('own.person_id', '=', personId)
    .where('merchants.id', '!=', accountId)
    .where('merchants.test_of', 'is distinct from', accountId);
  const partners = eb
    .selectFrom('partner_members')
    .select(sql.lit(1).as('one'))
    .where('person_id', '=', personId)
    .where('partner_id', '!=', accountId);
  return hasRow(
    db
      .selectNoFrom(sql.lit(1).as('one'))
      .where(({ exists, or }) => or([exists(merchants), exists(partners)])),
  );
}

/**
 * Ends what lets somebody in as a user or member: its open invitation, and the person's sessions and links that confirm
 * an e-mail.
 */
export async function endAccess(
  db: Connection,
  kind: Kind,
  { id, person_id: personId }: { readonly id: string; readonly person_id: string | null },
  now: Date,
): Promise<void> {
  await endLinksOf(
    db,
    {
      person_id: null,
      merchant_user_id: kind === 'merchant' ? id : null,
      partner_member_id: kind === 'partner' ? id : null,
    },
    { now },
  );
  if (personId === null) return;
  await endEmailLinks(db, personId, now);
  await deleteSessionsOf(db, personId, null);
}
