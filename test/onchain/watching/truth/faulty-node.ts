import { type Node, type NodeCall, NodeFailure, RpcError } from '#chains/nodes/node.ts';
import { answerBitcoin } from './bitcoin.ts';
import { answerEvm } from './evm-node.ts';
import type { Branch, GeneratedChain } from './generated-chain.ts';
import type { Slot } from './slots.ts';
import { answerSolana } from './solana.ts';
import type { View } from './view.ts';
import type { Mishap, Turn, World } from './world.ts';

const ANSWERS = { evm: answerEvm, bitcoin: answerBitcoin, solana: answerSolana } as const;

/** The process was ended with `kill -9`. */
export class Killed extends Error {}

/** The faults of a node during a round. */
export interface Round extends Pick<Turn, 'mishap' | 'logLag' | 'logRange' | 'isLying'> {
  /** Runs what happens at the mishap's call, before the response. */
  onCall(kind: Mishap): Promise<void> | void;
}

/** The most that another backend lags behind, in blocks and in milliseconds. */
const LAG = 2;
export const LAG_MS = 20_000;

/** A node of a generated chain in this process, with a JSON-RPC interface. */
export interface FaultyNode extends Node {
  /** Begins a round, and resets the count of calls. */
  begin(round: Round): void;
}

/**
 * @param show The branch that the node is on.
 * @param clock In milliseconds since the epoch.
 * @param onAsked Called for each request, to simulate its latency.
 */
export function createFaultyNode(
  { slot, isIndexed, undone, runsPrograms, givesBlockReceipts }: World,
  chain: GeneratedChain,
  role: Node['role'],
  show: () => Branch,
  clock: () => number,
  onAsked: () => void,
): FaultyNode {
  let round: Round | undefined;
  let asked = 0;
  let isLagging = false;
  let hasForked = false;
  const answer = ANSWERS[slot.family as Slot['family']];

  function view(): View {
    const whole = show();
    const hidden = whole.slice(-LAG).filter(({ madeAt }) => madeAt > clock() - LAG_MS);
    const branch = isLagging ? whole.slice(0, whole.length - hidden.length) : whole;
    const finalHeight = slot.chain === 'avax' ? branch.length - 1 : chain.finalHeight(branch);
    const tip = branch.at(-1)?.height ?? 0;
    return {
      branch,
      finalHeight,
      isIndexed,
      settledHeight: whole.length - 1 - undone,
      runsPrograms,
      givesBlockReceipts,
      logRange: round?.logRange ?? 1_000,
      isLying: role === 'primary' && round?.isLying === true,
      // Every backend has the final blocks.
      logsUpTo: Math.max(finalHeight, tip - (round?.logLag ?? 0)),
      leavesOut(transaction, kinds) {
        const isLeftOut = chain.isLeftOut(transaction, role, kinds, clock());
        chain.hasLeftOut ||= isLeftOut;
        return isLeftOut;
      },
    };
  }

  async function ask(calls: readonly NodeCall[]): Promise<(unknown | RpcError)[]> {
    const { kind, call } = round?.mishap ?? {};
    const isNow = kind === 'deep fork' ? !hasForked && isLookUp(calls) : asked === call;
    hasForked ||= isNow;
    asked += 1;
    onAsked();
    await undefined;
    if (isNow && kind !== undefined) await round?.onCall(kind);
    if (isNow && kind === 'no answer') throw new NodeFailure(`${role} does not answer`);
    if (isNow && kind === 'lag') isLagging = true;
    return calls.map(each => {
      if (isNow && kind === 'error') return new RpcError(-32_603, 'internal error');
      if (isNow && kind === 'no block' && each.method === 'eth_getBlockByNumber') return null;
      try {
        return answer(view(), chain, each);
      } catch (error) {
        if (error instanceof RpcError) return error;
        throw error;
      }
    });
  }

  return {
    id: role,
    label: role,
    role,
    abilities: { trace: null, logRange: null, batch: 50, archive: false, pruneHeight: null },
    async call(method, params) {
      const [result] = await ask([{ method, params }]);
      if (result instanceof RpcError) throw result;
      return result;
    },
    batch: calls => (calls.length === 0 ? Promise.resolve([]) : ask(calls)),
    post: () => Promise.reject(new NodeFailure('no chain of these is asked by paths')),
    begin(next) {
      round = next;
      asked = 0;
      isLagging = false;
      hasForked = false;
    },
  };
}

/** Whether the request looks up transactions that are already known. */
function isLookUp([first, second]: readonly NodeCall[]): boolean {
  const isBitcoin = first?.method === 'getrawtransaction' && first.params.length === 3;
  return isBitcoin || second?.method === 'eth_getTransactionByHash';
}
