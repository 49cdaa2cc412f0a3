import { failureOf, type Node, NodeFailure } from '#chains/nodes/node.ts';
import type { Block } from '#chains/transfer.ts';
import { newId } from '#crypto/new-id.ts';
import type { ChainBlock, ChainState } from '#storage/database/watching-tables.ts';
import { addFinding } from '#storage/repositories/chains/findings.ts';
import type { Watcher } from '../watcher.ts';
import { halt } from './halt.ts';

/** A claim of a node that contradicts the recorded blocks. */
interface Claim {
  readonly node: Node;
  /** The last recorded block, which the node does not have; undefined if it is not stored any more. */
  readonly recorded: ChainBlock | undefined;
  /** The claim in words. */
  readonly text: string;
  /** The node's newest block, if it is below the recorded one: then the node may only lag. */
  readonly tip?: Block;
}

/** What another node says of a claim. */
export interface Verdict {
  /** Whether the claim is wrong; otherwise two nodes contradict each other, and nobody knows which is right. */
  readonly isWrong: boolean;
  /** Both answers in words. */
  readonly reason: string;
}

/**
 * Asks another node before a single node can halt a chain or undo what was recorded. A check node decides, since it
 * records nothing. Another primary node may have recorded the block itself, so its word is worth no more than that of
 * the first node. It can only show that the first node lags, if both are on the same chain.
 * @returns undefined if no other node has the last recorded block.
 */
export async function askAnother(
  watcher: Watcher,
  { node, recorded, text, tip }: Claim,
  signal: AbortSignal,
): Promise<Verdict | undefined> {
  if (recorded === undefined) return undefined;
  const { adapter, chain } = watcher;
  return readFromAnother(watcher, node, signal, async other => {
    const block = await adapter.readBlock(other, recorded.height);
    if (block?.hash !== recorded.hash) return undefined;
    const reason = `${text}, and ${other.label} has the last one, ${recorded.height}`;
    if (other.role === 'check') return { isWrong: true, reason };
    // A newest block that is lower but younger than the recorded one is on another chain.
    const mayLag =
      tip !== undefined && tip.time.getTime() <= recorded.at.getTime() + chain.clockSkewMs;
    const isWrong = mayLag && (await adapter.readBlock(other, tip.height))?.hash === tip.hash;
    return { isWrong, reason };
  });
}

/**
 * Why a halted chain must not resume although a node has the last recorded block: another node has a different block
 * at its height. undefined if there is no reason.
 */
export function findContradiction(
  watcher: Watcher,
  node: Node,
  { cursor_height: height, cursor_hash: hash }: ChainState,
  signal: AbortSignal,
): Promise<string | undefined> {
  return readFromAnother(watcher, node, signal, async other => {
    const block = height === null ? null : await watcher.adapter.readBlock(other, height);
    if (block === null || block.hash === hash) return undefined;
    return `${node.label} has the last recorded block, ${height}, and ${other.label} has another one there`;
  });
}

/** Sets aside a node whose claim is wrong, and adds a finding; throws NodeFailure, LeaseLost. */
export async function setAside(watcher: Watcher, node: Node, reason: string): Promise<never> {
  watcher.nodes.distrust(node.id, reason);
  await tell(watcher, 'node_set_aside', `${reason}.`);
  throw new NodeFailure(reason);
}

/** Halts a chain on which two nodes contradict each other, and adds a finding; throws LeaseLost. */
export async function haltUndecided(
  watcher: Watcher,
  node: Node,
  state: ChainState,
  reason: string,
): Promise<void> {
  const undecided = `${reason}: nobody knows which of the two is right`;
  await tell(watcher, 'nodes_contradict', `${undecided}.`);
  await halt(watcher, node, state, undecided);
}

async function tell({ chain, clock, lease }: Watcher, kind: string, detail: string): Promise<void> {
  const finding = { id: newId(), chain: chain.id, kind, detail };
  await lease.write(tx => addFinding(tx, finding, new Date(clock())));
}

/** Reads from another node; undefined also if there is none, or it cannot be asked. */
async function readFromAnother<T>(
  { chain, log, nodes }: Watcher,
  node: Node,
  signal: AbortSignal,
  read: (other: Node) => Promise<T | undefined>,
): Promise<T | undefined> {
  let other: Node | null = null;
  try {
    other = await nodes.another(node.id, signal);
    return other === null ? undefined : await read(other);
  } catch (error) {
    const failure = failureOf(other, error);
    if (failure === undefined) throw error;
    if (other !== null) nodes.reportFailure(other.id, failure);
    log.warn({ err: error, chain: chain.id }, 'no other node says whether the chain has gone on');
    return undefined;
  }
}
