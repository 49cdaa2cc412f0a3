import type { Connection } from '#storage/database/connection.ts';
import type { Network, SettledBy } from '#storage/database/network-tables.ts';
import { updateNetwork } from '#storage/repositories/chains/networks.ts';
import { listNodes } from '#storage/repositories/chains/nodes.ts';
import { listNetworksOfChain } from '#storage/repositories/chains/setup.ts';
import { CommandRefused } from './command-refused.ts';
import type { TokenCheck } from './verify-node.ts';

/**
 * Records who settles payments on the networks of a chain, after its nodes or their contracts have changed: its
 * watcher, the simulation if it has no node, or nobody if no node can see them. Call it with the chain locked.
 * @param checks The tokens that a primary node was just checked for; other networks stay as they are.
 * @throws CommandRefused if a check contradicts what another node saw.
 */
export async function settleNetworks(
  tx: Connection,
  chain: string,
  checks: readonly TokenCheck[],
): Promise<Network[]> {
  const nodes = await listNodes(tx, chain);
  const networks = await listNetworksOfChain(tx, chain);
  const settled: Network[] = [];
  for (const network of networks) {
    const check = checks.find(({ id }) => id === network.id);
    const settledBy: SettledBy =
      nodes.length === 0
        ? 'simulation'
        : nodes.some(({ role }) => role === 'primary')
          ? seenBy(network, check)
          : 'nobody';
    if (settledBy !== network.settled_by)
      await updateNetwork(tx, network.id, { settled_by: settledBy });
    settled.push({ ...network, settled_by: settledBy });
  }
  return settled;
}

function seenBy({ id, settled_by }: Network, check: TokenCheck | undefined): SettledBy {
  if (check?.problem === null) return 'chain';
  if (check !== undefined && settled_by === 'chain') {
    throw new CommandRefused(
      `The node contradicts the others of its chain on ${id}: ${check.problem}.`,
    );
  }
  return settled_by === 'chain' ? 'chain' : 'nobody';
}
