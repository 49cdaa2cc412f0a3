import { Option } from 'commander';
import {
  createKey,
  type IssuedKey,
  ROTATION_GRACE_MS,
  revokeKey,
  rotateKey,
} from '#accounts/keys/manage-keys.ts';
import { formerPairUntil } from '#accounts/keys/rotation-grace.ts';
import { MERCHANT_SCOPES, PARTNER_OWNER_SCOPES, scopesOf } from '#accounts/keys/scopes.ts';
import { requireMerchant } from '#accounts/merchants.ts';
import { requirePartner } from '#accounts/partners.ts';
import { type KeyWithRole, listApiKeys } from '#storage/repositories/keys/api-keys.ts';
import type { CliCommand } from '../cli-command.ts';
import { listOf, parseDate, parseId, parseKeyId, parseName } from '../values.ts';

const SCOPES = [...new Set([...MERCHANT_SCOPES, ...PARTNER_OWNER_SCOPES])];
const SHOWN_ONCE = 'The secret and the passphrase are shown only once: save them now.';
const GRACE_HOURS = ROTATION_GRACE_MS / 3_600_000;

interface CreateFlags {
  readonly merchant?: string;
  readonly member?: string;
  readonly name: string;
  readonly scopes?: string[];
  readonly expiresAt?: Date;
}

/** `mp key create | list | rotate | revoke` */
export function define(noun: CliCommand): void {
  noun
    .verb('create', 'create a key; its secret is shown only once')
    .addOption(ownerOption('--merchant <id>', 'merchant ID', 'member'))
    .addOption(ownerOption('--member <id>', 'ID of a partner member', 'merchant'))
    .requiredOption('--name <name>', 'name, up to 200 characters', parseName)
    .option(
      '--scopes <a,b>',
      `comma-separated: ${SCOPES.join(', ')} (default: all); a member's key has those of its role`,
      listOf(SCOPES),
    )
    .option('--expires-at <time>', 'ISO 8601 date-time or date (default: never)', parseDate)
    .atLeastOneOf('merchant', 'member')
    .onDatabase(async (session, flags: CreateFlags) => {
      const { merchant, member = '', name, scopes, expiresAt } = flags;
      const owner = merchant === undefined ? { memberId: member } : { merchantId: merchant };
      const key = await createKey(session, session.keyring, { owner, name, scopes, expiresAt });
      session.show(issuedObject(key), SHOWN_ONCE);
    });

  noun
    .verb('list', "list a merchant's keys, or those of a partner's members, newest first")
    .addOption(ownerOption('--merchant <id>', 'merchant ID', 'partner'))
    .addOption(ownerOption('--partner <id>', 'partner ID', 'merchant'))
    .atLeastOneOf('merchant', 'partner')
    .onDatabase(async (session, flags: { merchant?: string; partner?: string }) => {
      const { db, clock } = session;
      const { merchant, partner = '' } = flags;
      if (merchant === undefined) await requirePartner(db, partner);
      else await requireMerchant(db, merchant);
      const owner = merchant === undefined ? { partnerId: partner } : { merchantId: merchant };
      const keys = (await listApiKeys(db, owner)).map(key => keyObject(key, clock()));
      session.showList(keys, ['keyId', 'name', 'status', 'scopes', 'expiresAt']);
    });

  noun
    .verb('rotate', 'issue a new secret and passphrase under the same key ID')
    .argument('<key-id>', 'key ID', parseKeyId)
    .option('--now', `end the old pair now instead of after ${GRACE_HOURS} hours`)
    .onDatabase(async (session, keyId: string, flags: { now?: true }) => {
      const key = await rotateKey(session, session.keyring, keyId, flags.now === true);
      const old = flags.now
        ? 'The old pair no longer works.'
        : `The old pair works for another ${GRACE_HOURS} hours.`;
      session.show(issuedObject(key), `${SHOWN_ONCE}\n${old}`);
    });

  noun
    .verb('revoke', 'revoke a key permanently')
    .argument('<key-id>', 'key ID', parseKeyId)
    // A restore may have undone the revocation.
    .whileRestored()
    .onDatabase(async (session, keyId: string) => {
      session.show(keyObject(await revokeKey(session, keyId), session.clock()));
    });
}

function ownerOption(flags: string, description: string, other: string): Option {
  return new Option(flags, description).argParser(parseId).conflicts(other);
}

function issuedObject({ keyId, secret, passphrase, scopes, expiresAt }: IssuedKey) {
  return { keyId, secret, passphrase, scopes, expiresAt };
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
    scopes: scopesOf(key.scopes, key.member_role),
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
