import type { Random } from '../../settlement/truth/random.ts';
import {
  type Branch,
  digits,
  type Family,
  type GeneratedChain,
  type MadeBlock,
  type MadeTransaction,
  type MadeTransfer,
} from './generated-chain.ts';
import type { Paying } from './paying.ts';
import { Refused, type View } from './view.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const SENDER = `0x${'5e'.repeat(20)}`;
const STRANGER = `0x${'bd'.repeat(20)}`;
const LOOK_ALIKE = `0x${'ac'.repeat(20)}`;
/** Digits of the program in front of the addresses of a call for balances. */
const PROGRAM_DIGITS = 2 + 2 * 39;

interface Log {
  readonly contract: string;
  readonly topics: readonly string[];
  readonly data: string;
}

interface EvmWire {
  readonly to: string;
  readonly value: bigint;
  readonly logs: readonly Log[];
  readonly isFailed: boolean;
}

const hex = (value: number | bigint) => `0x${value.toString(16)}`;
const word = (text: string) => `0x${text.replace(/^0x/, '').toLowerCase().padStart(64, '0')}`;

export const EVM: Family = {
  seal: (_, salt) => `0x${digits(`block ${salt}`)}`,
  skewMs: 2_000,
  isSparse: false,
  nothing: `0x${'0'.repeat(64)}`,
};

function logOf(contract: string, to: string, amount: bigint): Log {
  const topics = [TRANSFER, word(SENDER), word(to)];
  return { contract: contract.toLowerCase(), topics, data: word(hex(amount)) };
}

/** What stands around a payment in its transaction, and pays nobody. */
function drawNoise(random: Random, { contract, address, amount }: Paying): Log[] {
  const token = contract ?? LOOK_ALIKE;
  return Array.from({ length: random.below(3) }, () => {
    const approval = {
      ...logOf(token, address, amount),
      topics: [APPROVAL, word(SENDER), word(address)],
    };
    return random.pick([
      logOf(token, STRANGER, amount),
      logOf(LOOK_ALIKE, address, amount),
      logOf(token, address, 0n),
      approval,
    ]);
  });
}

/** A transaction that pays as it is asked to, among other things. */
export function makeEvm(random: Random, name: string, paying: Paying): MadeTransaction<EvmWire> {
  const { network, address, contract, amount, fate, sentAt, spends, payment, names } = paying;
  const isNative = contract === null;
  const before = drawNoise(random, paying);
  const own = isNative ? [] : [logOf(contract, address, amount)];
  // The second one is far too much for any payment.
  const second = !isNative && random.chance(12) ? [logOf(contract, address, amount * 7n)] : [];
  const logs = [...before, ...own, ...drawNoise(random, paying), ...second];
  const isFailed = fate === 'failed';
  const transfers: MadeTransfer[] = isNative
    ? [{ network, address, amount, position: 0 }]
    : [...own, ...second].map(log => ({
        ...{ network, address, amount: BigInt(log.data), position: logs.indexOf(log) },
      }));
  return {
    ...{ hash: `0x${digits(`tx ${name}`)}`, sentAt, fate, spends, payment, names },
    transfers: isFailed ? [] : transfers,
    wire: {
      ...{ to: isNative ? address.toLowerCase() : contract.toLowerCase(), isFailed },
      ...{ value: isNative ? amount : 0n, logs: isFailed ? [] : logs },
    },
  };
}

interface Placed {
  readonly block: MadeBlock<EvmWire>;
  readonly transaction: MadeTransaction<EvmWire>;
  /** How many logs of the block are before its own. */
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

/** Answers a call as a node of Ethereum does that sees this. @throws Refused */
export function answerEvm(
  { branch, finalHeight, logsUpTo, logRange, isLying, undone }: View,
  chain: GeneratedChain,
  { method, params }: { readonly method: string; readonly params: readonly unknown[] },
): unknown {
  const [first, second] = params;
  const at = (height: number) => branch[height] as MadeBlock<EvmWire> | undefined;
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
    case 'eth_getLogs':
      return logs(first as Filter);
    case 'eth_getTransactionReceipt': {
      const found = placed(branch).find(({ transaction }) => transaction.hash === first);
      return found === undefined ? null : told(found);
    }
    case 'eth_getTransactionByHash': {
      const found = placed(branch).find(({ transaction }) => transaction.hash === first);
      if (found !== undefined) return shown(found.transaction, found.block);
      const waiting = chain.mempool(branch).find(({ hash }) => hash === first);
      return waiting === undefined ? null : shown(waiting as MadeTransaction<EvmWire>, null);
    }
    case 'eth_call':
      return balances(first as { readonly data: string }, second);
    default:
      throw new Refused(-32_601, `the method ${method} does not exist`);
  }

