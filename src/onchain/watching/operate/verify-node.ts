import type { ChainAdapter } from '#chains/adapter.ts';
import type { Chain } from '#chains/chain-list.ts';
import { type Node, NodeFailure, RpcError, WrongIdentity } from '#chains/nodes/node.ts';
import type { NodeSettings } from '#chains/nodes/node-settings.ts';
import { openNode } from '#chains/nodes/open-node.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { NodeAbilities } from '#storage/database/watching-tables.ts';
import type { Clock } from '#time/clock.ts';
import { verifyIdentity } from '../verify-identity.ts';
import { CommandRefused } from './command-refused.ts';

/** Timeout of a verification, in milliseconds: a dozen calls to a slow node. */
const TIMEOUT_MS = 60_000;

/** Abilities that are assumed before a node is probed. */
export const UNKNOWN_ABILITIES: NodeAbilities = {
  trace: null,
  logRange: null,
  batch: 100,
  archive: false,
  pruneHeight: null,
};

/** The result of a node's check of a network's token. */
export interface TokenCheck {
  readonly id: string;
  /** Why payments on the network cannot be seen by this node; null if they can. */
  readonly problem: string | null;
}

/** The result of a node's verification. */
export interface NodeReport {
  readonly identity: string;
  readonly abilities: NodeAbilities;
  /** Its newest block. */
  readonly height: number;
  /** Every network of the chain, in the order of the documentation. */
  readonly networks: readonly TokenCheck[];
}

interface Verification {
  readonly adapter: ChainAdapter;
  readonly chain: Chain;
  readonly networks: readonly Network[];
  /** Identity of the chain's other nodes; null for the first one. */
  readonly identity: string | null;
  readonly isProduction: boolean;
  readonly clock: Clock;
}

/**
 * Reads the identity and the abilities of a node.
 * @throws CommandRefused if it is no node of the chain, or does not answer.
 */
export function verifyNode(
  settings: NodeSettings,
  verification: Verification,
): Promise<NodeReport> {
  const { adapter, chain, networks } = verification;
  return askNode(settings, verification.clock, async (node, batchLimit) => {
    const identity = await verifyIdentity(adapter, chain, node, verification);
    const abilities = await adapter.probe(node);
    // This is one batch, which shows whether the node accepts batches.
    const { tip } = await adapter.readHeads(node, 0);
    const checks: TokenCheck[] = [];
    for (const network of networks) {
      checks.push({ id: network.id, problem: await findProblem(adapter, node, network) });
    }
    const batch = Math.min(abilities.batch, batchLimit() ?? abilities.batch);
    return { identity, abilities: { ...abilities, batch }, height: tip.height, networks: checks };
  });
}

/**
 * Opens a node, runs a few calls and closes it.
 * @throws CommandRefused, which says that the node is of another chain, or why it could not be asked.
 */
export async function askNode<T>(
  settings: NodeSettings,
  clock: Clock,
  ask: (node: Node, batchLimit: () => number | null) => Promise<T>,
): Promise<T> {
  const open = openNode(settings, { clock });
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await ask(open.within(timeout), open.batchLimit);
  } catch (error) {
    if (error instanceof WrongIdentity) {
      throw new CommandRefused(`The node ${settings.label} is refused: ${error.message}.`);
    }
    if (timeout.aborted) throw unanswered(settings, `it took more than ${TIMEOUT_MS / 1000} s`);
    // The node did not say what it is, which does not mean that it is wrong.
    if (error instanceof RpcError) {
      throw unanswered(settings, `it answered "${error.message}" (${error.code})`);
    }
    if (error instanceof NodeFailure) {
      throw new CommandRefused(`The node could not be asked: ${error.message}.`);
    }
    throw error;
  } finally {
    await open.close();
  }
}

function unanswered({ label }: NodeSettings, reason: string): CommandRefused {
  return new CommandRefused(`The node ${label} could not be asked: ${reason}.`);
}

/** Why payments on a network cannot be seen by a node; null if they can. */
async function findProblem(
  adapter: ChainAdapter,
  node: Node,
  network: Network,
): Promise<string | null> {
  const { id, contract, chain } = network;
  // The network of the native asset has the ID of its chain.
  if (id === chain) return null;
  return contract === null
    ? `no contract is configured: mp network set ${id} --contract ADDRESS`
    : findTokenProblem(adapter, node, contract, network);
}

/** What is wrong with a token's contract, as a node sees it; null if nothing is. */
export async function findTokenProblem(
  adapter: ChainAdapter,
  node: Node,
  contract: string,
  { asset_symbol: symbol, asset_decimals: decimals }: Network,
): Promise<string | null> {
  const found = await adapter.readDecimals(node, contract);
  if (found === decimals) return null;
  return found === undefined
    ? `there is no token at ${contract}; ${symbol} with ${decimals} decimals was expected`
    : `the token at ${contract} has ${found} decimals; ${symbol} has ${decimals}`;
}
