import { createHash } from 'node:crypto';
import type { DayNode } from './day-evm-node.ts';
import { Refusal, serveRpc } from './day-server.ts';

const FIRST = 800_000;
const NOT_FOUND = -5;
const OUT_OF_RANGE = -8;
/** A P2WPKH output of an address that is not watched. */
const STRANGER = `0014${'5e'.repeat(20)}`;
/** Signature and key of a P2PKH input, whose contents nobody reads. */
const SIGNED = `6b${'48'.repeat(107)}`;

interface BitcoinDay {
  /** As `getblockchaininfo` reports it. */
  readonly name: string;
  /** Hash of its first block. */
  readonly genesis: string;
  readonly blockMs: number;
  /** Transactions per block; between two blocks they come one by one. */
  readonly transactions: number;
  /** In milliseconds since the epoch. */
  readonly start: number;
  readonly clock: () => number;
}

interface Made {
  readonly id: string;
  readonly hex: string;
}

interface MadeBlock {
  readonly height: number;
  readonly hash: string;
  readonly parent: string;
  readonly time: number;
  readonly transactions: readonly Made[];
  readonly header: string;
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest();
const twice = (bytes: Buffer) => sha256(sha256(bytes));
const shown = (hash: Buffer) => Buffer.from(hash).reverse().toString('hex');
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes.toString('hex');
};
const uint64 = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes.toString('hex');
};
const count = (value: number) =>
  value < 0xfd
    ? value.toString(16).padStart(2, '0')
    : `fd${Buffer.from([value & 255, value >> 8]).toString('hex')}`;

function make(inputs: readonly string[], outputs: readonly (readonly [bigint, string])[]): Made {
  const spent = inputs.map(each => `${each}ffffffff`).join('');
  const paid = outputs
    .map(([value, script]) => `${uint64(value)}${count(script.length / 2)}${script}`)
    .join('');
  const hex = `01000000${count(inputs.length)}${spent}${count(outputs.length)}${paid}00000000`;
  return { id: shown(twice(Buffer.from(hex, 'hex'))), hex };
}

function merkleRoot(ids: readonly string[]): Buffer {
  let level = ids.map(id => Buffer.from(id, 'hex').reverse());
  while (level.length > 1) {
    level = Array.from({ length: Math.ceil(level.length / 2) }, (_, index) => {
      const left = level[2 * index] ?? Buffer.alloc(0);
      return twice(Buffer.concat([left, level[2 * index + 1] ?? left]));
    });
  }
  return level[0] ?? Buffer.alloc(32);
}