  /** Nobody lies about what is as good as final, which nothing could mend. */
  function told(place: Placed) {
    const isLie = isLying && place.block.height > branch.length - 1 - undone;
    if (isLie) chain.lied.add(place.transaction);
    return receipt(place, isLie);
  }

  function logs({ fromBlock, toBlock, blockHash, address, topics }: Filter) {
    const block = branch.find(({ hash }) => hash === blockHash);
    if (blockHash !== undefined && block === undefined) throw new Refused(-32_000, 'unknown block');
    const from = block?.height ?? Number(fromBlock);
    const to = block?.height ?? Number(toBlock);
    if (to - from >= logRange) throw new Refused(-32_005, 'block range is too wide');
    const last = block === undefined ? logsUpTo : to;
    const recipients = topics[2];
    return placed(branch)
      .filter(({ block: { height } }) => height >= from && height <= Math.min(to, last))
      .flatMap(each => told(each).logs)
      .filter(
        log =>
          address.includes(log.address) &&
          log.topics[0] === topics[0] &&
          (recipients === undefined || recipients.includes(log.topics[2] ?? '')),
      );
  }

  function balances({ data }: { readonly data: string }, place: unknown): string {
    const { blockHash } = place as { readonly blockHash?: string };
    const height =
      blockHash === undefined ? Number(place) : branch.findIndex(({ hash }) => hash === blockHash);
    if (at(height) === undefined) throw new Refused(-32_000, 'header not found');
    const held = new Map<string, bigint>();
    for (const { block, transaction } of placed(branch)) {
      const { to, value, isFailed } = transaction.wire;
      if (block.height <= height && !isFailed) held.set(to, (held.get(to) ?? 0n) + value);
    }
    const addresses = data.slice(PROGRAM_DIGITS).match(/.{40}/g) ?? [];
    return `0x${addresses.map(each => word(hex(held.get(`0x${each}`) ?? 0n)).slice(2)).join('')}`;
  }
}

interface Filter {
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly blockHash?: string;
  readonly address: readonly string[];
  readonly topics: readonly [string, null?, (readonly string[])?];
}

function header(
  { height, hash, parentHash, time, transactions }: MadeBlock<EvmWire>,
  isWhole: boolean,
) {
  const block = { height, hash } as MadeBlock<EvmWire>;
  return {
    ...{ number: hex(height), hash, parentHash, timestamp: hex(time), withdrawals: [] },
    transactions: transactions.map(each => (isWhole ? shown(each, block) : each.hash)),
  };
}

function shown({ hash, wire }: MadeTransaction<EvmWire>, block: MadeBlock | null) {
  return {
    ...{ hash, from: SENDER, to: wire.to, value: hex(wire.value), input: '0x' },
    blockHash: block?.hash ?? null,
    blockNumber: block === null ? null : hex(block.height),
  };
}

function receipt({ block, transaction, logsBefore }: Placed, isLying: boolean) {
  const { hash, wire } = transaction;
  const place = { blockHash: block.hash, blockNumber: hex(block.height), transactionHash: hash };
  return {
    ...{ ...place, status: wire.isFailed ? '0x0' : '0x1', effectiveGasPrice: '0x1' },
    gasUsed: hex(wire.logs.length === 0 ? 21_000 : 60_000),
    logs: wire.logs.map(({ contract, topics, data }, index) => ({
      ...{ ...place, address: contract, topics, removed: false },
      data: isLying ? word(hex(BigInt(data) * 2n)) : data,
      logIndex: hex(logsBefore + index),
    })),
  };
}
