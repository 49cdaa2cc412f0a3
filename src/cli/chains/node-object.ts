import type { VerifiedNode } from '#onchain/watching/operate/manage-nodes.ts';
import { describeIdentity } from '#onchain/watching/verify-identity.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { NodeRow } from '#storage/database/watching-tables.ts';

/** A node as the command line shows it: never its URL or headers. */
export function nodeObject(node: NodeRow) {
  return {
    id: node.id,
    chain: node.chain,
    label: node.label,
    role: node.role,
    requestsPerSecond: node.requests_per_second,
    callsPerDay: node.calls_per_day,
    abilities: node.abilities,
    verifiedAt: node.verified_at,
    createdAt: node.created_at,
  };
}

/** A node with the results of its verification. */
export function verifiedNodeObject({ node, report, networks }: VerifiedNode) {
  return {
    ...nodeObject(node),
    identity: describeIdentity(report.identity),
    height: report.height,
    networks: networks.map(network => ({
      id: network.id,
      settledBy: network.settled_by,
      problem: problemOf(network, report.networks.find(({ id }) => id === network.id)?.problem),
    })),
  };
}

function problemOf({ settled_by, chain }: Network, found?: string | null): string | null {
  if (settled_by === 'chain') return null;
  return found ?? (settled_by === 'nobody' ? `${chain} has no primary node` : null);
}
