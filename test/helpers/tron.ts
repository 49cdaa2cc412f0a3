import { randomBytes } from 'node:crypto';
import { writeJson } from '#chains/nodes/parse-json.ts';
import { toHexAddress } from '#chains/tron/json-rpc.ts';
import { serveJson } from './json-server.ts';

/** Chain ID of Shasta: the last digits of its first block's ID. */
const CHAIN_ID = '94a9059e';
const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const SENDER = '41dd791d6b49e190062d650e6a23c575510d35f2f9';
const SECOND_MS = 1_000;

type Json = Record<string, unknown>;

export interface TronTransaction {
  readonly id: string;
  readonly body: Json;
  /** What the node records about it once it is in a block. */
  readonly info: Json;
  /** Logs of the token contracts that it called: contract, sender and recipient in hex with 0x. */
  readonly logs: readonly { contract: string; from: string; to: string; amount: bigint }[];
}

interface TronBlock {
  readonly number: number;
  readonly id: string;
  readonly parent: string;
  readonly time: number;
  readonly transactions: readonly TronTransaction[];
}

const newHash = () => randomBytes(32).toString('hex');
const walletHex = (address: string) => `41${toHexAddress(address).slice(2)}`;
const toHex = (wallet: unknown) => `0x${String(wallet).slice(2)}`;
const word = (hex: string) => hex.replace(/^0x/, '').padStart(64, '0');

/** A transaction as java-tron returns it. */
function transaction(
  type: string,
  value: Json,
  {
    contractRet = 'SUCCESS',
    info = {},
    logs = [],
  }: Partial<{
    contractRet: string;
    info: Json;
    logs: TronTransaction['logs'];
  }> = {},
): TronTransaction {
  const id = newHash();
  const parameter = { value: { owner_address: SENDER, ...value }, type_url: `protocol.${type}` };
  return {
    id,
    body: { ret: [{ contractRet }], txID: id, raw_data: { contract: [{ parameter, type }] } },
    info: { id, contractResult: [''], receipt: { net_fee: 267_000 }, ...info },
    logs,
  };
}

/** A transaction of any kind by an account itself, and its fee. */
export function act(
  owner: string,
  type: string,
  value: Json = {},
  { fee = 0, ...info }: Json = {},
  contractRet = 'SUCCESS',
): TronTransaction {
  const own = { owner_address: walletHex(owner), ...value };
  return transaction(type, own, { contractRet, info: { fee, ...info } });
}

/** A transfer of TRX by an account itself. */
export function sendTrx(
  to: string,
  amount: number | bigint,
  contractRet = 'SUCCESS',
): TronTransaction {
  return transaction('TransferContract', { amount, to_address: walletHex(to) }, { contractRet });
}

/** A TRC-10 asset, which anybody can create. */
export function sendTrc10(to: string, amount: number | bigint): TronTransaction {
  const value = { amount, asset_name: '31303035343136', to_address: walletHex(to) };
  return transaction('TransferAssetContract', value);
}

/** A call to a contract that forwards TRX. */
export function sendByContract(
  to: string,
  amount: number | bigint,
  {
    rejected = false,
    failed = false,
    tokenId,
    caller,
  }: Partial<{ rejected: boolean; failed: boolean; tokenId: string; caller: string }> = {},
): TronTransaction {
  const value = { callValue: amount, ...(tokenId === undefined ? {} : { tokenId }) };
  const internal = {
    hash: newHash(),
    note: '63616c6c',
    caller_address: caller === undefined ? SENDER : walletHex(caller),
    transferTo_address: walletHex(to),
    callValueInfo: [value],
    ...(rejected ? { rejected: true } : {}),
  };
  const nothing = { ...internal, transferTo_address: SENDER, callValueInfo: [{}] };
  return transaction(
    'TriggerSmartContract',
    { contract_address: SENDER },
    {
      contractRet: failed ? 'REVERT' : 'SUCCESS',
      info: {
        ...(failed ? { result: 'FAILED' } : {}),
        receipt: { result: failed ? 'REVERT' : 'SUCCESS' },
        internal_transactions: [nothing, internal],
      },
    },
  );
}

/** A call that transfers tokens. */
export function sendTokens(
  ...transfers: readonly { contract: string; from?: string; to: string; amount: bigint }[]
): TronTransaction {
  const logs = transfers.map(({ contract, from, to, amount }) => ({
    contract: toHexAddress(contract),
    to: toHexAddress(to),
    amount,
    from: from === undefined ? `0x${SENDER.slice(2)}` : toHexAddress(from),
  }));
  return transaction(
    'TriggerSmartContract',
    { contract_address: SENDER },
    {
      info: { receipt: { result: 'SUCCESS' } },
      logs,
    },
  );
}

