import { audited, columnsToSet, type Operator } from '#accounts/audit/audited-change.ts';
import type { Chain } from '#chains/chain-list.ts';
import {
  hostNameOf,
  InvalidAccess,
  parseNodeAccess,
  sealAccess,
} from '#chains/nodes/node-access.ts';
import { type NodeSettings, settingsOf } from '#chains/nodes/node-settings.ts';
import { newId } from '#crypto/new-id.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Network } from '#storage/database/network-tables.ts';
import type { NodeRole, NodeRow } from '#storage/database/watching-tables.ts';
import { cutRing } from '#storage/repositories/chains/blocks.ts';
import { findChain } from '#storage/repositories/chains/chains.ts';
import { cutBalances } from '#storage/repositories/chains/held-balances.ts';
import {
  deleteNode,
  findNode,
  insertNode,
  listNodes,
  updateNode,
} from '#storage/repositories/chains/nodes.ts';
import {
  listNetworksOfChain,
  lockChainSetup,
  resetChain,
  setChainIdentity,
} from '#storage/repositories/chains/setup.ts';
import { describeIdentity } from '../verify-identity.ts';
import { CommandRefused } from './command-refused.ts';
import { adapterFor, type NodeTools, requireChain } from './node-tools.ts';
import { settleNetworks } from './settled-networks.ts';
import { type NodeReport, UNKNOWN_ABILITIES, verifyNode } from './verify-node.ts';

/** Default limit of calls a second to a node: what free plans allow. */
export const REQUESTS_PER_SECOND = 10;

interface NewNodeSettings {
  readonly chain: string;
  /** May contain `user:password@`. */
  readonly url: string;
  /** Each as `NAME: VALUE`. */
  readonly headers?: readonly string[] | undefined;
  readonly role?: NodeRole | undefined;
  /** Default: the URL's host. */
  readonly label?: string | undefined;
  readonly requestsPerSecond?: number | undefined;
  /** Limit of calls on a UTC day; null for no limit, the default. */
  readonly callsPerDay?: number | null | undefined;
}

/** Changes of a node; undefined fields stay as they are. */
interface NodeSettingsChange {
  readonly role?: NodeRole | undefined;
  readonly requestsPerSecond?: number | undefined;
  /** null for no limit. */
  readonly callsPerDay?: number | null | undefined;
}

/** A node, its verification, and the networks of its chain as they are settled now. */
export interface VerifiedNode {
  readonly node: NodeRow;
  readonly report: NodeReport;
  readonly networks: readonly Network[];
}

/**
 * Verifies a node and adds it to its chain, as the last one of its role to be asked.
 * @throws CommandRefused for a chain that cannot be watched, an unusable URL or header, a label that is
 * taken, a node that does not answer, and one of another chain.
 */
export async function addNode(
  operator: Operator,
  tools: NodeTools,
  settings: NewNodeSettings,
): Promise<VerifiedNode> {
  const { role = 'primary', requestsPerSecond = REQUESTS_PER_SECOND } = settings;
  const { callsPerDay = null } = settings;
  const chain = requireChain(settings.chain);
  const access = accessOf(settings);
  const id = newId();
  const host = hostNameOf(access);
  const report = await verify(operator, tools, chain, {
    id,
    chain: chain.id,
    label: settings.label ?? host,
    role,
    requestsPerSecond,
    access,
    abilities: UNKNOWN_ABILITIES,
  });
  return audited(operator, 'node.add', async (tx, now) => {
    await requireIdentity(tx, chain, report.identity);
    const others = await listNodes(tx, chain.id);
    const label = settings.label ?? freeLabel(host, others);
    if (others.some(other => other.label === label)) {
      throw new CommandRefused(`${chain.id} has a node named ${label} already.`);
    }
    const node = await insertNode(tx, {
      id,
      chain: chain.id,
      role,
      label,
      position: Math.max(0, ...others.map(({ position }) => position)) + 1,
      access: sealAccess(tools.keyring, id, access),
      master_key_version: tools.keyring.currentVersion,
      requests_per_second: requestsPerSecond,
      calls_per_day: callsPerDay,
      abilities: report.abilities,
      verified_at: now,
      created_at: now,
      updated_at: now,
    });
    const networks = await settleNetworks(tx, chain.id, role === 'primary' ? report.networks : []);
    const asked = { role, requestsPerSecond, callsPerDay };
    const detail = { chain: chain.id, label, ...asked, identity: report.identity };
    return { result: { node, report, networks }, objectId: id, detail };
  });
}

/**
 * Changes the role or the limits of a node. A node that becomes primary is verified first.
 * @throws CommandRefused for an unknown node, and as `addNode`; OperationRefused when nothing is to be set.
 */
