import { Type } from '@sinclair/typebox';
import { StringEnum, Uuid } from '#schemas/scalars.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';

/** The roles in each kind of account; the one that decides is last. */
export const TEAM_ROLES = {
  merchant: ['member', 'admin'],
  partner: ['developer', 'owner'],
} as const satisfies Readonly<Record<Membership['kind'], readonly Membership['role'][]>>;

/** What a link for somebody who has joined replaces; the choice that replaces least is first. */
export const LINK_PURPOSES = ['factors', 'password', 'both'] as const;

const code = Type.String({ default: '' });
const intent = Uuid('ID under which a link is made once, however often the form is sent.');
const role = StringEnum([...TEAM_ROLES.merchant, ...TEAM_ROLES.partner], 'What they may do.');

/** Where a page of the list begins. */
export const TeamQuery = Type.Object({
  after: Type.Optional(Uuid('ID of the one before the page.')),
});
export const MemberParams = Type.Object({ memberId: Uuid('ID of the user or member.') });
export const InviteForm = Type.Object({
  intent,
  name: Type.String(),
  email: Type.String(),
  role,
  code,
});
export const RoleForm = Type.Object({ role, code });
export const StatusForm = Type.Object({
  status: StringEnum(['active', 'inactive'], 'Whether they can enter the account.'),
  code,
});
export const LinkForm = Type.Object({
  intent,
  purpose: StringEnum(LINK_PURPOSES, 'What the link replaces.'),
  code,
});
