import { createHoldings as createTokenHoldings } from '../evm/holdings.ts';
import type { ScanMemory } from '../evm/scan.ts';
import type { Held, Holdings, Moved } from '../holdings.ts';
import type { MissingItems } from '../missing-items.ts';
import { LaggingNode, type Node, NodeFailure } from '../nodes/node.ts';
import { inParts } from '../ranges.ts';
import { toFields, toList, toMatch } from '../responses.ts';
import type { WatchedAddress } from '../transfer.ts';
import { readOrFailure } from '../unreadable.ts';
import { rpcOf, spell } from './json-rpc.ts';
import { toHexOrNothing, toSun } from './responses.ts';
import { readSolidHeight } from './solid.ts';
import { readTrxMoved } from './trx-movements.ts';

/** Balances that are asked for at once; the node's allowance decides how fast they come. */
const CONCURRENCY = 20;
/** Attempts to read balances that move while they are read. */
const ATTEMPTS = 5;
/** Most blocks in which the movements of TRX are read: an hour, some 360 MB. */
export const SPAN_MAXIMUM = 1_200;

const WORD = /^[0-9a-f]{64}$/i;
const NOTHING: Moved = { arrived: 0n, left: 0n };

/**
 * Balances after the newest solid block, as `/walletsolidity` shows them, and what moved them: tokens by their logs,
 * TRX by the transactions of solid blocks. No response names the block of a balance, and nothing proves a balance.
 */
export function createHoldings({
  ranges,
  misses,
}: Pick<ScanMemory, 'ranges' | 'misses'>): Holdings {
  const tokens = createTokenHoldings(ranges);

  async function readMoved(
    node: Node,
    { from, to }: { readonly from: number; readonly to: number },
    watch: readonly WatchedAddress[],
  ): Promise<readonly (Moved | null)[]> {
    const { hex } = spell(watch);
    const own = hex.filter(({ network }) => network.contract !== null);
    const moved = from < to && own.length > 0;
    const byLogs = moved ? await tokens.readMoved(rpcOf(node), { from, to }, own) : [];
    const ofToken = new Map(own.map((each, index) => [each, byLogs[index]]));
    const native = hex.flatMap(({ network, address }) =>
      network.contract === null ? [address] : [],
    );
    const isRead = native.length > 0 && to - from <= SPAN_MAXIMUM;
    const ofTrx = isRead ? await readTrxMoved(node, { from: from + 1, to }, native) : undefined;
    return hex.map(each =>
      each.network.contract === null
        ? (ofTrx?.get(each.address) ?? null)
        : (ofToken.get(each) ?? NOTHING),
    );
  }

  return {
    /**
     * All balances are of one block: if further blocks become solid during the read, balances that moved in them are
     * read again.
     */
    async read(node, { height: least }, watch) {
      const balances = new Map<WatchedAddress, bigint | null>();
      let pending = watch;
      let height = await readSolidHeight(node);
      if (height < least) {
        throw new LaggingNode(`${node.label} has block ${height} as the newest solid one`);
      }
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        for (const [each, balance] of await readBalances(node, pending, misses)) {
          balances.set(each, balance);
        }
        const after = await readSolidHeight(node);
        // Servers behind one URL may be some blocks apart.
        const [from, to] = after < height ? [after, height] : [height, after];
        if (to - from > SPAN_MAXIMUM) break;
        const moved = from < to ? await readMoved(node, { from, to }, watch) : [];
        height = to;
        pending = watch.filter((_, index) => hasMoved(moved[index]));
        if (pending.length === 0) return held(height, watch, balances);
      }
      throw new LaggingNode(`${node.label} shows no balances of one and the same block`);
    },

    readMoved,
  };
}

function hasMoved(moved: Moved | null = NOTHING): boolean {
  return moved === null || moved.arrived > 0n || moved.left > 0n;
}

function held(
  height: number,
  watch: readonly WatchedAddress[],
  balances: ReadonlyMap<WatchedAddress, bigint | null>,
): Held {
  return { height, balances: watch.map(each => balances.get(each) ?? null) };
}

/**
 * Balances after a solid block; null for one that several looks could not read.
 * @throws NodeFailure if a later look may read it.
 */
async function readBalances(
  node: Node,
  watch: readonly WatchedAddress[],
  misses: MissingItems,
): Promise<readonly (readonly [WatchedAddress, bigint | null])[]> {
  const { hex } = spell(watch);
  const read: (bigint | NodeFailure)[] = [];
  for (const together of inParts(hex, CONCURRENCY)) {
    read.push(...(await Promise.all(together.map(each => readBalance(node, each)))));
  }
  const failed = read.flatMap((failure, index) =>
    failure instanceof NodeFailure ? [{ failure, key: `${watch[index]?.address}` }] : [],
  );
  const [again] = misses.count(failed, ({ key }) => key, failed.length < read.length);
  if (again !== undefined) throw again.failure;
  return watch.map((each, index) => {
    const balance = read[index];
    return [each, typeof balance === 'bigint' ? balance : null] as const;
  });
}

/** In the asset's smallest unit; addresses are in hex. */
async function readBalance(
  node: Node,
  { network: { contract }, address }: WatchedAddress,
): Promise<bigint | NodeFailure> {
  const account = toWalletHex(address);
  if (contract === null) {
    const response = await node.post('/walletsolidity/getaccount', { address: account });
    return readOrFailure(() => toTrxBalance(node, response, address));
  }
  const response = await node.post('/walletsolidity/triggerconstantcontract', {
    owner_address: account,
    contract_address: toWalletHex(contract),
    function_selector: 'balanceOf(address)',
    parameter: address.slice(2).padStart(64, '0'),
  });
  return readOrFailure(() => toTokenBalance(node, response));
}

function toWalletHex(address: string): string {
  return `41${address.slice(2)}`;
}

/** The node returns an empty object for an account that has never received anything. */
function toTrxBalance(node: Node, response: unknown, address: string): bigint {
  const fields = toFields(node, response, 'an account');
  if (fields.address === undefined && Object.keys(fields).length === 0) return 0n;
  if (toHexOrNothing(fields.address) !== address) {
    throw new NodeFailure(`${node.label}: another account came than was asked for`);
  }
  return toSun(node, fields.balance, 'the balance of an account');
}

function toTokenBalance(node: Node, response: unknown): bigint {
  const { result, constant_result: returned } = toFields(node, response, 'a call of a contract');
  const { result: hasSucceeded } = toFields(node, result, 'the result of a call');
  if (hasSucceeded !== true) throw new NodeFailure(`${node.label}: a balance was not returned`);
  const [word] = toList(node, returned, 'what a call returns');
  return BigInt(`0x${toMatch(node, word, WORD, 'a balance', 'word')}`);
}
