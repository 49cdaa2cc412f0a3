import type { ActiveStatus, PartnerRole } from '../../database/account-tables.ts';
import type { Connection } from '../../database/connection.ts';
import type { ApiKey } from '../../database/key-tables.ts';
import { type Given, prepare } from '../../database/prepared.ts';
import { MERCHANT_STATE, type MerchantState, toMerchantState } from '../accounts/merchant-state.ts';

/** A key with the state of its accounts: everything that authentication needs. */
export interface KeyWithAccounts {
  key: ApiKey;
  merchant: MerchantState | null;
  member: {
    id: string;
    role: PartnerRole;
    status: ActiveStatus;
    partner: { id: string; status: ActiveStatus };
  } | null;
}

/**
 * Listed by name: `select *` would invalidate the prepared statement when a migration adds a
 * column.
 */
const API_KEY = [
  'api_keys.id',
  'api_keys.merchant_id',
  'api_keys.partner_member_id',
  'api_keys.name',
  'api_keys.scopes',
  'api_keys.secret',
  'api_keys.passphrase_hash',
  'api_keys.master_key_version',
  'api_keys.passphrase_key_version',
  'api_keys.previous_secret',
  'api_keys.previous_passphrase_hash',
  'api_keys.previous_master_key_version',
  'api_keys.previous_passphrase_key_version',
  'api_keys.previous_valid_until',
  'api_keys.expires_at',
  'api_keys.revoked_at',
  'api_keys.rotated_at',
  'api_keys.created_at',
] as const satisfies readonly `api_keys.${keyof ApiKey}`[];

const keyAtOrAfter = prepare('key_at_or_after', (db, given: Given<{ id: string }>) => {
  const next = db.selectFrom('api_keys').select('id').orderBy('id').limit(1);
  return db
    .selectFrom('api_keys')
    .leftJoin('merchants', 'merchants.id', 'api_keys.merchant_id')
    .leftJoin('partners as owner', 'owner.id', 'merchants.partner_id')
    .leftJoin('partner_members as member', 'member.id', 'api_keys.partner_member_id')
    .leftJoin('partners as partner', 'partner.id', 'member.partner_id')
    .select(API_KEY)
    .select(MERCHANT_STATE)
    .select([
      'member.role as memberRole',
      'member.status as memberStatus',
      'partner.id as partnerId',
      'partner.status as partnerStatus',
    ])
    .where('api_keys.id', '=', ({ fn }) =>
      fn.coalesce(next.where('id', '>=', given('id')), next.where('id', '<', given('id'))),
    );
});

/**
 * The key with this ID or, if there is none, the key with the next higher ID or else the lowest, so that an
 * unknown ID costs the database and the driver as much as a known one. Callers must compare the ID.
 * @returns undefined if there is no key at all.
 */
export async function findKeyAtOrAfter(
  db: Connection,
  keyId: string,
): Promise<KeyWithAccounts | undefined> {
  const [row] = await keyAtOrAfter(db, { id: keyId });
  if (row === undefined) return undefined;

  const {
    merchantStatus,
    accountKind,
    environment,
    onboardingStatus,
    ownerId,
    ownerStatus,
    selfService,
    memberRole,
    memberStatus,
    partnerId,
    partnerStatus,
    ...key
  } = row;
  const merchant =
    key.merchant_id !== null && merchantStatus && accountKind && environment && onboardingStatus
      ? toMerchantState(key.merchant_id, {
          ...row,
          merchantStatus,
          accountKind,
          environment,
          onboardingStatus,
        })
      : null;
  const member =
    key.partner_member_id !== null && memberRole && memberStatus && partnerId && partnerStatus
      ? {
          id: key.partner_member_id,
          role: memberRole,
          status: memberStatus,
          partner: { id: partnerId, status: partnerStatus },
        }
      : null;
  return { key, merchant, member };
}
