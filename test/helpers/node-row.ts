import { newId } from '#crypto/new-id.ts';
import type { insertNode } from '#storage/repositories/chains/nodes.ts';

type NodeRow = Parameters<typeof insertNode>[1];

/** A row of an Ethereum primary node that is never called; `more` overrides columns. */
export const nodeRow = (since: Date, more: Partial<NodeRow> = {}): NodeRow => ({
  id: newId(),
  chain: 'eth',
  role: 'primary',
  position: 1,
  label: 'node.example',
  access: Buffer.of(0),
  master_key_version: 1,
  requests_per_second: 10,
  abilities: { trace: null, logRange: null, batch: 1, archive: false, pruneHeight: null },
  verified_at: since,
  created_at: since,
  updated_at: since,
  ...more,
});
