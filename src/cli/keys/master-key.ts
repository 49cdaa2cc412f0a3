import { type Resealed, reseal } from '#accounts/keys/reseal.ts';
import type { CliCommand } from '../cli-command.ts';
import { withProgress } from '../progress.ts';

/** `mp master-key reseal` */
export function define(noun: CliCommand): void {
  noun
    .verb('reseal', 'bring every secret under the current master key')
    .onDatabase(async session => {
      const resealed = await withProgress(noun.terminal, 'mp master-key reseal', report =>
        reseal(session, session.keyring, report),
      );
      session.show(resealedObject(session.keyring.currentVersion, resealed), noteOn(resealed));
    });
}

function resealedObject(version: number, resealed: Resealed) {
  const { apiKeys, webhookEndpoints, nodes, apps, left, retired } = resealed;
  return {
    masterKeyVersion: version,
    apiKeysResealed: apiKeys,
    webhookSecretsResealed: webhookEndpoints,
    nodesResealed: nodes,
    authenticatorAppsResealed: apps,
    apiKeysLeft: left.apiKeys,
    legacyKeysLeft: left.legacyKeys,
    passwordsLeft: left.passwords,
    nodesLeft: left.nodes,
    lapsing: left.lapsing,
    retiredVersions: retired,
  };
}

function noteOn({ left }: Resealed): string {
  const keys = left.apiKeys + left.legacyKeys;
  if (keys > 0) {
    return `${keys} keys follow when they are next used, or rotated. Former master keys are needed until then: run this again.`;
  }
  if (left.passwords > 0) {
    return `${left.passwords} passwords follow when their people sign in. Former master keys are needed until then: run this again.`;
  }
  if (left.nodes > 0) return `${left.nodes} nodes were added meanwhile: run this again.`;
  return left.lapsing
    ? 'Previous pairs and stored responses end within 24 hours. Former master keys are needed until then: run this again.'
    : 'No former master key is needed any more: remove MASTER_KEYS_PREVIOUS.';
}
