import { NATIVE_BALANCES, TOKEN_BALANCES } from '#chains/evm/balance-programs.ts';
import { type EvmWire, hex, TRANSFER, word } from './evm.ts';
import { bloomOf, gasOf, gasUntil, headerOf } from './evm-header.ts';
import type { Branch, GeneratedChain, MadeBlock, MadeTransaction } from './generated-chain.ts';
import { Refused, type View } from './view.ts';

/** Selector of `balanceOf(address)`. */
const BALANCE_OF = '0x70a08231';
/** Every address starts with this much of each asset: more than ever leaves it. */
const HELD_BEFORE = 10n ** 30n;
/** In wei. */
const GAS_PRICE = 1;

interface Placed {
  readonly block: MadeBlock<EvmWire>;
  readonly transaction: MadeTransaction<EvmWire>;
  /** Number of logs in the block before the transaction's own. */
  readonly logsBefore: number;
}

function placed(branch: Branch): Placed[] {
  return (branch as readonly MadeBlock<EvmWire>[]).flatMap(block => {
    let logsBefore = 3;
    return block.transactions.map(transaction => {
      const place = { block, transaction, logsBefore };
      logsBefore += transaction.wire.logs.length;
      return place;
    });
  });
}

/**
 * Responds to a call like an Ethereum node with this view.
 * @throws Refused
 */