/** A java-tron node that responds in the documented formats, with its own chain. */
export class TronNode {
  readonly blocks: TronBlock[] = [];
  /** The newest solid block. */
  solid = 0;
  readonly pool: TronTransaction[] = [];
  /** Requested paths and methods. */
  readonly asked: string[] = [];
  /** Number of requests for these. */
  requests = 0;
  /** Bytes sent in responses. */
  bytes = 0;
  /** While it is set, the response to every request. */
  answersOnly: Json | null = null;
  /** Whether logs are left out, as by a lagging backend. */
  hidesLogs = false;
  /** Balances after the newest solid block, by address, or by contract and address for a token; in hex. */
  readonly held = new Map<string, bigint>();
  /** Called with each path before the response. */
  onAsked: (path: string) => void = () => undefined;
  url = '';
  readonly #now: () => number;
  readonly #chainId: string;
  readonly #others: readonly TronTransaction[];

  /** @param others Additional transactions in every block. */
  constructor(
    now: () => number,
    {
      chainId = CHAIN_ID,
      others = [],
    }: { readonly chainId?: string; readonly others?: readonly TronTransaction[] } = {},
  ) {
    this.#now = now;
    this.#chainId = chainId;
    this.#others = others;
    this.#push([], `${'0'.repeat(16)}${randomBytes(20).toString('hex')}${chainId}`);
    for (let made = 0; made < 20; made++) this.mine();
  }

  get height(): number {
    return this.blocks.length - 1;
  }

  /** Makes blocks, the first with the whole pool; those 19 blocks back are solid. */
  mine(count = 1): void {
    for (let made = 0; made < count; made++) {
      const own = this.pool.splice(0);
      this.#push(own.length === 0 ? this.#others : [...own, ...this.#others]);
      this.solid = Math.max(this.solid, this.height - 19);
    }
  }

  /** Undoes blocks and makes one block more; their transactions wait again. */
  reorganise(depth: number): void {
    const undone = this.blocks.splice(this.blocks.length - depth);
    for (let made = 0; made <= depth; made++) this.#push([]);
    this.pool.push(...undone.flatMap(({ transactions }) => transactions));
  }

  #push(transactions: readonly TronTransaction[], id?: string): void {
    const number = this.blocks.length;
    const parent = this.blocks.at(-1)?.id ?? '0'.repeat(64);
    const own = id ?? number.toString(16).padStart(16, '0') + randomBytes(24).toString('hex');
    const time = Math.floor(this.#now() / SECOND_MS) * SECOND_MS;
    this.blocks.push({ number, id: own, parent, time, transactions });
  }

  async start(): Promise<() => Promise<void>> {
    const { url, stop } = await serveJson((body, path) => {
      this.requests += 1;
      const written = writeJson(this.answersOnly ?? this.#answer(path, body as Json | Json[]));
      this.bytes += written.length;
      return written;
    });
    this.url = url;
    return stop;
  }

  #answer(path: string, body: Json | Json[]): unknown {
    if (path === '/jsonrpc') {
      return Array.isArray(body) ? body.map(each => this.#rpc(each)) : this.#rpc(body);
    }
    this.asked.push(path);
    this.onAsked(path);
    return this.#wallet(path, body as Json);
  }

  #wallet(path: string, body: Json): unknown {
    const isSolid = path.startsWith('/walletsolidity/');
    const top = isSolid ? this.solid : this.height;
    const at = (number: unknown) =>
      Number(number) <= top ? this.blocks[Number(number)] : undefined;
    switch (path.split('/').at(-1)) {
      case 'getnowblock':
        return toWallet(this.blocks[top]);
      case 'getblockbynum':
        return toWallet(at(body.num));
      case 'getblockbylimitnext': {
        const [from, to] = [Number(body.startNum), Number(body.endNum)];
        const list = this.blocks.slice(from, Math.min(to, top + 1)).map(toWallet);
        return list.length === 0 ? {} : { block: list };
      }
      case 'gettransactioninfobyblocknum':
        return at(body.num)?.transactions.map(each => infoOf(each, at(body.num))) ?? [];
      case 'gettransactioninfobyid': {
        const found = this.#find(String(body.value));
        return found?.block === undefined ? {} : infoOf(found.transaction, found.block);
      }
      case 'gettransactionbyid':
        return this.#find(String(body.value))?.transaction.body ?? {};
      case 'getaccount': {
        const balance = this.held.get(`${toHex(body.address)}`);
        // java-tron omits what is 0, and everything for an account that does not exist.
        if (balance === undefined) return {};
        return { address: body.address, ...(balance > 0n ? { balance } : {}) };
      }
      case 'triggerconstantcontract': {
        const holder = `0x${String(body.parameter).slice(-40)}`;
        const balance = this.held.get(`${toHex(body.contract_address)} ${holder}`) ?? 0n;
        return { result: { result: true }, constant_result: [word(balance.toString(16))] };
      }
      default:
        return { Error: `class java.lang.IllegalArgumentException : no ${path}` };
    }
  }

