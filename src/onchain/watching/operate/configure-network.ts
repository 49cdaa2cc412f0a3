import type { Operator } from '#accounts/audit/audited-change.ts';
import { type NetworkChange, setNetwork } from '#accounts/networks.ts';
import { InvalidAddress, parseContract } from '#chains/address.ts';
import { parseFinality } from '#chains/finality.ts';
import { settingsOf } from '#chains/nodes/node-settings.ts';
import { parseBaseUnits } from '#payments/token-amount.ts';
import { untilHeard } from '#storage/database/change-feed.ts';
import type { Database } from '#storage/database/connection.ts';
import type { Network } from '#storage/database/network-tables.ts';
import { transact } from '#storage/database/transaction.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { findNetwork } from '#storage/repositories/chains/networks.ts';
import { listNodes } from '#storage/repositories/chains/nodes.ts';
import { listNetworksOfChain, lockChainSetup } from '#storage/repositories/chains/setup.ts';
import { verifyIdentity } from '../verify-identity.ts';
import { CommandRefused } from './command-refused.ts';
import { adapterFor, type NodeTools, requireChain } from './node-tools.ts';
import { settleNetworks } from './settled-networks.ts';
import { askNode, findTokenProblem, type TokenCheck } from './verify-node.ts';

/** Test tokens without an official contract, and one whose issuer may deploy another. */
export const CONFIGURABLE_CONTRACTS: readonly string[] = [
  'eth-usdt-test',
  'eth-usdc-test',
  'tron-usdt-test',
  'tron-usdc-test',
];

/** Given instead of a rule, it returns a network to the rule of its chain. */
export const DEFAULT_FINALITY = 'default';

/**
 * Changes a network for all merchants. A contract is verified with the chain's primary node, if it has one; in
 * production a network can be switched on only if a node watches it.
 * @throws CommandRefused for an unknown network, an invalid rule, amount or contract, a contract that is not the
 * token, and a network that no node watches in production; OperationRefused when nothing is to be set.
 */
export async function configureNetwork(
  operator: Operator & { readonly db: Database },
  tools: NodeTools,
  id: string,
  {
    contract: text,
    finality: rule,
    leastAmount: amount,
    ...change
  }: Omit<NetworkChange, 'finality' | 'leastAmount'> & {
    readonly finality?: string | undefined;
    /** A decimal of the asset, or `off`. */
    readonly leastAmount?: string | undefined;
  },
): Promise<Network> {
  const network = await findNetwork(operator.db, id);
  if (network === undefined) throw new CommandRefused(`There is no network ${id}.`);
  const finality = rule === undefined ? undefined : ruleFor(network, rule);
  const leastAmount = amount === undefined ? undefined : leastAmountOf(network, amount);
  const contract = text === undefined ? undefined : contractFor(network, text);
  const checks =
    contract === undefined ? [] : await verifyContract(operator, tools, network, contract);
  const configured = await transact(operator.db, async tx => {
    await lockChainSetup(tx, network.chain);
    if (contract !== undefined) await requireOwnContract(tx, network, contract);
    const set = await setNetwork({ ...operator, db: tx }, id, {
      ...change,
      contract,
      finality,
      leastAmount,
    });
    const settled = contract === undefined ? [] : await settleNetworks(tx, network.chain, checks);
    const result = settled.find(one => one.id === id) ?? set;
    if (change.active && tools.isProduction) requireWatched(result);
    return result;
  });
  await untilHeard(operator.db);
  return configured;
}

function ruleFor({ id, chain }: Network, rule: string): string | null {
  if (rule === DEFAULT_FINALITY) return null;
  try {
    const { steps } = parseFinality(rule);
    const hasOwn = requireChain(chain).family !== 'bitcoin';
    if (hasOwn || steps.every(({ blocks }) => blocks !== 'final')) return rule;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CommandRefused(`The rule "${rule}" is refused: ${error.message}.`);
  }
  throw new CommandRefused(
    `The rule "${rule}" is refused: ${id} has no finality of its own, so "final" would never come.`,
  );
}

function leastAmountOf(
  { id, asset_decimals: decimals, asset_symbol: symbol }: Network,
  text: string,
): bigint | null {
  if (text === 'off') return null;
  const amount = parseBaseUnits(text, decimals);
  if (amount !== undefined && amount > 0n) return amount;
  throw new CommandRefused(
    `The least amount of ${id} is refused: a decimal of ${symbol} with at most ${decimals} places, such as 0.001, or off.`,
  );
}

function contractFor({ id, family, environment }: Network, text: string): string {
  if (!CONFIGURABLE_CONTRACTS.includes(id)) {
    throw new CommandRefused(
      `The contract of ${id} cannot be set: only those of ${CONFIGURABLE_CONTRACTS.join(', ')} can.`,
    );
  }
  try {
    return parseContract(family, environment, text);
  } catch (error) {
    if (!(error instanceof InvalidAddress)) throw error;
    throw new CommandRefused(`The contract is refused: ${error.message}.`);
  }
}

async function requireOwnContract(
  tx: Database,
  { id, chain }: Network,
  contract: string,
): Promise<void> {
  const networks = await listNetworksOfChain(tx, chain);
  const other = networks.find(one => one.id !== id && one.contract === contract);
  if (other === undefined) return;
  throw new CommandRefused(`${contract} is the contract of ${other.id} already.`);
}

async function verifyContract(
  { db, clock }: Operator,
  tools: NodeTools,
  network: Network,
  contract: string,
): Promise<TokenCheck[]> {
  const nodes = await listNodes(db, network.chain);
  const primary = nodes.find(({ role }) => role === 'primary');
  if (primary === undefined) return [];
  const chain = requireChain(network.chain);
  const adapter = adapterFor(tools, chain);
  const identity = (await findChain(db, chain.id))?.identity ?? null;
  const problem = await askNode(settingsOf(tools.keyring, primary), clock, async node => {
    await verifyIdentity(adapter, chain, node, { identity, isProduction: tools.isProduction });
    return findTokenProblem(adapter, node, contract, network);
  });
  if (problem !== null) throw new CommandRefused(`The contract is refused: ${problem}.`);
  return [{ id: network.id, problem }];
}

function requireWatched({ id, chain, settled_by }: Network): void {
  if (settled_by === 'chain') return;
  throw new CommandRefused(
    settled_by === 'simulation'
      ? `${id} cannot be switched on: ${chain} has no verified primary node. Add one with mp node add ${chain} --url URL.`
      : `${id} cannot be switched on: no primary node of ${chain} has been found to see its payments. See mp node test ID.`,
  );
}