export function answerEvm(
  view: View,
  chain: GeneratedChain,
  { method, params }: { readonly method: string; readonly params: readonly unknown[] },
): unknown {
  const { branch, finalHeight, leavesOut } = view;
  const [first, second] = params;
  const at = (height: number) => branch[height] as MadeBlock<EvmWire> | undefined;
  const placeOf = (hash: unknown) => placed(branch).find(each => each.transaction.hash === hash);
  switch (method) {
    case 'eth_chainId':
      return '0x1';
    case 'eth_blockNumber':
      return hex(branch.length - 1);
    case 'eth_getBlockByNumber': {
      const tags: Record<string, number> = { latest: branch.length - 1, finalized: finalHeight };
      const block = at(tags[String(first)] ?? Number(first));
      return block === undefined ? null : header(block, second === true);
    }
    case 'eth_getBlockByHash': {
      const block = branch.find(({ hash }) => hash === first);
      return block === undefined ? null : header(block as MadeBlock<EvmWire>, second === true);
    }
    case 'eth_getBlockReceipts': {
      if (!view.givesBlockReceipts) break;
      const found = branch.find(({ hash }) => hash === first);
      if (found === undefined) return null;
      return placed([found])
        .filter(({ transaction }) => !leavesOut(transaction, ['receipt']))
        .map(receipt);
    }
    case 'eth_getLogs':
      return logs(first as Filter);
    case 'eth_getTransactionReceipt': {
      const found = placeOf(first);
      return found === undefined || leavesOut(found.transaction, ['receipt'])
        ? null
        : receipt(found);
    }
    case 'eth_getTransactionByHash': {
      const found = placeOf(first);
      if (found !== undefined) return shown(found.transaction, found.block);
      const waiting = chain.mempool(branch).find(({ hash }) => hash === first);
      return waiting === undefined ? null : shown(waiting as MadeTransaction<EvmWire>, null);
    }
    case 'eth_call':
      return call(first as Call, second);
    case 'eth_getBalance':
      return hex(balanceOf(String(first), null, heightOf(second)));
    default:
  }
  throw new Refused(-32_601, `the method ${method} does not exist`);

  function header(block: MadeBlock<EvmWire>, isWhole: boolean) {
    const { hash, transactions } = block;
    const listed = isWhole
      ? transactions.filter(each => !leavesOut(each, ['transaction']))
      : transactions;
    return {
      ...headerOf(block),
      hash,
      withdrawals: [],
      transactions: listed.map(each => (isWhole ? shown(each, block) : each.hash)),
    };
  }

  function receipt(place: Placed) {
    const { block, transaction } = place;
    const { hash, wire } = transaction;
    return {
      blockHash: block.hash,
      blockNumber: hex(block.height),
      transactionHash: hash,
      status: wire.isFailed ? '0x0' : '0x1',
      effectiveGasPrice: hex(GAS_PRICE),
      type: '0x2',
      gasUsed: hex(gasOf(transaction)),
      logsBloom: bloomOf([transaction]),
      cumulativeGasUsed: hex(
        gasUntil(block.transactions, block.transactions.indexOf(transaction) + 1),
      ),
      logs: logsOf(place).filter(
        each =>
          !isOwnLog(place, each) || !leavesOut(transaction, ['log of receipt', 'log everywhere']),
      ),
    };
  }

  /** The node never lies about blocks that are practically final, since nothing could correct that. */
  function logsOf({ block, transaction, logsBefore }: Placed) {
    const isLie = view.isLying && block.height > view.settledHeight;
    if (isLie) chain.lied.add(transaction);
    return transaction.wire.logs.map(({ contract, topics, data }, index) => ({
      blockHash: block.hash,
      blockNumber: hex(block.height),
      transactionHash: transaction.hash,
      address: contract,
      topics,
      removed: false,
      data: isLie ? word(hex(BigInt(data) * 2n)) : data,
      logIndex: hex(logsBefore + index),
    }));
  }

  function logs({ fromBlock, toBlock, blockHash, address, topics }: Filter) {
    const block = branch.find(({ hash }) => hash === blockHash);
    if (blockHash !== undefined && block === undefined) throw new Refused(-32_000, 'unknown block');
    const from = block?.height ?? Number(fromBlock);
    const to = block?.height ?? Number(toBlock);
    if (to - from >= view.logRange) throw new Refused(-32_005, 'block range is too wide');
    const last = block === undefined ? view.logsUpTo : to;
    const isAsked = (log: { address: string; topics: readonly string[] }) =>
      address.some(each => each.toLowerCase() === log.address) &&
      topics.every(
        (topic, index) => topic === null || [topic].flat().includes(log.topics[index] ?? ''),
      );
    return placed(branch)
      .filter(({ block: { height } }) => height >= from && height <= Math.min(to, last))
      .flatMap(place =>
        logsOf(place)
          .filter(isAsked)
          .filter(
            each =>
              !isOwnLog(place, each) || !leavesOut(place.transaction, ['log', 'log everywhere']),
          ),
      );
  }

  /** Balances by one of the programs, or one balance by a token contract. */
  function call({ to, data }: Call, place: unknown): string {
    const height = heightOf(place);
    if (to !== undefined && data.startsWith(BALANCE_OF)) {
      return word(hex(balanceOf(`0x${data.slice(-40)}`, to, height)));
    }
    if (!view.runsPrograms) throw new Refused(-32_602, 'missing field: to');
    const isOfTokens = data.startsWith(`0x${TOKEN_BALANCES.code}`);
    const { code } = isOfTokens ? TOKEN_BALANCES : NATIVE_BALANCES;
    const addresses = (data.slice(2 + code.length).match(/.{40}/g) ?? []).map(each => `0x${each}`);
    const balances = isOfTokens
      ? addresses.flatMap((each, index) =>
          index % 2 === 1 ? [balanceOf(each, addresses[index - 1] ?? '', height)] : [],
        )
      : addresses.map(each => balanceOf(each, null, height));
    return `0x${balances.map(each => word(hex(each)).slice(2)).join('')}`;
  }

  function heightOf(place: unknown): number {
    const { blockHash } = place as { readonly blockHash?: string };
    const height =
      blockHash === undefined ? Number(place) : branch.findIndex(({ hash }) => hash === blockHash);
    if (at(height) === undefined) throw new Refused(-32_000, 'header not found');
    return height;
  }

  /** @param contract In lower case; null for the native asset. */
  function balanceOf(owner: string, contract: string | null, height: number): bigint {
    const own = owner.toLowerCase();
    const moves = placed(branch.slice(0, height + 1)).flatMap(({ transaction }) =>
      contract === null
        ? nativeMoves(transaction)
        : transaction.wire.logs
            .filter(log => log.contract === contract.toLowerCase() && log.topics[0] === TRANSFER)
            .map(({ topics: [, from, to], data }) => ({
              from: addressOf(from),
              to: addressOf(to),
              amount: BigInt(data),
            })),
    );
    return moves.reduce((held, { from, to, amount }) => {
      const gained = to === own ? held + amount : held;
      return from === own ? gained - amount : gained;
    }, HELD_BEFORE);
  }
}

const addressOf = (topic = '') => `0x${topic.slice(-40)}`;

/** The transaction's value and its fee. */
function nativeMoves(transaction: MadeTransaction<EvmWire>) {
  const { from, to, value, isFailed } = transaction.wire;
  const fee = { from, to: null, amount: BigInt(gasOf(transaction) * GAS_PRICE) };
  return isFailed ? [fee] : [fee, { from, to, amount: value }];
}

/** Whether a log is the one with which a transaction pays. */
function isOwnLog(
  { transaction, logsBefore }: Placed,
  { logIndex }: { logIndex: string },
): boolean {
  const [own] = transaction.transfers;
  return own !== undefined && Number(logIndex) === logsBefore + own.position;
}

interface Call {
  readonly to?: string;
  readonly data: string;
}

interface Filter {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly blockHash?: string;
  readonly address: readonly string[];
  readonly topics: readonly (string | null | readonly string[])[];
}

function shown({ hash, wire }: MadeTransaction<EvmWire>, block: MadeBlock | null) {
  return {
    hash,
    from: wire.from,
    to: wire.to,
    value: hex(wire.value),
    input: '0x',
    blockHash: block?.hash ?? null,
    blockNumber: block === null ? null : hex(block.height),
  };
}
