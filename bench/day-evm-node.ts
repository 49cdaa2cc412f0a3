import { createHash } from 'node:crypto';
import { NATIVE_BALANCES, TOKEN_BALANCES } from '#chains/evm/balance-programs.ts';
import { receiptsRoot } from '#chains/evm/receipts-root.ts';
import { Refusal, type RpcServer, serveRpc } from './day-server.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SENDER = `0x${'5e'.repeat(20)}`;
const FIRST = 1_000_000;
/** Three quarters of the bits are set, as in a full block of Ethereum. */
const BLOOM = `0x${'7'.repeat(512)}`;
/** Logs of a transaction that pays no watched address. */
const STRANGERS_LOGS = 2;

interface EvmDay {
  readonly name: string;
  readonly chainId: number;
  readonly blockMs: number;
  /** Depth of the final block below the newest one. */
  readonly finalDepth: number;
  /** Transactions per block that pay no watched address. */
  readonly transactions: number;
  /** Decimals of the tokens, by contract in lower case. */
  readonly decimals: ReadonlyMap<string, number>;
  /** In milliseconds since the epoch. */
  readonly start: number;
  readonly clock: () => number;
}

interface Payment {
  readonly hash: string;
  readonly height: number;
  readonly to: string;
  readonly amount: bigint;
  /** null for the native asset. */
  readonly contract: string | null;
}

export interface DayNode extends RpcServer {
  /** Blocks since the day began. */
  blocks(): number;
  /** Pays in the next block. */
  pay(to: string, amount: bigint, contract: string | null): void;
}

const hex = (value: number | bigint) => `0x${value.toString(16)}`;
const stranger = (index: number) => `0x${index.toString(16).padStart(64, 'c')}`;
const word = (digits: string) => digits.replace(/^0x/, '').toLowerCase().padStart(64, '0');

/** The hashed part of a receipt. */
function toHashed(receipt: {
  readonly type: string;
  readonly cumulativeGasUsed: string;
  readonly logs: readonly {
    readonly address: string | null;
    readonly topics: string[];
    readonly data: string;
  }[];
}) {
  return {
    type: Number(receipt.type),
    succeeded: true,
    logsBloom: BLOOM,
    cumulativeGasUsed: Number(receipt.cumulativeGasUsed),
    logs: receipt.logs.map(log => ({ ...log, address: log.address ?? '' })),
  };
}

