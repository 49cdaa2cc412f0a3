import { sql } from 'kysely';
import type {
  AccountKind,
  ActiveStatus,
  MerchantEnvironment,
  OnboardingStatus,
  PartnerRole,
  UserRole,
} from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';

/** An account that a person may enter, with what all its pages show. */
export type Membership = MerchantMembership | PartnerMembership;

interface MerchantMembership {
  readonly kind: 'merchant';
  readonly accountId: string;
  readonly name: string;
  readonly role: UserRole;
  readonly status: ActiveStatus;
  readonly accountKind: AccountKind;
  readonly environment: MerchantEnvironment;
  /** When the merchant was created. */
  readonly since: Date;
  readonly onboardingStatus: OnboardingStatus;
  /** ID of the merchant's user as whom the person signs in. */
  readonly memberId: string;
  /** Whether the partner has switched its merchants' own keys off. */
  readonly selfServiceOff: boolean;
}

interface PartnerMembership {
  readonly kind: 'partner';
  readonly accountId: string;
  readonly name: string;
  readonly role: PartnerRole;
  readonly status: ActiveStatus;
  /** ID of the partner's member as whom the person signs in. */
  readonly memberId: string;
  readonly selfService: boolean;
}

/** Maximum number of accounts of a person that are listed. */
const ACCOUNTS_MAXIMUM = 100;

const merchants = (db: Connection, personId: string) =>
  db
    .selectFrom('merchant_users as own')
    .innerJoin('merchants', 'merchants.id', 'own.merchant_id')
    .leftJoin('partners', 'partners.id', 'merchants.partner_id')
    .select([
      sql.lit('merchant' as const).as('kind'),
      'merchants.id as accountId',
      'merchants.name',
      'own.role',
      'merchants.status',
      'merchants.account_kind as accountKind',
      'merchants.environment',
      'merchants.created_at as since',
      'merchants.onboarding_status as onboardingStatus',
      'own.id as memberId',
      // Kysely's types do not keep that it is a boolean; null without a partner.
      sql<boolean>`coalesce(partners.status <> 'active' or not partners.self_service_api_payments, false)`.as(
        'selfServiceOff',
      ),
    ])
    .where('own.person_id', '=', personId)
    .where('own.status', '=', 'active')
    .orderBy('merchants.name')
    .orderBy('merchants.id')
    .limit(ACCOUNTS_MAXIMUM);

const partners = (db: Connection, personId: string) =>
  db
    .selectFrom('partner_members as own')
    .innerJoin('partners', 'partners.id', 'own.partner_id')
    .select([
      sql.lit('partner' as const).as('kind'),
      'partners.id as accountId',
      'partners.name',
      'own.role',
      'partners.status',
      'own.id as memberId',
      'partners.self_service_api_payments as selfService',
    ])
    .where('own.person_id', '=', personId)
    .where('own.status', '=', 'active')
    .orderBy('partners.name')
    .orderBy('partners.id')
    .limit(ACCOUNTS_MAXIMUM);

/** Undefined for an account of others, as for a missing one. */
export async function findMembership(
  db: Connection,
  personId: string,
  kind: Membership['kind'],
  accountId: string,
): Promise<Membership | undefined> {
  return kind === 'merchant'
    ? merchants(db, personId).where('merchants.id', '=', accountId).executeTakeFirst()
    : partners(db, personId).where('partners.id', '=', accountId).executeTakeFirst();
}

/** The accounts that a person may enter: partners first, then merchants, each by name. */
export async function listMemberships(db: Connection, personId: string): Promise<Membership[]> {
  const [ofPartners, ofMerchants] = await Promise.all([
    partners(db, personId).execute(),
    merchants(db, personId).execute(),
  ]);
  return [...ofPartners, ...ofMerchants];
}

/** Tables and columns of each kind of membership, and the role that decides in an account. */
export const MEMBER_TABLES = {
  merchant: {
    member: 'merchant_users',
    account: 'merchants',
    accountId: 'merchant_id',
    adminRole: 'admin',
  },
  partner: {
    member: 'partner_members',
    account: 'partners',
    accountId: 'partner_id',
    adminRole: 'owner',
  },
} as const;

/** Names of the active admins or owners of an account who sign in, at most five. */
export async function listAdmins(
  db: Connection,
  kind: Membership['kind'],
  accountId: string,
): Promise<string[]> {
  const { member, accountId: column, adminRole } = MEMBER_TABLES[kind];
  const rows = await db
    .selectFrom(member)
    .select('name')
    .where(column, '=', accountId)
    .where('role', '=', adminRole)
    .where('status', '=', 'active')
    .where('person_id', 'is not', null)
    .orderBy('name')
    .limit(5)
    .execute();
  return rows.map(({ name }) => name);
}

/** Makes a person sign in as a merchant's user or a partner's member, unless somebody does already. */
export async function setPerson(
  db: Connection,
  kind: Membership['kind'],
  memberId: string,
  { personId, now }: { readonly personId: string; readonly now: Date },
): Promise<void> {
  await db
    .updateTable(MEMBER_TABLES[kind].member)
    .set({ person_id: personId, ...(kind === 'merchant' ? { standing_since: now } : {}) })
    .where('id', '=', memberId)
    .where('person_id', 'is', null)
    .execute();
}

/** The user or member that an invitation is for. */
export interface Invited {
  readonly kind: Membership['kind'];
  readonly accountId: string;
  readonly accountName: string;
  readonly memberId: string;
  readonly name: string;
  readonly email: string;
  readonly role: UserRole | PartnerRole;
}

/** Undefined once the user is inactive, or has a person. */
export async function findInvitedUser(db: Connection, id: string): Promise<Invited | undefined> {
  return db
    .selectFrom('merchant_users as own')
    .innerJoin('merchants as account', 'account.id', 'own.merchant_id')
    .select(sql.lit('merchant' as const).as('kind'))
    .select(['account.id as accountId', 'account.name as accountName'])
    .select(['own.id as memberId', 'own.name', 'own.email', 'own.role'])
    .where('own.id', '=', id)
    .where('own.status', '=', 'active')
    .where('own.person_id', 'is', null)
    .executeTakeFirst();
}

/** Undefined once the member is inactive, or has a person. */
export async function findInvitedMember(db: Connection, id: string): Promise<Invited | undefined> {
  return db
    .selectFrom('partner_members as own')
    .innerJoin('partners as account', 'account.id', 'own.partner_id')
    .select(sql.lit('partner' as const).as('kind'))
    .select(['account.id as accountId', 'account.name as accountName'])
    .select(['own.id as memberId', 'own.name', 'own.email', 'own.role'])
    .where('own.id', '=', id)
    .where('own.status', '=', 'active')
    .where('own.person_id', 'is', null)
    .executeTakeFirst();
}
