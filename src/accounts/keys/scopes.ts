import type { PartnerRole } from '#storage/database/account-tables.ts';

export const MERCHANT_SCOPES = [
  'payment_prompts:write',
  'payment_prompts:read',
  'blockchains:read',
] as const;

export const PARTNER_OWNER_SCOPES = [
  'payment_prompts:write',
  'partner_overview:read',
  'partner_merchants:read',
  'partner_payments:read',
  'partner_team:read',
] as const;

export const PARTNER_DEVELOPER_SCOPES = ['partner_overview:read'] as const;

export type Scope = (typeof MERCHANT_SCOPES)[number] | (typeof PARTNER_OWNER_SCOPES)[number];

/** Scopes of a member's key. They follow from the member's role; those stored with the key are ignored. */
export function partnerScopes(role: PartnerRole): readonly Scope[] {
  return role === 'owner' ? PARTNER_OWNER_SCOPES : PARTNER_DEVELOPER_SCOPES;
}

/**
 * Scopes that a key really has.
 * @param memberRole Role of the partner member it belongs to; null for a merchant's key.
 */
export function scopesOf(
  stored: readonly string[],
  memberRole: PartnerRole | null,
): readonly string[] {
  return memberRole === null ? stored : partnerScopes(memberRole);
}
