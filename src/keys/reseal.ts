import { audited, type Operator } from '../audit/audited-change.ts';
import type { Keyring } from '../crypto/keyring.ts';
import type { Connection, Database } from '../database/connection.ts';
import { lockNodesUnder, updateNode } from '../repositories/chains/nodes.ts';
import { listEvidenceKeys, updateEvidenceKey } from '../repositories/deposits/evidence.ts';
import { updateApiKey } from '../repositories/keys/api-keys.ts';
import {
  countUnderOthers,
  deleteOtherMasterKeys,
  lockApiKeysUnder,
  lockEndpointsUnder,
  lockPeopleUnder,
  type UnderOthers,
} from '../repositories/keys/master-keys.ts';
import { updatePerson } from '../repositories/people/people.ts';
import { updateWebhookEndpoint } from '../repositories/webhooks/endpoints.ts';

/** Rows that are locked at once. */
const BATCH = 100;

/** What a run of `reseal` did, and what former master keys are still needed for. */
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
 * previous pairs and stored responses end by themselves. Once nothing is left under former master keys,
 * they are no longer in use. May be repeated, and stopped at any point.
 */
export async function reseal(
  operator: Operator & { readonly db: Database },
  keyring: Keyring,
): Promise<Resealed> {
  const { currentVersion } = keyring;
  const former = keyring.versions.filter(version => version !== currentVersion);
  const inBatches = async (batch: (tx: Connection) => Promise<number>) => {
    let total = 0;
    let done = former.length > 0 ? BATCH : 0;
    while (done === BATCH) {
      done = await operator.db.transaction().execute(batch);
      total += done;
    }
    return total;
  };

  const apiKeys = await inBatches(async tx => {
    const keys = await lockApiKeysUnder(tx, former, BATCH);
    for (const { id, secret, master_key_version, passphrase_key_version } of keys) {
      if (secret === null) continue;
      await updateApiKey(tx, id, {
        secret: keyring.seal(keyring.open(secret, id, master_key_version), id),
        master_key_version: currentVersion,
        passphrase_key_version: passphrase_key_version ?? master_key_version,
      });
    }
    return keys.length;
  });
  const webhookEndpoints = await inBatches(async tx => {
    const endpoints = await lockEndpointsUnder(tx, former, BATCH);
    for (const { id, secret, master_key_version } of endpoints) {
      await updateWebhookEndpoint(tx, id, {
        secret: keyring.seal(keyring.open(secret, id, master_key_version), id),
        master_key_version: currentVersion,
      });
    }
    return endpoints.length;
  });
  const nodes = await inBatches(async tx => {
    const sealed = await lockNodesUnder(tx, former, BATCH);
    for (const { id, access, master_key_version } of sealed) {
      await updateNode(tx, id, {
        access: keyring.seal(keyring.open(access, id, master_key_version), id),
        master_key_version: currentVersion,
      });
    }
    return sealed.length;
  });

  const apps = await inBatches(async tx => {
    const people = await lockPeopleUnder(tx, former, BATCH);
    for (const { id, code_secret: secret, code_key_version: version } of people) {
      if (secret === null || version === null) continue;
      await updatePerson(tx, id, {
        code_secret: keyring.seal(keyring.open(secret, id, version), id),
        code_key_version: currentVersion,
      });
    }
    return people.length;
  });

  for (const key of await listEvidenceKeys(operator.db)) {
    const { id, private_key: sealed, master_key_version: version } = key;
    if (!former.includes(version)) continue;
    await updateEvidenceKey(operator.db, id, {
      private_key: keyring.seal(keyring.open(sealed, id, version), id),
      master_key_version: currentVersion,
    });
  }

  return audited(operator, 'master-key.reseal', async (tx, now) => {
    const left = await countUnderOthers(tx, currentVersion, now);
    const { apiKeys: keys, legacyKeys, passwords } = left;
    const isDone = keys + legacyKeys + passwords + left.nodes === 0 && !left.lapsing;
    const retired = isDone ? await deleteOtherMasterKeys(tx, currentVersion) : [];
    const result = { apiKeys, webhookEndpoints, nodes, apps, left, retired };
    return { result, objectId: String(currentVersion), detail: { ...result } };
  });
}
