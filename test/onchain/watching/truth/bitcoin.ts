import { scriptOf } from '#chains/bitcoin/script.ts';
import type { Random } from '../../settlement/truth/random.ts';
import {
  type BitcoinBytes,
  count,
  shown,
  twice,
  writeCoinbase,
  writeHeader,
  writeTransaction,
} from './bitcoin-bytes.ts';
import {
  digits,
  type Family,
  followable,
  type GeneratedChain,
  type MadeBlock,
  type MadeTransaction,
} from './generated-chain.ts';
import type { Paying } from './paying.ts';
import { Refused, type View } from './view.ts';

const NOT_FOUND = -5;
const OUT_OF_RANGE = -8;
/** A P2WPKH output that belongs to nobody. */
const NOBODY = `0014${'5e'.repeat(20)}`;

type Transaction = MadeTransaction<BitcoinBytes>;

/** Serialised blocks in hex, keyed by the block's list of transactions: a block's hash covers the header alone. */
const written = new WeakMap<object, { readonly header: string; readonly coinbase: BitcoinBytes }>();

function write(block: Omit<MadeBlock, 'hash'>, salt: string) {
  const coinbase = writeCoinbase(
    block.height,
    Number.parseInt(digits(salt).slice(0, 8), 16),
    NOBODY,
  );
  const ids = [coinbase.id, ...block.transactions.map(({ hash }) => hash)];
  return { coinbase, header: writeHeader(block.parentHash, ids, block.time) };
}

export const BITCOIN: Family = {
  seal(block, salt) {
    const bytes = write(block, salt);
    // Keyed by the list of transactions, since the block keeps that.
    written.set(block.transactions, bytes);
    return shown(twice(Buffer.from(bytes.header, 'hex')));
  },
  skewMs: 2 * 60 * 60_000,
  isSparse: false,
  nothing: '0'.repeat(64),
};

/** A transaction that pays as given, among other outputs. */
export function makeBitcoin(random: Random, name: string, paying: Paying): Transaction {
  const { network, address, amount, fate, sentAt, spends, parent, payment, names } = paying;
  const script = scriptOf(address);
  const others = () =>
    Array.from({ length: random.below(3) }, () =>
      random.pick([
        [BigInt(10_000 + random.below(1_000_000)), NOBODY],
        [0n, '6a0474657374'],
        [amount, NOBODY],
      ] as const),
    );
  // Bitcoin has no failed transactions: this one pays somebody else instead.
  const own = fate === 'failed' ? ([amount, NOBODY] as const) : ([amount, script] as const);
  const second = random.chance(12) ? [[amount * 7n, script] as const] : [];
  const change = [BigInt(20_000 + random.below(1_000_000)), NOBODY] as const;
  const outputs = [...others(), own, ...others(), ...second, change];
  // The first input is the one that a conflicting transaction spends as well.
  const more = random.chance(30) ? [`${digits(`more ${name}`)}:1`] : [];
  const bytes = writeTransaction([inputOf(paying), ...more], outputs);
  const transfers = outputs.flatMap(([value, to], position) =>
    to === script ? [{ network, address, amount: value, position }] : [],
  );
  const made = { hash: bytes.id, sentAt, fate, transfers, spends, parent, payment, names };
  return { ...made, wire: bytes };
}

/** Its first input: an output of its parent, or of a stranger that was mined long ago. */
function inputOf({ parent, spends }: Pick<Transaction, 'parent' | 'spends'>): string {
  return `${parent?.hash ?? digits(spends)}:0`;
}

/**
 * Responds to a call like a Bitcoin node with this view.
 * @throws Refused
 */
