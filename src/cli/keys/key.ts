import { type Command, Option } from 'commander';
import { requireMerchant } from '../../accounts/merchants.ts';
import { requirePartner } from '../../accounts/partners.ts';
import { formerPairUntil } from '../../keys/former-pair.ts';
import {
  createKey,
  type IssuedKey,
  ROTATION_GRACE_MS,
  revokeKey,
  rotateKey,
} from '../../keys/manage-keys.ts';
import { MERCHANT_SCOPES, PARTNER_OWNER_SCOPES, scopesOf } from '../../keys/scopes.ts';
import { type KeyWithRole, listApiKeys } from '../../repositories/keys/api-keys.ts';
import { withSession } from '../accounts/session.ts';
import { printList, printObject } from '../print.ts';
import type { Terminal } from '../terminal.ts';
import {
  addVerb,
  type JsonFlag,
  listOf,
  parseDate,
  parseId,
  parseKeyId,
  parseName,
  requireFlag,
} from '../values.ts';

const SCOPES = [...new Set([...MERCHANT_SCOPES, ...PARTNER_OWNER_SCOPES])];
const SHOWN_ONCE = 'The secret and the passphrase are shown only once: save them now.';
const GRACE_HOURS = ROTATION_GRACE_MS / 3_600_000;

interface CreateFlags extends JsonFlag {
  readonly merchant?: string;
  readonly member?: string;
  readonly name: string;
  readonly scopes?: string[];
  readonly expiresAt?: Date;
}

interface ListFlags extends JsonFlag {
  readonly merchant?: string;
  readonly partner?: string;
}

/** `mp key create | list | rotate | revoke` */
export function define(noun: Command, terminal: Terminal): void {
  addVerb(noun, 'create', 'create a key; its secret is shown only once')
    .addOption(ownerOption('--merchant <id>', 'merchant ID', 'member'))
    .addOption(ownerOption('--member <id>', 'ID of a partner member', 'merchant'))
    .requiredOption('--name <name>', 'name, up to 200 characters', parseName)
    .option(
      '--scopes <a,b>',
      `comma-separated: ${SCOPES.join(', ')} (default: all); a member's key has those of its role`,
      listOf(SCOPES),
    )
    .option('--expires-at <time>', 'ISO 8601 date-time or date (default: never)', parseDate)
    .action((flags: CreateFlags, command: Command) => {
      requireFlag(command, ['merchant', 'member']);
      const { merchant, member = '', name, scopes, expiresAt } = flags;
      const owner = merchant === undefined ? { memberId: member } : { merchantId: merchant };
      return withSession(terminal, async session => {
        const key = await createKey(session, session.keyring, { owner, name, scopes, expiresAt });
        printIssued(terminal, flags, key, SHOWN_ONCE);
      });
    });

  addVerb(noun, 'list', "list a merchant's keys, or those of a partner's members, newest first")
    .addOption(ownerOption('--merchant <id>', 'merchant ID', 'partner'))
    .addOption(ownerOption('--partner <id>', 'partner ID', 'merchant'))
    .action((flags: ListFlags, command: Command) => {
      requireFlag(command, ['merchant', 'partner']);
      const { merchant, partner = '' } = flags;
      return withSession(terminal, async ({ db, clock }) => {
        if (merchant === undefined) await requirePartner(db, partner);
        else await requireMerchant(db, merchant);
        const owner = merchant === undefined ? { partnerId: partner } : { merchantId: merchant };
        const keys = (await listApiKeys(db, owner)).map(key => keyObject(key, clock()));
        printList(terminal, flags, keys, ['keyId', 'name', 'status', 'scopes', 'expiresAt']);
      });
    });

  addVerb(noun, 'rotate', 'issue a new secret and passphrase under the same key ID')
    .argument('<key-id>', 'key ID', parseKeyId)
    .option('--now', `end the old pair now instead of after ${GRACE_HOURS} hours`)
    .action((keyId: string, flags: JsonFlag & { now?: true }) =>
      withSession(terminal, async session => {
        const key = await rotateKey(session, session.keyring, keyId, flags.now === true);
        const old = flags.now
          ? 'The old pair no longer works.'
          : `The old pair works for another ${GRACE_HOURS} hours.`;
        printIssued(terminal, flags, key, `${SHOWN_ONCE}\n${old}`);
      }),
    );

  addVerb(noun, 'revoke', 'revoke a key permanently')
    .argument('<key-id>', 'key ID', parseKeyId)
    .action((keyId: string, flags: JsonFlag) =>
      withSession(terminal, async session => {
        printObject(terminal, flags, keyObject(await revokeKey(session, keyId), session.clock()));
      }),
    );
}

function ownerOption(flags: string, description: string, other: string): Option {
  return new Option(flags, description).argParser(parseId).conflicts(other);
}

function printIssued(terminal: Terminal, flags: JsonFlag, key: IssuedKey, note: string): void {
  const { keyId, secret, passphrase, scopes, expiresAt } = key;
  printObject(terminal, flags, { keyId, secret, passphrase, scopes, expiresAt }, note);
}

/**
 * Leaves out secrets and hashes.
 * @param now Milliseconds since the epoch.
 */
function keyObject(key: KeyWithRole, now: number) {
  return {
    keyId: key.id,
    ...(key.partner_member_id === null ? {} : { memberId: key.partner_member_id }),
    name: key.name,
    scopes: scopesOf(key.scopes, key.memberRole),
    status: statusOf(key, now),
    expiresAt: key.expires_at,
    createdAt: key.created_at,
    rotatedAt: key.rotated_at,
    previousValidUntil: formerPairUntil(key, new Date(now)),
  };
}

function statusOf(key: KeyWithRole, now: number): 'active' | 'revoked' | 'expired' {
  if (key.revoked_at !== null) return 'revoked';
  return key.expires_at !== null && key.expires_at.getTime() <= now ? 'expired' : 'active';
}