/** A node whose blocks are computed from their heights: only the payments are stored. */
export async function startEvmDay(day: EvmDay): Promise<DayNode> {
  const salt = createHash('sha256').update(day.name).digest('hex').slice(0, 48);
  const payments = new Map<number, Payment[]>();
  const byHash = new Map<string, Payment>();
  const others = Array.from({ length: day.transactions }, (_, index) =>
    JSON.stringify({
      blockHash: `0x${salt}${'0'.repeat(16)}`,
      blockNumber: '0xf4240',
      type: '0x2',
      from: SENDER,
      to: `0x${index.toString(16).padStart(40, 'b')}`,
      gas: '0x5208',
      gasPrice: '0x3b9aca00',
      maxFeePerGas: '0x77359400',
      nonce: hex(index),
      maxPriorityFeePerGas: '0x3b9aca00',
      chainId: hex(day.chainId),
      accessList: [],
      hash: stranger(index),
      transactionIndex: hex(index),
      value: hex(index * 1_000_000_007),
      v: '0x1',
      yParity: '0x1',
      r: `0x${'7a'.repeat(32)}`,
      s: `0x${'7b'.repeat(32)}`,
      input: `0x${'ab'.repeat(68)}`,
    }),
  ).join(',');

  const othersHashes = Array.from({ length: day.transactions }, (_, index) => stranger(index));
  const othersReceipts = othersHashes.map((transactionHash, index) => ({
    transactionHash,
    type: '0x2',
    status: '0x1',
    gasUsed: '0xfde8',
    logsBloom: BLOOM,
    cumulativeGasUsed: hex(65_000 * (index + 1)),
    effectiveGasPrice: '0x3b9aca00',
    blockHash: 'BLOCK',
    blockNumber: 'HEIGHT',
    transactionIndex: hex(index),
    logs: Array.from({ length: STRANGERS_LOGS }, (_, place) => ({
      address: SENDER,
      data: `0x${word(hex(index))}`,
      removed: false,
      logIndex: hex(place),
      topics: [TRANSFER, `0x${word(SENDER)}`, `0x${word(hex(index))}`],
      blockHash: 'BLOCK',
      blockNumber: 'HEIGHT',
      transactionHash,
    })),
  }));
  const othersText = othersReceipts.map(each => JSON.stringify(each));
  const roots = new Map<string, string>();

  /** The receipts root of a block with these payments. */
  function rootOf(own: readonly Payment[]): string {
    const key = own.map(({ hash }) => hash).join();
    const known = roots.get(key);
    if (known !== undefined) return known;
    const root = receiptsRoot([...own.map(receipt), ...othersReceipts].map(toHashed));
    roots.set(key, root);
    return root;
  }

  const tip = () => FIRST + Math.floor((day.clock() - day.start) / day.blockMs);
  const hashOf = (height: number) =>
    `0x${salt}${Math.max(height, 0).toString(16).padStart(16, '0')}`;
  const heightOf = (hash: string) => Number(`0x${hash.slice(50)}`);

  function block(tag: unknown, isWhole: boolean): string {
    const newest = tip();
    const height =
      tag === 'latest' ? newest : tag === 'finalized' ? newest - day.finalDepth : Number(tag);
    if (height > newest) return 'null';
    const time = Math.floor((day.start + (height - FIRST) * day.blockMs) / 1_000);
    const paid = payments.get(height) ?? [];
    const header = `"number":"${hex(height)}","hash":"${hashOf(height)}","parentHash":"${hashOf(height - 1)}","timestamp":"${hex(time)}","receiptsRoot":"${rootOf(paid)}"`;
    if (!isWhole) {
      const hashes = [...paid.map(({ hash }) => hash), ...othersHashes];
      return `{${header},"transactions":${JSON.stringify(hashes)}}`;
    }
    const own = paid.map(each => JSON.stringify(transaction(each)));
    const all = [...own, ...(others === '' ? [] : [others])].join(',');
    return `{${header},"withdrawals":[],"transactions":[${all}]}`;
  }

  function transaction({ hash, height, to, amount, contract }: Payment) {
    return {
      hash,
      from: SENDER,
      blockHash: hashOf(height),
      blockNumber: hex(height),
      to: contract ?? to,
      value: hex(contract === null ? amount : 0n),
      input: '0x',
    };
  }

  function log({ hash, height, to, amount, contract }: Payment) {
    return {
      address: contract,
      data: `0x${word(hex(amount))}`,
      removed: false,
      logIndex: '0x0',
      blockHash: hashOf(height),
      blockNumber: hex(height),
      transactionHash: hash,
      topics: [TRANSFER, `0x${word(SENDER)}`, `0x${word(to)}`],
    };
  }

  function receipt(payment: Payment) {
    const { hash, height, contract } = payment;
    return {
      transactionHash: hash,
      blockHash: hashOf(height),
      blockNumber: hex(height),
      status: '0x1',
      gasUsed: '0x5208',
      effectiveGasPrice: '0x1',
      type: '0x0',
      cumulativeGasUsed: '0x5208',
      logsBloom: BLOOM,
      logs: contract === null ? [] : [log(payment)],
    };
  }

  function receipts(blockHash: string): string {
    const height = heightOf(blockHash);
    const own = (payments.get(height) ?? []).map(each => JSON.stringify(receipt(each)));
    const all = [...own, ...othersText].join(',');
    return `[${all.replaceAll('BLOCK', blockHash).replaceAll('HEIGHT', hex(height))}]`;
  }

  function logs(filter: Record<string, unknown>) {
    const { fromBlock, toBlock, blockHash, address, topics } = filter;
    const [from, to] =
      blockHash === undefined
        ? [Number(fromBlock), Number(toBlock)]
        : [heightOf(String(blockHash)), heightOf(String(blockHash))];
    const contracts = new Set([address].flat().map(each => String(each).toLowerCase()));
    const recipients = (topics as unknown[])[2] as string[] | undefined;
    return [...payments.values()]
      .flat()
      .filter(
        ({ height, contract, to: recipient }) =>
          height >= from &&
          height <= to &&
          contracts.has(contract ?? '') &&
          (recipients == null || recipients.includes(`0x${word(recipient)}`)),
      )
      .map(log);
  }

  function call({ to, data }: { to?: string; data: string }, place: unknown): string {
    if (to !== undefined) return `0x${word(hex(day.decimals.get(to.toLowerCase()) ?? 18))}`;
    const height =
      typeof place === 'string'
        ? Number(place)
        : heightOf((place as { blockHash: string }).blockHash);
    const balances = new Map<string, bigint>();
    for (const payment of [...payments.values()].flat()) {
      if (payment.height > height) continue;
      const key = `${payment.contract ?? '0x'}${payment.to.slice(2)}`.slice(2).toLowerCase();
      balances.set(key, (balances.get(key) ?? 0n) + payment.amount);
    }
    const asked = data.startsWith(`0x${TOKEN_BALANCES.code}`)
      ? data.slice(2 + TOKEN_BALANCES.code.length).match(/.{80}/g)
      : data.slice(2 + NATIVE_BALANCES.code.length).match(/.{40}/g);
    return `0x${(asked ?? []).map(each => word(hex(balances.get(each) ?? 0n))).join('')}`;
  }

  const server = await serveRpc((method, params) => {
    const [first, second] = params;
    switch (method) {
      case 'eth_chainId':
        return JSON.stringify(hex(day.chainId));
      case 'eth_blockNumber':
        return JSON.stringify(hex(tip()));
      case 'eth_getBlockByNumber':
        return block(first, second === true);
      case 'eth_getLogs':
        return JSON.stringify(logs(first as Record<string, unknown>));
      case 'eth_getBlockReceipts':
        return receipts(String(first));
      case 'eth_getTransactionReceipt': {
        const payment = byHash.get(String(first));
        return payment === undefined ? 'null' : JSON.stringify(receipt(payment));
      }
      case 'eth_getTransactionByHash': {
        const payment = byHash.get(String(first));
        return payment === undefined ? 'null' : JSON.stringify(transaction(payment));
      }
      case 'eth_getCode':
        return '"0x60"';
      case 'eth_getBalance':
        return '"0x0"';
      case 'eth_call':
        return JSON.stringify(call(first as { to?: string; data: string }, second));
      default:
        throw new Refusal(-32_601, `the method ${method} does not exist`);
    }
  });
  return {
    ...server,
    blocks: () => tip() - FIRST,
    pay(to, amount, contract) {
      const height = tip() + 1;
      const number = (byHash.size + 1).toString(16);
      const hash = `0x${salt}${number.padStart(16, 'f')}`;
      const payment = { hash, height, to, amount, contract: contract?.toLowerCase() ?? null };
      byHash.set(hash, payment);
      payments.set(height, [...(payments.get(height) ?? []), payment]);
    },
  };
}