export function answerBitcoin(
  { branch, isIndexed, leavesOut }: View,
  chain: GeneratedChain,
  { method, params }: { readonly method: string; readonly params: readonly unknown[] },
): unknown {
  const [first, second, third] = params;
  const tip = branch.at(-1)?.hash ?? '';
  switch (method) {
    case 'getblockchaininfo':
      return { chain: 'generated', blocks: branch.length - 1, bestblockhash: tip, pruned: false };
    case 'getbestblockhash':
      return tip;
    case 'getblockcount':
      return branch.length - 1;
    case 'getblockhash': {
      const block = branch[Number(first)];
      if (block === undefined) throw new Refused(OUT_OF_RANGE, 'Block height out of range');
      return block.hash;
    }
    case 'getblockheader': {
      const block = blockOf(first);
      const confirmations = isActive(block) ? branch.length - block.height : -1;
      const previous = block.height === 0 ? {} : { previousblockhash: block.parentHash };
      return {
        hash: block.hash,
        height: block.height,
        time: block.time,
        confirmations,
        ...previous,
      };
    }
    case 'getblock': {
      const { transactions } = blockOf(first);
      const bytes = written.get(transactions);
      const all = [bytes?.coinbase, ...transactions.map(({ wire }) => wire as BitcoinBytes)];
      return `${bytes?.header}${count(all.length)}${all.map(each => each?.hex).join('')}`;
    }
    case 'getrawmempool':
      if (first !== true) return mempool().map(({ hash }) => hash);
      return Object.fromEntries(
        mempool().map(({ hash, sentAt }) => [hash, { time: Math.floor(sentAt / 1_000) }]),
      );
    case 'getrawtransaction':
      return transactionOf(String(first), second === true, third);
    case 'gettxspendingprevout':
      return (first as { txid: string; vout: number }[]).map(each => ({
        ...each,
        ...spendingOf(each),
      }));
    case 'gettxout':
      return unspent(String(first), Number(second));
    default:
      throw new Refused(-32_601, `Method not found: ${method}`);
  }

  function mempool(): Transaction[] {
    // Of conflicting transactions, the mempool has the last one.
    const waiting = (chain.mempool(branch) as Transaction[]).filter(
      each => !leavesOut(each, ['unconfirmed']),
    );
    const last = waiting.filter(
      (each, index) => !waiting.slice(index + 1).some(({ spends }) => spends === each.spends),
    );
    return followable(last, branch);
  }

  function isActive({ height, hash }: MadeBlock): boolean {
    return branch[height]?.hash === hash;
  }

  function blockOf(hash: unknown): MadeBlock {
    const block = chain.blocks.get(String(hash));
    if (block === undefined) throw new Refused(NOT_FOUND, 'Block not found');
    return block;
  }

  function transactionOf(id: string, isVerbose: boolean, hash: unknown): unknown {
    const missing = new Refused(
      NOT_FOUND,
      isIndexed || hash !== undefined
        ? 'No such mempool or blockchain transaction. Use gettransaction for wallet transactions.'
        : 'No such mempool transaction. Use -txindex or provide a block hash to enable blockchain transaction queries.',
    );
    const made = chain.transactions.find(each => each.hash === id) as Transaction | undefined;
    // Outputs that generated transactions spend were mined long ago.
    if (
      made === undefined &&
      isIndexed &&
      chain.transactions.some(each => inputOf(each as Transaction) === `${id}:0`)
    ) {
      return { confirmations: 1_000 };
    }
    if (made === undefined) throw missing;
    const block =
      hash === undefined
        ? branch.find(({ transactions }) => transactions.includes(made))
        : chain.blocks.get(String(hash));
    const isHere = block?.transactions.includes(made) === true && (isIndexed || hash !== undefined);
    if (!isHere && (hash !== undefined || !mempool().includes(made))) throw missing;
    if (!isVerbose) return made.wire.hex;
    const place =
      block === undefined || !isHere
        ? {}
        : {
            blockhash: block.hash,
            confirmations: isActive(block) ? branch.length - block.height : 0,
            ...(hash === undefined ? {} : { in_active_chain: isActive(block) }),
          };
    return { txid: id, hex: made.wire.hex, ...place };
  }

  function spendingOf({ txid, vout }: { txid: string; vout: number }) {
    const spender = mempool().find(each => inputOf(each) === `${txid}:${vout}`);
    return spender === undefined ? {} : { spendingtxid: spender.hash };
  }

  function unspent(id: string, index: number): unknown {
    const mined = branch.flatMap(block =>
      block.transactions.map(each => ({ block, transaction: each as Transaction })),
    );
    const output = `${id}:${index}`;
    if (mined.some(({ transaction }) => inputOf(transaction) === output)) return null;
    const own = mined.find(({ transaction }) => transaction.hash === id);
    if (own !== undefined) {
      return { bestblock: tip, confirmations: branch.length - own.block.height };
    }
    const isOld = chain.transactions.some(
      each => each.parent === undefined && inputOf(each as Transaction) === output,
    );
    return isOld ? { bestblock: tip, confirmations: 1_000 } : null;
  }
}
