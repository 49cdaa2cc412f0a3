import { requireMerchant } from '#accounts/merchants.ts';
import { inviteUser, linkFor } from '#accounts/people/invitations.ts';
import { createUser, issueLegacyKey, setUser } from '#accounts/users.ts';
import type { MerchantUser } from '#storage/database/account-tables.ts';
import {
  findMerchantUser,
  listMerchantUsers,
} from '#storage/repositories/accounts/merchant-users.ts';
import type { CliCommand } from '../cli-command.ts';
import { parseId } from '../values.ts';
import { addPeopleVerbs, LINK_SHOWN_ONCE, newDemoLink } from './people.ts';

const SHOWN_ONCE = 'The API key is shown only once: save it now. A previous key no longer works.';

/** `mp user create | list | set | invite | link | sign-out | demo-link | legacy-key` */
export function define(noun: CliCommand): void {
  addPeopleVerbs(noun, {
    subject: 'user',
    owner: 'merchant',
    roles: ['admin', 'member'] as const,
    help: {
      newRole: 'only an admin may use the older contract',
      role: 'only the key of an admin works',
      status: 'whether its key works',
    },
    columns: ['id', 'name', 'email', 'role', 'status', 'signsIn', 'clientId'],
    create: async (session, merchantId, given) =>
      userObject(await createUser(session, { merchantId, ...given })),
    async list({ db }, merchantId) {
      const { id } = await requireMerchant(db, merchantId);
      return (await listMerchantUsers(db, id)).map(userObject);
    },
    set: async (session, id, change) => userObject(await setUser(session, id, change)),
    invite: inviteUser,
    renew: (session, id, purpose) => linkFor(session, { userId: id }, purpose),
    findPerson: async ({ db }, id) => (await findMerchantUser(db, id))?.person_id,
  });

  noun
    .verb('demo-link', 'print a new link that signs in to the panel of the demo')
    .onDatabase(async session => session.show(await newDemoLink(session), LINK_SHOWN_ONCE));

  noun
    .verb('legacy-key', 'issue an API key of the older contract; it is shown only once')
    .argument('<id>', 'ID of an active admin', parseId)
    .onDatabase(async (session, id: string) => {
      session.show(await issueLegacyKey(session, session.keyring, id), SHOWN_ONCE);
    });
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
