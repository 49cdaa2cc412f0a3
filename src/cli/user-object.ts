import type { MerchantUser } from '../database/tables.ts';

/** A merchant's user as the command line shows it, without anything to authenticate with. */
export function userObject(user: MerchantUser) {
  return {
    id: user.id,
    merchantId: user.merchant_id,
    name: user.name,
    email: user.email,
    role: user.role,
    status: user.status,
    clientId: user.client_id,
    createdAt: user.created_at,
  };
}
