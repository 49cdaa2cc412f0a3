import type { Command } from 'commander';
import { createPartnerMember, requirePartner, setPartnerMember } from '../../accounts/partners.ts';
import type { ActiveStatus, PartnerMember, PartnerRole } from '../../database/account-tables.ts';
import { inviteMember, linkFor } from '../../panel/people/invitations.ts';
import { findPartnerMember, listPartnerMembers } from '../../repositories/accounts/partners.ts';
import { printList, printObject } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import {
  addVerb,
  choice,
  type JsonFlag,
  parseEmail,
  parseId,
  parseName,
  requireFlag,
} from '../values.ts';
import { addLinkVerbs, LINK_SHOWN_ONCE, linkObject } from './panel-link.ts';
import { withSession } from './session.ts';

const ROLES: readonly PartnerRole[] = ['owner', 'developer'];
const ROLE = 'its keys may use everything, or only read the overview';

interface CreateFlags extends JsonFlag {
  readonly partner: string;
  readonly name: string;
  readonly email: string;
  readonly role: PartnerRole;
  readonly invite?: true;
}

interface SetFlags extends JsonFlag {
  readonly status?: ActiveStatus;
  readonly role?: PartnerRole;
}

interface ListFlags extends JsonFlag {
  readonly partner: string;
}

/** `mp member create | list | set | invite | link | sign-out` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'create', 'add a member to a partner')
    .requiredOption('--partner <id>', 'partner ID', parseId)
    .requiredOption('--name <name>', 'name, up to 200 characters', parseName)
    .requiredOption('--email <address>', 'e-mail address', parseEmail)
    .addOption(choice('--role <role>', ROLE, ROLES).makeOptionMandatory())
    .option('--invite', 'print a link with which the member joins the panel')
    .action(({ partner: partnerId, name, email, role, invite, ...flags }: CreateFlags) =>
      withSession(terminal, async session => {
        const member = await createPartnerMember(session, { partnerId, name, email, role });
        if (invite === undefined) return printObject(terminal, flags, memberObject(member));
        const link = await linkObject(session, await inviteMember(session, member.id));
        printObject(terminal, flags, { ...memberObject(member), ...link }, LINK_SHOWN_ONCE);
      }),
    );

  addLinkVerbs(noun, terminal, {
    subject: 'member',
    invite: inviteMember,
    link: (session, id, purpose) => linkFor(session, { memberId: id }, purpose),
    findPerson: async (session, id) => (await findPartnerMember(session.db, id))?.person_id,
  });

  addVerb(noun, 'list', 'list the members of a partner, newest first')
    .requiredOption('--partner <id>', 'partner ID', parseId)
    .action(({ partner, ...flags }: ListFlags) =>
      withSession(terminal, async ({ db }) => {
        const { id } = await requirePartner(db, partner);
        const members = (await listPartnerMembers(db, id)).map(memberObject);
        printList(terminal, flags, members, ['id', 'name', 'email', 'role', 'status', 'createdAt']);
      }),
    );

  addVerb(noun, 'set', 'change a member')
    .argument('<id>', 'member ID', parseId)
    .addOption(choice('--status <status>', 'whether its keys work', ['active', 'inactive']))
    .addOption(choice('--role <role>', ROLE, ROLES))
    .action((id: string, flags: SetFlags, command: Command) => {
      requireFlag(command, ['status', 'role']);
      return withSession(terminal, async session => {
        printObject(terminal, flags, memberObject(await setPartnerMember(session, id, flags)));
      });
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