/** A node with an index of all transactions, whose blocks come at fixed times and are never undone. */
export async function startBitcoinDay(day: BitcoinDay): Promise<DayNode> {
  const salt = sha256(Buffer.from(day.name));
  const blocks: MadeBlock[] = [];
  /** In the order of arrival. */
  let mempool: Made[] = [];
  const waiting: Made[] = [];
  const byId = new Map<string, { readonly made: Made; block: MadeBlock | null }>();
  let numbered = 0;

  function ordinary(): Made {
    numbered += 1;
    const from = shown(sha256(Buffer.concat([salt, Buffer.from(uint32(numbered), 'hex')])));
    return make(
      [`${from}00000000${SIGNED}`],
      [
        [BigInt(numbered) + 10_000n, STRANGER],
        [BigInt(numbered) * 3n + 10_000n, STRANGER],
      ],
    );
  }

  function mine(height: number): void {
    const script = `04${uint32(height)}`;
    const reward = make([`${'00'.repeat(32)}ffffffff05${script}`], [[312_500_000n, STRANGER]]);
    const transactions = [reward, ...mempool];
    const parent = blocks.at(-1)?.hash ?? day.genesis;
    const time = Math.floor((day.start + (height - FIRST) * day.blockMs) / 1_000);
    const root = merkleRoot(transactions.map(({ id }) => id)).toString('hex');
    const before = Buffer.from(parent, 'hex').reverse().toString('hex');
    const header = `00000020${before}${root}${uint32(time)}ffff001d${uint32(height)}`;
    const hash = shown(twice(Buffer.from(header, 'hex')));
    const block = { height, hash, parent, time, transactions, header };
    blocks.push(block);
    for (const made of transactions) byId.set(made.id, { made, block });
    mempool = [];
    // Nobody requests the transactions of old blocks; the blocks themselves are kept.
    for (const { id } of blocks.at(-20)?.transactions ?? []) byId.delete(id);
  }

  /** Makes what has become due since the last call. */
  function catchUp(): void {
    const since = day.clock() - day.start;
    const due = FIRST + Math.floor(since / day.blockMs);
    while ((blocks.at(-1)?.height ?? FIRST - 30) < due) {
      fill(day.transactions);
      mine((blocks.at(-1)?.height ?? FIRST - 30) + 1);
    }
    const part = (since - Math.floor(since / day.blockMs) * day.blockMs) / day.blockMs;
    fill(Math.floor(part * day.transactions));
  }

  function fill(size: number): void {
    mempool.push(...waiting.splice(0));
    while (mempool.length < size) mempool.push(ordinary());
    for (const made of mempool) if (!byId.has(made.id)) byId.set(made.id, { made, block: null });
  }

  const tip = (): MadeBlock => {
    catchUp();
    const newest = blocks.at(-1);
    if (newest === undefined) throw new Error('the day has no blocks');
    return newest;
  };
  const at = (height: number) => blocks[height - (blocks[0]?.height ?? 0)];

  function transaction(id: string, isVerbose: boolean, hash: unknown): string {
    catchUp();
    const found = byId.get(id);
    if (found === undefined || (hash !== undefined && found.block?.hash !== hash)) {
      throw new Refusal(
        NOT_FOUND,
        'No such mempool or blockchain transaction. Use gettransaction for wallet transactions.',
      );
    }
    const { made, block } = found;
    if (!isVerbose) return JSON.stringify(made.hex);
    const place = block && {
      blockhash: block.hash,
      confirmations: tip().height - block.height + 1,
      in_active_chain: true,
    };
    return JSON.stringify({ txid: id, hex: made.hex, ...place });
  }

  const server = await serveRpc((method, params) => {
    const [first, second, third] = params;
    switch (method) {
      case 'getblockchaininfo': {
        const { height, hash } = tip();
        const info = { chain: day.name, blocks: height, bestblockhash: hash, pruned: false };
        return JSON.stringify(info);
      }
      case 'getbestblockhash':
        return JSON.stringify(tip().hash);
      case 'getblockcount':
        return String(tip().height);
      case 'getblockhash': {
        if (first === 0) return JSON.stringify(day.genesis);
        const newest = tip().height;
        const block = Number(first) > newest ? undefined : at(Number(first));
        if (block === undefined) throw new Refusal(OUT_OF_RANGE, 'Block height out of range');
        return JSON.stringify(block.hash);
      }
      case 'getblockheader': {
        const block = blocks.find(({ hash }) => hash === first);
        if (block === undefined) throw new Refusal(NOT_FOUND, 'Block not found');
        const { hash, height, parent, time } = block;
        const confirmations = tip().height - height + 1;
        return JSON.stringify({ hash, height, previousblockhash: parent, time, confirmations });
      }
      case 'getblock': {
        const block = blocks.find(({ hash }) => hash === first);
        if (block === undefined) throw new Refusal(NOT_FOUND, 'Block not found');
        const { header, transactions } = block;
        const body = transactions.map(({ hex }) => hex).join('');
        return JSON.stringify(`${header}${count(transactions.length)}${body}`);
      }
      case 'getrawmempool':
        tip();
        return JSON.stringify(mempool.map(({ id }) => id));
      case 'getrawtransaction':
        return transaction(String(first), second === true, third);
      case 'gettxspendingprevout':
        return JSON.stringify(first);
      case 'gettxout':
        return 'null';
      default:
        throw new Refusal(-32_601, `Method not found: ${method}`);
    }
  });
  catchUp();
  return {
    ...server,
    blocks: () => tip().height - FIRST,
    pay(to, amount) {
      numbered += 1;
      const from = shown(sha256(Buffer.from(`${day.name} pays ${numbered}`)));
      waiting.push(make([`${from}00000000${SIGNED}`], [[amount, to]]));
    },
  };
}
