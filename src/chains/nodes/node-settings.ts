import type { Keyring } from '#crypto/keyring.ts';
import type { NodeRow } from '#storage/database/watching-tables.ts';
import type { Node } from './node.ts';
import { type NodeAccess, openAccess } from './node-access.ts';

export interface NodeSettings extends Pick<Node, 'id' | 'label' | 'role' | 'abilities'> {
  readonly chain: string;
  readonly requestsPerSecond: number;
  readonly access: NodeAccess;
}

/**
 * The settings of a stored node, with its access.
 * @throws Error if the keyring lacks the master key.
 */
export function settingsOf(keyring: Keyring, row: NodeRow): NodeSettings {
  const { id, chain, label, role, abilities } = row;
  const requestsPerSecond = row.requests_per_second;
  return { id, chain, label, role, abilities, requestsPerSecond, access: openAccess(keyring, row) };
}
