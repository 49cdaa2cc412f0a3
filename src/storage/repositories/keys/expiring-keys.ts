import type { Connection } from '../../database/connection.ts';

/** A key that expires, and whose it is. */
interface ExpiringKey {
  readonly id: string;
  readonly name: string;
  readonly expiresAt: Date;
  /** null for a partner's. */
  readonly merchantId: string | null;
  readonly partnerId: string | null;
  readonly memberId: string | null;
}

/** At most `limit` usable keys that expire until a time, in the order of their IDs after `after`. */
export function listExpiringKeys(
  db: Connection,
  {
    now,
    until,
    after,
    limit,
  }: { readonly now: Date; readonly until: Date; readonly after: string; readonly limit: number },
): Promise<ExpiringKey[]> {
  return db
    .selectFrom('api_keys')
    .leftJoin('partner_members as member', 'member.id', 'partner_member_id')
    .select(({ ref }) => [
      'api_keys.id',
      'api_keys.name',
      ref('api_keys.expires_at').$notNull().as('expiresAt'),
      'merchant_id as merchantId',
      'member.partner_id as partnerId',
      'partner_member_id as memberId',
    ])
    .where('revoked_at', 'is', null)
    .where('api_keys.expires_at', '>', now)
    .where('api_keys.expires_at', '<=', until)
    .where('api_keys.id', '>', after)
    .orderBy('api_keys.id')
    .limit(limit)
    .execute();
}
