import type { Command } from 'commander';
import { requireMerchant } from '../../accounts/merchants.ts';
import { createUser, issueLegacyKey, setUser } from '../../accounts/users.ts';
import type { ActiveStatus, MerchantUser, UserRole } from '../../database/account-tables.ts';
import { inviteUser, linkFor } from '../../panel/people/invitations.ts';
import { findMerchantUser, listMerchantUsers } from '../../repositories/accounts/merchant-users.ts';
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
import { addLinkVerbs, LINK_SHOWN_ONCE, linkObject, newDemoLink } from './panel-link.ts';
import { withSession } from './session.ts';

const ROLES: readonly UserRole[] = ['admin', 'member'];
const SHOWN_ONCE = 'The API key is shown only once: save it now. A previous key no longer works.';

interface CreateFlags extends JsonFlag {
  readonly merchant: string;
  readonly name: string;
  readonly email: string;
  readonly role: UserRole;
  readonly invite?: true;
}

interface SetFlags extends JsonFlag {
  readonly status?: ActiveStatus;
  readonly role?: UserRole;
}

interface ListFlags extends JsonFlag {
  readonly merchant: string;
}

/** `mp user create | list | set | invite | link | sign-out | demo-link | legacy-key` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'create', 'add a user to a merchant')
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .requiredOption('--name <name>', 'name, up to 200 characters', parseName)
    .requiredOption('--email <address>', 'e-mail address', parseEmail)
    .addOption(
      choice(
        '--role <role>',
        'only an admin may use the older contract',
        ROLES,
      ).makeOptionMandatory(),
    )
    .option('--invite', 'print a link with which the user joins the panel')
    .action(({ merchant: merchantId, name, email, role, invite, ...flags }: CreateFlags) =>
      withSession(terminal, async session => {
        const user = await createUser(session, { merchantId, name, email, role });
        if (invite === undefined) return printObject(terminal, flags, userObject(user));
        const link = await linkObject(session, await inviteUser(session, user.id));
        printObject(terminal, flags, { ...userObject(user), ...link }, LINK_SHOWN_ONCE);
      }),
    );

  addVerb(noun, 'list', 'list the users of a merchant, newest first')
    .requiredOption('--merchant <id>', 'merchant ID', parseId)
    .action(({ merchant, ...flags }: ListFlags) =>
      withSession(terminal, async ({ db }) => {
        const { id } = await requireMerchant(db, merchant);
        const users = (await listMerchantUsers(db, id)).map(userObject);
        printList(terminal, flags, users, [
          'id',
          'name',
          'email',
          'role',
          'status',
          'signsIn',
          'clientId',
        ]);
      }),
    );

  addVerb(noun, 'set', 'change a user')
    .argument('<id>', 'user ID', parseId)
    .addOption(choice('--status <status>', 'whether its key works', ['active', 'inactive']))
    .addOption(choice('--role <role>', 'only the key of an admin works', ROLES))
    .action((id: string, flags: SetFlags, command: Command) => {
      requireFlag(command, ['status', 'role']);
      return withSession(terminal, async session => {
        printObject(terminal, flags, userObject(await setUser(session, id, flags)));
      });
    });

  addLinkVerbs(noun, terminal, {
    subject: 'user',
    invite: inviteUser,
    link: (session, id, purpose) => linkFor(session, { userId: id }, purpose),
    findPerson: async (session, id) => (await findMerchantUser(session.db, id))?.person_id,
  });

  addVerb(noun, 'demo-link', 'print a new link that signs in to the panel of the demo').action(
    (flags: JsonFlag) =>
      withSession(terminal, async session => {
        printObject(terminal, flags, await newDemoLink(session), LINK_SHOWN_ONCE);
      }),
  );

  addVerb(noun, 'legacy-key', 'issue an API key of the older contract; it is shown only once')
    .argument('<id>', 'ID of an active admin', parseId)
    .action((id: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        const { clientId, apiKey } = await issueLegacyKey(session, session.keyring, id);
        printObject(terminal, flags, { clientId, apiKey }, SHOWN_ONCE);
      }),
    );
}

/** Leaves out the hash of the API key. */
function userObject(user: MerchantUser) {
  return {
    id: user.id,
    merchantId: user.merchant_id,
    name: user.name,
    email: user.email,
    role: user.role,
    status: user.status,
    clientId: user.client_id,
    signsIn: user.person_id !== null,
    createdAt: user.created_at,
  };
}
