import { createPartnerMember, requirePartner, setPartnerMember } from '#accounts/partners.ts';
import { inviteMember, linkFor } from '#accounts/people/invitations.ts';
import type { PartnerMember } from '#storage/database/account-tables.ts';
import { findPartnerMember, listPartnerMembers } from '#storage/repositories/accounts/partners.ts';
import type { CliCommand } from '../cli-command.ts';
import { addPeopleVerbs } from './people.ts';

const ROLE = 'its keys may use everything, or only read the overview';

/** `mp member create | list | set | invite | link | sign-out` */
export function define(noun: CliCommand): void {
  addPeopleVerbs(noun, {
    subject: 'member',
    owner: 'partner',
    roles: ['owner', 'developer'] as const,
    help: { newRole: ROLE, role: ROLE, status: 'whether its keys work' },
    columns: ['id', 'name', 'email', 'role', 'status', 'createdAt'],
    create: async (session, partnerId, given) =>
      memberObject(await createPartnerMember(session, { partnerId, ...given })),
    async list({ db }, partnerId) {
      const { id } = await requirePartner(db, partnerId);
      return (await listPartnerMembers(db, id)).map(memberObject);
    },
    set: async (session, id, change) => memberObject(await setPartnerMember(session, id, change)),
    invite: inviteMember,
    renew: (session, id, purpose) => linkFor(session, { memberId: id }, purpose),
    findPerson: async ({ db }, id) => (await findPartnerMember(db, id))?.person_id,
  });
}

export function memberObject(member: PartnerMember) {
  return {
    id: member.id,
    partnerId: member.partner_id,
    name: member.name,
    email: member.email,
    role: member.role,
    status: member.status,
    signsIn: member.person_id !== null,
    createdAt: member.created_at,
  };
}
