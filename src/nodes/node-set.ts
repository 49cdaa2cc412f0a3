import type { BaseLogger } from 'pino';
import type { Keyring } from '../crypto/keyring.ts';
import type { Connection } from '../database/connection.ts';
import type { Clock } from '../time/clock.ts';
import type { Wait } from './allowance.ts';
import type { Look } from './daily-quota.ts';
import type { NodeStatus } from './member.ts';
import type { Node } from './node.ts';

export interface NodeSetOptions {
  readonly db: Connection;
  readonly chain: string;
  /** How long a head may stand still, or be behind another node's, in milliseconds. */
  readonly staleHeadMs: number;
  /** Time between two blocks where they come fast, in milliseconds. */
  readonly blockMs: number;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly logger: Pick<BaseLogger, 'error' | 'warn' | 'info'>;
  /**
   * Throws WrongIdentity unless the node is one of the chain. Called before a node is first used, after
   * its failures and hourly.
   */
  readonly verify: (node: Node) => Promise<void>;
  /** Height of the node's newest block. Without it, nodes that are not in use are not asked. */
  readonly readHeight?: (node: Node) => Promise<number>;
  /** Whether the node has a block of this height. Without it, what a node tells of its newest is enough. */
  readonly hasBlock?: (node: Node, height: number) => Promise<boolean>;
  /** Whether states are kept in the database and in metrics: the chain's watcher does, others only ask. */
  readonly reports?: boolean;
  /** Calls a second to each node, if it is less than what the node allows. */
  readonly requestsPerSecond?: number;
  /** Waits for the allowance and for the end of short pauses; for tests. */
  readonly wait?: Wait;
}

/** The nodes of one chain, as one process asks them. */
export interface NodeSet {
  /**
   * Reads the nodes that are configured now, and asks those for their heads that are not in use. Call it
   * before each tick.
   */
  refresh(): Promise<void>;
  /**
   * Whether it is time for a look, as far as the daily quotas of the nodes go that are asked first, a primary
   * and a check node: they have to last for the day. If so, the look begins.
   */
  mayLook(look: Look): boolean;
  /**
   * The first primary node that is verified, answers and is not behind. Where all are behind, the one
   * with the highest block: the chain itself may stand still.
   * @throws NodeFailure if no primary node can be asked, or the signal's reason if it is aborted.
   */
  primary(signal: AbortSignal): Promise<Node>;
  /**
   * The first check node that can be asked; null if the chain has none.
   * @param spares Whether none is to be asked whose calls of the day are used up. Not so unless given.
   * @throws NodeFailure if there are some and none can be asked, even because the access to it cannot be
   * opened here; or the signal's reason.
   */
  check(signal: AbortSignal, spares?: boolean): Promise<Node | null>;
  /**
   * Another node than this one, to tell which of two is right: a check node, if one can be asked, else a primary
   * one; null if the chain has none.
   * @throws NodeFailure if none can be asked, or the signal's reason.
   */
  another(nodeId: string, signal: AbortSignal): Promise<Node | null>;
  /**
   * Takes the height of a node's newest block for true, which other nodes are then measured by: once the node
   * is verified on every connection that it was told on and, where the height is out of reach, once more,
   * and shows that it has blocks up there.
   * @throws NodeFailure, RpcError, or the signal's reason if it is aborted.
   */
  acceptHead(nodeId: string, height: number, signal: AbortSignal): Promise<void>;
  /** Tells a NodeFailure of an adapter: answers that do not fit together. Others are counted already. */
  reportFailure(nodeId: string, failure: Error): void;
  /** Tells that all that was asked of a node for one purpose, such as a tick, was answered well. */
  reportSuccess(nodeId: string): void;
  /** Milliseconds until a primary node may be asked; 0 if one may be now, infinite without any. */
  pausedFor(): number;
  /** Tells that a node has been found not to be one of the chain. */
  distrust(nodeId: string, reason: string): void;
  /** undefined for a node that is not in the set. */
  state(nodeId: string): NodeStatus | undefined;
  /** In the order in which they are asked, check nodes last. */
  states(): NodeStatus[];
  close(): Promise<void>;
}
