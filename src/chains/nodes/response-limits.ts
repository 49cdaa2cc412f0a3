const KIB = 1024;
const MIB = 1024 * KIB;

/** Longest response to any call, and to a whole batch, in bytes. */
export const RESPONSE_MAXIMUM_BYTES = 16 * MIB;
/** Longest response with a status of failure, in bytes; a longer one is an HTML page, not an error. */
export const FAILURE_MAXIMUM_BYTES = 64 * KIB;
/** Most values in one response: 16 MiB of the shortest logs that a chain can have are some 500,000. */
export const VALUES_MAXIMUM = 600_000;

/** Limits of one response. */
export interface ResponseLimits {
  readonly bytes: number;
  /** Nesting of lists and objects. */
  readonly depth: number;
}

/** A number, a hash or a short header. */
const WORD = 4 * KIB;
/** A header, or a list, that some releases make longer. */
const SMALL = 64 * KIB;

/**
 * Longest responses by method, or by path, in bytes: what each can rightly return.
 *
 * - A header of an EVM block names its transactions, 70 bytes each: 10,000 transfers take all gas of a block.
 * - A receipt is as long as the gas of one transaction allows (EIP-7825: 16.7 million): 42,000 logs without
 *   topics and data, 370 bytes each. A lower limit would let any payer make a block unreadable.
 * - A Bitcoin block has 4 MB at most, which is 8 MB of hex. A transaction of that size has its hex twice.
 * - A transaction of Solana is short; its logs end at 10 KB, and inner calls carry 10 KB each, 64 at most.
 * - A list of 1,000 signatures has memos of some 600 bytes.
 */
const BYTES: Readonly<Record<string, number>> = {
  eth_blockNumber: WORD,
  eth_chainId: WORD,
  eth_getBalance: WORD,
  eth_call: 256 * KIB,
  eth_getCode: MIB,
  eth_getTransactionByHash: 8 * MIB,
  eth_getTransactionReceipt: RESPONSE_MAXIMUM_BYTES,
  eth_getBlockReceipts: RESPONSE_MAXIMUM_BYTES,
  eth_getLogs: RESPONSE_MAXIMUM_BYTES,
  debug_traceBlockByNumber: RESPONSE_MAXIMUM_BYTES,
  trace_block: RESPONSE_MAXIMUM_BYTES,

  getbestblockhash: WORD,
  getblockcount: WORD,
  getblockhash: WORD,
  getblockheader: WORD,
  getblockchaininfo: SMALL,
  gettxout: 256 * KIB,
  gettxspendingprevout: 8 * MIB,
  getblock: 8 * MIB,
  getrawtransaction: RESPONSE_MAXIMUM_BYTES,
  getrawmempool: RESPONSE_MAXIMUM_BYTES,

  getGenesisHash: WORD,
  getFirstAvailableBlock: WORD,
  getLatestBlockhash: WORD,
  getSlot: WORD,
  getBlock: SMALL,
  getSignatureStatuses: WORD,
  getBlocks: SMALL,
  getMultipleAccounts: 256 * KIB,
  getTransaction: 2 * MIB,
  getSignaturesForAddress: 4 * MIB,
  getTokenAccountsByOwner: 4 * MIB,

  '/wallet/gettransactionbyid': 4 * MIB,
  '/wallet/gettransactioninfobyid': RESPONSE_MAXIMUM_BYTES,
  '/wallet/getblockbylimitnext': RESPONSE_MAXIMUM_BYTES,
  '/wallet/gettransactioninfobyblocknum': RESPONSE_MAXIMUM_BYTES,
  '/walletsolidity/getblockbynum': RESPONSE_MAXIMUM_BYTES,
  '/walletsolidity/getnowblock': RESPONSE_MAXIMUM_BYTES,
  '/walletsolidity/gettransactioninfobyblocknum': RESPONSE_MAXIMUM_BYTES,
};
/** For all other methods. */
const USUAL_BYTES = MIB;

/** Only traces are nested deeper. */
const USUAL_DEPTH = 64;
/** A call has a list of calls, which may be nested 1,024 times (Ethereum yellow paper, 9.4). */
const TRACE_DEPTH = 2 * 1_024 + USUAL_DEPTH;

/** The limits of the response to a call. */
export function limitsOf(method: string, params: readonly unknown[]): ResponseLimits {
  const depth = method === 'debug_traceBlockByNumber' ? TRACE_DEPTH : USUAL_DEPTH;
  if (method === 'eth_getBlockByNumber') {
    return { bytes: params[1] === true ? RESPONSE_MAXIMUM_BYTES : MIB, depth };
  }
  // With the accounts and balances of its transactions, a block of Solana has some MB; its header is short.
  if (method === 'getBlock' && isWithAccounts(params[1])) {
    return { bytes: RESPONSE_MAXIMUM_BYTES, depth };
  }
  // With its transactions in JSON beside their hex, a block is several times as long.
  if (method === 'getblock' && params[1] === 2) return { bytes: RESPONSE_MAXIMUM_BYTES, depth };
  return { bytes: BYTES[method] ?? USUAL_BYTES, depth };
}

function isWithAccounts(options: unknown): boolean {
  const { transactionDetails } = (options ?? {}) as { transactionDetails?: unknown };
  return transactionDetails === 'accounts';
}

/** The limits of the response to a batch. */
export function limitsOfBatch(
  calls: readonly { readonly method: string; readonly params: readonly unknown[] }[],
): ResponseLimits {
  const limits = calls.map(({ method, params }) => limitsOf(method, params));
  const sum = limits.reduce((total, { bytes }) => total + bytes, 0);
  return {
    bytes: Math.min(sum, RESPONSE_MAXIMUM_BYTES),
    depth: Math.max(...limits.map(({ depth }) => depth)),
  };
}
