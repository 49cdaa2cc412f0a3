import type { Keyring } from '#crypto/keyring.ts';
import type { Database } from '#storage/database/connection.ts';
import {
  countUnderOthers,
  deleteOtherMasterKeys,
  type UnderOthers,
} from '#storage/repositories/keys/master-keys.ts';
import {
  lockSealed,
  replaceSealed,
  type SealedTable,
} from '#storage/repositories/keys/sealed-secrets.ts';
import { audited, type Operator } from '../audit/audited-change.ts';

/** Rows that are locked at once. */
const BATCH = 100;

/** What a run of `reseal` did, and what still needs former master keys. */
export interface Resealed {
  /** Secrets that were sealed under the current master key. */
  readonly apiKeys: number;
  readonly webhookEndpoints: number;
  readonly nodes: number;
  /** Secrets of authenticator apps. */
  readonly apps: number;
  readonly left: UnderOthers;
  /** Versions of the master keys that are no longer in use. */
  readonly retired: readonly number[];
}

/**
 * Seals every secret under the current master key. A passphrase is hashed under it when it is next used;
 * previous pairs and stored responses expire by themselves. Once nothing is left under former master keys,
 * they are retired. May be repeated, and stopped at any point.
 * @param report Called with the number of secrets that are sealed.
 */
export async function reseal(
  operator: Operator & { readonly db: Database },
  keyring: Keyring,
  report: (done: number) => void = () => undefined,
): Promise<Resealed> {
  const { currentVersion } = keyring;
  const former = keyring.versions.filter(version => version !== currentVersion);
  let count = 0;
  /** @returns How many secrets of a table it has sealed. */
  async function resealTable(table: SealedTable): Promise<number> {
    let total = 0;
    let done = former.length > 0 ? BATCH : 0;
    while (done === BATCH) {
      done = await operator.db.transaction().execute(async tx => {
        const secrets = await lockSealed(tx, table, former, BATCH);
        for (const { id, sealed, version } of secrets) {
          const resealed = keyring.seal(keyring.open(sealed, id, version), id);
          await replaceSealed(tx, table, { id, sealed: resealed, version: currentVersion });
        }
        return secrets.length;
      });
      total += done;
      count += done;
      report(count);
    }
    return total;
  }

  const apiKeys = await resealTable('api_keys');
  const webhookEndpoints = await resealTable('webhook_endpoints');
  const nodes = await resealTable('nodes');
  const apps = await resealTable('people');
  await resealTable('evidence_keys');
  await resealTable('wallets');

  return audited(operator, 'master-key.reseal', async (tx, now) => {
    const left = await countUnderOthers(tx, currentVersion, now);
    const { apiKeys: keys, legacyKeys, passwords } = left;
    const isDone = keys + legacyKeys + passwords + left.nodes === 0 && !left.lapsing;
    const retired = isDone ? await deleteOtherMasterKeys(tx, currentVersion) : [];
    const result = { apiKeys, webhookEndpoints, nodes, apps, left, retired };
    return { result, objectId: String(currentVersion), detail: { ...result } };
  });
}