export async function setNode(
  operator: Operator,
  tools: NodeTools,
  id: string,
  change: NodeSettingsChange,
): Promise<NodeRow> {
  const columns = columnsToSet({
    role: change.role,
    requests_per_second: change.requestsPerSecond,
    calls_per_day: change.callsPerDay,
  });
  const current = await requireNode(operator.db, id);
  const report = change.role === 'primary' ? await verifyRow(operator, tools, current) : undefined;
  return audited(operator, 'node.set', async (tx, now) => {
    await lockChainSetup(tx, current.chain);
    if (report !== undefined)
      await requireIdentity(tx, requireChain(current.chain), report.identity);
    const node = await updateNode(tx, id, {
      ...columns,
      ...(report && { abilities: report.abilities, verified_at: now }),
      updated_at: now,
    });
    if (node === undefined) throw unknownNode(id);
    await settleNetworks(tx, node.chain, report?.networks ?? []);
    const detail = { chain: node.chain, label: node.label, ...change };
    return { result: node, objectId: id, detail };
  });
}

/**
 * Verifies a node again, and stores its current abilities.
 * @throws CommandRefused for an unknown node, and as `addNode`; then nothing is changed.
 */
export async function testNode(
  operator: Operator,
  tools: NodeTools,
  id: string,
): Promise<VerifiedNode> {
  const current = await requireNode(operator.db, id);
  const report = await verifyRow(operator, tools, current);
  return audited(operator, 'node.test', async (tx, now) => {
    await requireIdentity(tx, requireChain(current.chain), report.identity);
    const { abilities } = report;
    const node = await updateNode(tx, id, { abilities, verified_at: now, updated_at: now });
    if (node === undefined) throw unknownNode(id);
    const checks = node.role === 'primary' ? report.networks : [];
    const networks = await settleNetworks(tx, node.chain, checks);
    const detail = { chain: node.chain, label: node.label, identity: report.identity };
    return { result: { node, report, networks }, objectId: id, detail };
  });
}

/**
 * Removes a node. After its last node is removed a chain is not watched any more: its watcher's state is deleted,
 * and payments that waited for it expire.
 * @throws CommandRefused for an unknown node.
 */
export async function removeNode(operator: Operator, id: string): Promise<NodeRow> {
  const current = await requireNode(operator.db, id);
  return audited(operator, 'node.remove', async tx => {
    await lockChainSetup(tx, current.chain);
    const node = await requireNode(tx, id);
    await deleteNode(tx, id);
    if ((await listNodes(tx, node.chain)).length === 0) {
      await resetChain(tx, node.chain);
      await cutRing(tx, node.chain, -1);
      await cutBalances(tx, node.chain, -1);
    }
    await settleNetworks(tx, node.chain, []);
    const detail = { chain: node.chain, label: node.label, role: node.role };
    return { result: node, objectId: id, detail };
  });
}

async function requireNode(db: Connection, id: string): Promise<NodeRow> {
  const node = await findNode(db, id);
  if (node === undefined) throw unknownNode(id);
  return node;
}

function unknownNode(id: string): CommandRefused {
  return new CommandRefused(`There is no node ${id}.`);
}

function verifyRow(operator: Operator, tools: NodeTools, row: NodeRow): Promise<NodeReport> {
  const settings = { ...settingsOf(tools.keyring, row), abilities: UNKNOWN_ABILITIES };
  return verify(operator, tools, requireChain(row.chain), settings);
}

async function verify(
  { db, clock }: Operator,
  tools: NodeTools,
  chain: Chain,
  settings: NodeSettings,
): Promise<NodeReport> {
  const adapter = adapterFor(tools, chain);
  const networks = await listNetworksOfChain(db, chain.id);
  const identity = (await findChain(db, chain.id))?.identity ?? null;
  const { isProduction } = tools;
  return verifyNode(settings, { adapter, chain, networks, identity, isProduction, clock });
}

/** Locks the chain and compares its identity again: another node may have been added meanwhile. */
async function requireIdentity(tx: Connection, chain: Chain, identity: string): Promise<void> {
  const state = await lockChainSetup(tx, chain.id);
  const known = state?.identity ?? null;
  if (known === null) await setChainIdentity(tx, chain.id, identity);
  else if (known !== identity) {
    throw new CommandRefused(
      `The node is refused: it is a node of ${describeIdentity(identity)}; the others of ${chain.id} are of ${describeIdentity(known)}.`,
    );
  }
}

function accessOf({ url, headers = [] }: NewNodeSettings) {
  try {
    return parseNodeAccess(url, headers);
  } catch (error) {
    throw error instanceof InvalidAccess ? new CommandRefused(error.message) : error;
  }
}

/** The host's name, with a number from the second node on. */
function freeLabel(host: string, others: readonly NodeRow[]): string {
  const isTaken = (label: string) => others.some(other => other.label === label);
  let label = host;
  for (let number = 2; isTaken(label); number += 1) label = `${host}-${number}`;
  return label;
}
