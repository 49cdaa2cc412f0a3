import type { Keyring } from '#crypto/keyring.ts';
import type { Database } from '#storage/database/connection.ts';
import {
  insertMasterKey,
  listMasterKeys,
  lockMasterKeys,
} from '#storage/repositories/keys/master-keys.ts';

/** The database has secrets under a master key that this process was not given. */
export class MasterKeyMissing extends Error {
  constructor(version: number) {
    super(
      `The database has secrets under a master key (version ${version}) that neither MASTER_KEY nor ` +
        'MASTER_KEYS_PREVIOUS holds. Set MASTER_KEY to the key that the service was set up with; ' +
        'to change it, add the former one to MASTER_KEYS_PREVIOUS.',
    );
    this.name = 'MasterKeyMissing';
  }
}

/**
 * Checks that the keyring has every master key in use, before it seals anything, and registers its current
 * one. Of two processes that bring different keys to a new database, one is refused.
 * @throws MasterKeyMissing
 */
export async function checkMasterKeys(db: Database, keyring: Keyring, now: Date): Promise<void> {
  const known = await listMasterKeys(db);
  requireAll(known, keyring);
  if (known.includes(keyring.currentVersion)) return;
  await db.transaction().execute(async tx => {
    await lockMasterKeys(tx);
    requireAll(await listMasterKeys(tx), keyring);
    await insertMasterKey(tx, keyring.currentVersion, now);
  });
}

function requireAll(versions: readonly number[], keyring: Keyring): void {
  const missing = versions.find(version => !keyring.versions.includes(version));
  if (missing !== undefined) throw new MasterKeyMissing(missing);
}