  #find(id: string) {
    for (const block of this.blocks) {
      const found = block.transactions.find(each => each.id === id);
      if (found !== undefined) return { block, transaction: found };
    }
    const waiting = this.pool.find(each => each.id === id);
    return waiting === undefined ? undefined : { block: undefined, transaction: waiting };
  }

  #rpc({ id, method, params }: Json): Json {
    this.asked.push(String(method));
    const result = this.#result(String(method), params as unknown[]);
    return { jsonrpc: '2.0', id, result };
  }

  #result(method: string, [first]: unknown[]): unknown {
    switch (method) {
      case 'eth_chainId':
        return `0x${this.#chainId}`;
      case 'eth_blockNumber':
        return `0x${this.height.toString(16)}`;
      case 'eth_getBlockByNumber':
        return toHeader(this.#blockAt(first));
      case 'eth_getLogs':
        return this.#logs(first as Json);
      case 'eth_getTransactionReceipt':
        return this.#receipt(String(first).slice(2));
      case 'eth_getCode':
        return '0x60';
      case 'eth_call':
        return `0x${word('6')}`;
      default:
        throw new Error(`the node is not asked for ${method}`);
    }
  }

  #blockAt(tag: unknown): TronBlock | undefined {
    if (tag === 'latest') return this.blocks.at(-1);
    if (tag === 'finalized') return this.blocks[this.solid];
    return this.blocks[Number(tag)];
  }

  #logs({ fromBlock, toBlock, address, topics }: Json): Json[] {
    if (this.hidesLogs) return [];
    const [, senders, recipients] = topics as [string, string[] | null, string[] | undefined];
    return this.blocks
      .slice(Number(fromBlock), Number(toBlock) + 1)
      .flatMap(block => logsOf(block))
      .filter(
        log =>
          (address as string[]).includes(log.address) &&
          (senders === null || senders === undefined || senders.includes(log.topics[1] ?? '')) &&
          (recipients === undefined || recipients.includes(log.topics[2] ?? '')),
      );
  }

  #receipt(id: string): Json | null {
    const found = this.#find(id);
    if (found?.block === undefined) return null;
    const { block } = found;
    return {
      transactionHash: `0x${id}`,
      blockHash: `0x${block.id}`,
      gasUsed: '0x1',
      blockNumber: `0x${block.number.toString(16)}`,
      status: '0x1',
      logs: logsOf(block).filter(({ transactionHash }) => transactionHash === `0x${id}`),
    };
  }
}

function infoOf({ info }: TronTransaction, block: TronBlock | undefined): Json {
  return { ...info, blockNumber: block?.number, blockTimeStamp: block?.time };
}

function toWallet(block: TronBlock | undefined): Json {
  if (block === undefined) return {};
  const { number, id, parent, time, transactions } = block;
  return {
    blockID: id,
    block_header: { raw_data: { number, parentHash: parent, timestamp: time, version: 34 } },
    // java-tron omits empty lists.
    ...(transactions.length > 0 ? { transactions: transactions.map(({ body }) => body) } : {}),
  };
}

function toHeader(block: TronBlock | undefined): Json | null {
  if (block === undefined) return null;
  return {
    number: `0x${block.number.toString(16)}`,
    hash: `0x${block.id}`,
    parentHash: `0x${block.parent}`,
    transactions: [],
    timestamp: `0x${(block.time / SECOND_MS).toString(16)}`,
  };
}

function logsOf({ number, id, transactions }: TronBlock) {
  return transactions
    .flatMap(({ id: hash, logs }) => logs.map(log => ({ hash, log })))
    .map(({ hash, log }, index) => ({
      address: log.contract,
      blockHash: `0x${id}`,
      transactionHash: `0x${hash}`,
      blockNumber: `0x${number.toString(16)}`,
      logIndex: `0x${index.toString(16)}`,
      removed: false,
      topics: [`0x${TRANSFER}`, `0x${word(log.from)}`, `0x${word(log.to)}`],
      data: `0x${word(log.amount.toString(16))}`,
    }));
}
