import type { Partner, PartnerMember } from '../database/tables.ts';

/** A partner as the command line shows it. */
export function partnerObject(partner: Partner) {
  return {
    id: partner.id,
    name: partner.name,
    status: partner.status,
    selfServiceApiPayments: partner.self_service_api_payments,
    createdAt: partner.created_at,
  };
}

/** A partner's member as the command line shows it. */
export function memberObject(member: PartnerMember) {
  return {
    id: member.id,
    partnerId: member.partner_id,
    name: member.name,
    email: member.email,
    role: member.role,
    status: member.status,
    createdAt: member.created_at,
  };
}
