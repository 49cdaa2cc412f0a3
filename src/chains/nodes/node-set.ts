import type { BaseLogger } from 'pino';
import type { Keyring } from '#crypto/keyring.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { Clock } from '#time/clock.ts';
import type { Wait } from './allowance.ts';
import type { Look } from './daily-quota.ts';
import type { NodeStatus } from './member.ts';
import type { Node } from './node.ts';

export interface NodeSetOptions {
  readonly db: Connection;
  readonly chain: string;
  /** How long a head may stand still, or be behind another node's, in milliseconds. */
  readonly staleHeadMs: number;
  /** Time between two blocks when they come fast, in milliseconds. */
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
  /** Whether the node has a block of this height. Without it, a reported height is believed without proof. */
  readonly hasBlock?: (node: Node, height: number) => Promise<boolean>;
  /** Whether states are written to the database and to metrics, as only the chain's watcher does. */
  readonly reports?: boolean;
  /** Calls a second to each node, if it is less than what the node allows. */
  readonly requestsPerSecond?: number;
  /** Waits for the allowance and for the end of short pauses; for tests. */
  readonly wait?: Wait;
}

/** The nodes of one chain in one process. */
export interface NodeSet {
  /**
   * Reads the configured nodes, and begins to ask those that are not in use for their heads. Call it before each
   * tick.
   */
  refresh(): Promise<void>;
  /**
   * Whether the daily quotas of the nodes that come first, a primary and a check node, allow a look now: they have to
   * last for the day. If so, the look begins.
   */
  mayLook(look: Look): boolean;
  /**
   * The first primary node that is verified, responds and is not behind. If all are behind, the one
   * with the highest block: the chain itself may stand still.
   * @throws NodeFailure if no primary node can be asked, or the signal's reason if it is aborted.
   */
  primary(signal: AbortSignal): Promise<Node>;
  /**
   * The first check node that can be asked; null if the chain has none.
   * @param spares Whether to leave out nodes whose daily quota is used up; false unless given.
   * @throws NodeFailure if the chain has check nodes and none can be asked, for instance because this process cannot
   * decrypt their access; or the signal's reason.
   */
  check(signal: AbortSignal, spares?: boolean): Promise<Node | null>;
  /**
   * Another node than this one, to tell which of two is right: a check node, if one can be asked, else a primary
   * one; null if the chain has none.
   * @throws NodeFailure if none can be asked, or the signal's reason.
   */
  another(nodeId: string, signal: AbortSignal): Promise<Node | null>;
  /**
   * Accepts the height of a node's newest block, by which other nodes are then judged. First the node is verified
   * on every connection that may have reported it. If the height is implausible, it is verified in any case,
   * and has to show a block near that height.
   * @throws NodeFailure, RpcError, or the signal's reason if it is aborted.
   */
  acceptHead(nodeId: string, height: number, signal: AbortSignal): Promise<void>;
  /** Counts a failure that an adapter found, such as inconsistent responses. Failed requests are counted already. */
  reportFailure(nodeId: string, failure: Error): void;
  /** To be called when every call for one purpose, such as a tick, has succeeded. */
  reportSuccess(nodeId: string): void;
  /** Milliseconds until a primary node may be asked; 0 if one may be asked now, infinite without any. */
  pausedFor(): number;
  /** To be called when a node turns out to be of another chain. */
  distrust(nodeId: string, reason: string): void;
  /** undefined for a node that is not in the set. */
  state(nodeId: string): NodeStatus | undefined;
  /** In the order in which they are asked, check nodes last. */
  states(): NodeStatus[];
  close(): Promise<void>;
}
