import type { ChainAdapter, Heads, ScanRequest } from '../adapter.ts';
import type { Chain } from '../chain-list.ts';
import { readHeads as readEvmHeads, readHeight } from '../evm/heads.ts';
import { toAmount, toBlock, toParameter } from '../evm/responses.ts';
import { createScanMemory, type ScanMemory, scanBlocks } from '../evm/scan.ts';
import { readTokenDecimals } from '../evm/token-decimals.ts';
import { type Node, NodeFailure } from '../nodes/node.ts';
import { failure, orThrow, toFields } from '../responses.ts';
import type { Block } from '../transfer.ts';
import { createHoldings } from './holdings.ts';
import {
  rpcOf,
  type Spelled,
  spell,
  toHexAddress,
  toPlainHash,
  toPrefixedHash,
} from './json-rpc.ts';
import {
  canonical,
  inCanonical,
  lookUpTransaction,
  toPlainBlock,
  unreadableInCanonical,
} from './look-up.ts';
import { accountsOf, scanNative } from './native.ts';
import { toWalletBlock } from './responses.ts';
import { readSolidHeight } from './solid.ts';

/** Calls of one batch; nodes that take none are asked one by one. */
const BATCH = 50;
/** Digits of the chain ID, which are the last ones of the hash of the first block (TIP-474). */
const ID_DIGITS = 8;

/**
 * Reads Tron by one URL: tokens by `/jsonrpc`, like on Ethereum; TRX by `/wallet` or, in solid blocks, by
 * `/walletsolidity`.
 */
export function createTronAdapter(chain: Chain): ChainAdapter {
  const memory = createScanMemory();

  return {
    async identify(node) {
      const [id, first] = await rpcOf(node).batch([
        { method: 'eth_chainId', params: [] },
        { method: 'eth_getBlockByNumber', params: [toParameter(0), false] },
      ]);
      const chainId = toAmount(node, orThrow(id), 'the chain ID');
      const block = toBlock(node, orThrow(first), 0);
      const digits = block?.hash.slice(-ID_DIGITS) ?? '';
      if (BigInt(`0x${digits || '0'}`) !== chainId) {
        throw failure(node, `the chain ID ${chainId} is not that of its first block`);
      }
      return chainId.toString();
    },

    async probe(node) {
      // TRX is read by the wallet interface, which not every provider has.
      const { tip } = await readHeads(node, null);
      const range = { startNum: tip.height, endNum: tip.height + 1 };
      const response = await node.post('/wallet/getblockbylimitnext', range);
      const { block } = toFields(node, response, 'blocks');
      toWalletBlock(node, Array.isArray(block) ? block[0] : {}, tip.height);
      await readSolidHeight(node);
      return { trace: null, logRange: null, batch: BATCH, archive: false, pruneHeight: null };
    },

    readDecimals: (node, contract) => readTokenDecimals(rpcOf(node), toHexAddress(contract)),

    readHeads,

    readHeight: node => readHeight(rpcOf(node)),

    async readBlock(node, height) {
      const params = [toParameter(height), false];
      const block = toBlock(node, await rpcOf(node).call('eth_getBlockByNumber', params), height);
      return block === null ? null : toPlainBlock(block);
    },

    scan: (node, request) => scan(node, request, chain, memory),

    lookUp: lookUpTransaction,

    holdings: createHoldings(memory),
  };
}

async function readHeads(node: Node, cursorHeight: number | null): Promise<Heads> {
  const { tip, finalHeight, cursorHash } = await readEvmHeads(rpcOf(node), cursorHeight);
  return {
    tip: toPlainBlock(tip),
    // The JSON-RPC of older releases knows no final block.
    finalHeight: finalHeight ?? (await readSolidHeight(node)),
    cursorHash: cursorHash === null ? null : toPlainHash(cursorHash),
  };
}

async function scan(node: Node, request: ScanRequest, chain: Chain, memory: ScanMemory) {
  const spelled = spell(request.watch);
  const accounts = accountsOf(spelled.hex);
  const tokens = spelled.hex.filter(({ network }) => network.contract !== null);
  const native = accounts.size === 0 ? undefined : await scanNative(node, request, accounts);
  if (native !== undefined && tokens.length === 0) {
    const transfers = native.transfers.map(transfer => inCanonical(transfer, spelled));
    const unreadable = native.unreadable.map(each => unreadableInCanonical(each, spelled));
    return { through: native.through, transfers, unreadable };
  }
  const { parentHash } = request;
  const found = await scanBlocks(
    rpcOf(node),
    {
      ...request,
      to: native?.through.height ?? request.to,
      parentHash: parentHash ? toPrefixedHash(parentHash) : null,
      watch: tokens,
      ...inHex(request, spelled),
    },
    chain,
    memory,
  );
  const through = toPlainBlock(found.through);
  requireSameBranch(node, through, native?.through);
  // The logs may cover fewer blocks than were read whole: the others are read again.
  const transfers = [...(native?.transfers ?? []), ...found.transfers].filter(
    ({ block }) => (block?.height ?? 0) <= through.height,
  );
  const unreadable = [...(native?.unreadable ?? []), ...(found.unreadable ?? [])].filter(
    ({ height }) => (height ?? 0) <= through.height,
  );
  return {
    through,
    transfers: transfers.map(transfer => inCanonical(transfer, spelled)),
    unreadable: unreadable.map(each => unreadableInCanonical(each, spelled)),
    dust: (found.dust ?? []).map(arrival => canonical(arrival, spelled)),
  };
}

/** Wraps the callbacks: they get transfers in hex with hash and address as the chain writes them. */
function inHex(
  { weigh, takeAwaited }: ScanRequest,
  spelled: Spelled,
): Pick<ScanRequest, 'weigh' | 'takeAwaited'> {
  return {
    ...(weigh && { weigh: arrivals => weigh(arrivals.map(each => canonical(each, spelled))) }),
    ...(takeAwaited && {
      takeAwaited: transfers => takeAwaited(transfers.map(each => inCanonical(each, spelled))),
    }),
  };
}

function requireSameBranch(node: Node, through: Block, whole: Block | undefined): void {
  if (whole !== undefined && whole.height === through.height && whole.hash !== through.hash) {
    throw new NodeFailure(`${node.label} shows two branches`);
  }
}
