import { randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { FailedTransactionMetadata, LiteSVM } from 'litesvm';
import { associatedAccount } from '#chains/solana/programs.ts';
import { serveJson } from './json-server.ts';
import {
  createAssociated,
  type Instruction,
  LOOKUP,
  type Lookup,
  type Message,
  SYSTEM,
  TOKEN,
  writeMessage,
} from './solana-message.ts';

/** The genesis hash of devnet. */
const GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
export const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
/** Slots by which a confirmed block is ahead of the finalized one. */
const FINAL_DEPTH = 32;
const SOL = 1_000_000_000n;

/** What a message of version 1 has instead of compute budget instructions. */
const TRANSACTION_CONFIG = {
  computeUnitLimit: 200_000,
  heapSize: null,
  loadedAccountsDataSizeLimit: 65_536,
  priorityFee: 5_000,
};

type Json = Record<string, unknown>;

/** A key pair. */
export interface Wallet {
  readonly address: string;
  readonly secret: Uint8Array;
}

/** The version that a node reports for a transaction. */
type TransactionVersion = 'legacy' | 0 | 1 | 2;

interface Executed {
  readonly version: TransactionVersion;
  readonly signature: string;
  readonly slot: number;
  readonly message: Message;
  readonly meta: Json;
  /** Every account that the transaction names. */
  readonly accounts: readonly string[];
}

interface SlotBlock {
  readonly slot: number;
  readonly hash: string;
  readonly parent: string;
  readonly time: number;
  readonly transactions: Executed[];
  /** The accounts that its transactions name, as they were before those. */
  readonly former: Map<string, Account>;
}

type Account = ReturnType<LiteSVM['getAccount']>;

export function newWallet(): Wallet {
  const secret = randomBytes(32);
  return { address: base58.encode(ed25519.getPublicKey(secret)), secret };
}

/**
 * Solana's runtime and token program (litesvm) behind a JSON-RPC server with slots, commitments,
 * signatures, balances before and after, and forks: what the adapter relies on, in the documented
 * formats.
 */
export class SolanaNode {
  readonly payer = newWallet();
  readonly asked: string[] = [];
  requests = 0;
  /** Bytes sent in responses. */
  bytes = 0;
  url = '';
  /** Whether the final slot comes from another server, which has finalized all blocks. */
  isFinalElsewhere = false;
  /** Whether lists of signatures end before the newest slot, as from a lagging backend. */
  hidesNewest = false;
  /** A signature that all lists leave out. */
  hidden: string | undefined;
  readonly #svm: LiteSVM;
  readonly #now: () => number;
  #blocks: SlotBlock[] = [];
  #slot = 1_000;
  /** How old new blocks are, in seconds. */
  #age = 0;

  readonly #genesis: string;
  readonly #blocksMaximum: number;

  constructor(
    now: () => number,
    {
      genesis = GENESIS,
      blocksMaximum = Number.POSITIVE_INFINITY,
    }: {
      readonly genesis?: string;
      /** Older blocks are dropped. */
      readonly blocksMaximum?: number;
    } = {},
  ) {
    this.#now = now;
    this.#genesis = genesis;
    this.#blocksMaximum = blocksMaximum;
    this.#svm = new LiteSVM().withTransactionHistory(0n);
    this.airdrop(this.payer.address, 1_000_000n * SOL);
    this.#setMint(USDC);
    // The first blocks are a minute old: a watcher starts some time before what it looks for.
    this.#age = 60;
    this.mine(40);
    this.#age = 0;
  }

  get slot(): number {
    return this.#blocks.at(-1)?.slot ?? 0;
  }

  get finalSlot(): number {
    return this.slot - FINAL_DEPTH;
  }

  /** Sets the lamports of a wallet's account, without a transaction. */
  airdrop(address: string, lamports: bigint): void {
    this.#set(address, SYSTEM, Buffer.alloc(0), lamports);
  }

  /** Makes slots with one block each. */
  mine(count = 1): void {
    for (let made = 0; made < count; made++) {
      this.#slot += 1;
      this.#blocks.push({
        slot: this.#slot,
        hash: base58.encode(randomBytes(32)),
        parent: this.#blocks.at(-1)?.hash ?? this.#genesis,
        time: Math.floor(this.#now() / 1_000) - this.#age,
        transactions: [],
        former: new Map(),
      });
      this.#svm.expireBlockhash();
    }
    // In large steps, since shortening a list is slow.
    if (this.#blocks.length > 2 * this.#blocksMaximum) {
      this.#blocks = this.#blocks.slice(-this.#blocksMaximum);
    }
  }

  /** Skips slots, which then have no block. */
  skipSlots(count = 1): void {
    this.#slot += count;
  }

  /** Undoes blocks that are not final, with their transactions. */
  undo(count: number): string[] {
    const undone = this.#blocks.splice(this.#blocks.length - count);
    for (const { former } of undone.toReversed()) {
      for (const [address, account] of former) {
        if (account.exists) this.#svm.setAccount(account);
        else this.#set(address, SYSTEM, Buffer.alloc(0), 0n);
      }
    }
    return undone.flatMap(({ transactions }) => transactions.map(({ signature }) => signature));
  }

  /** Executes a transaction in a slot of its own. Returns its signature, even if it failed. */
  send(
    instructions: readonly Instruction[],
    signers: readonly Wallet[] = [],
    lookup?: Lookup,
    version?: TransactionVersion,
  ): string {
    this.mine();
    return this.sendInSlot(instructions, signers, lookup, version);
  }

  /**
   * Executes a transaction in the newest slot.
   * @param version The version that the node reports; one later than 0 is executed as legacy, since the runtime
   * does not know it.
   */
  sendInSlot(
    instructions: readonly Instruction[],
    signers: readonly Wallet[] = [],
    lookup?: Lookup,
    version: TransactionVersion = lookup === undefined ? 'legacy' : 0,
  ): string {
    const svm = this.#svm;
    const all = [this.payer, ...signers];
    const message = writeMessage(this.payer.address, instructions, svm.latestBlockhash(), lookup);
    const signatures = Object.fromEntries(
      message.signers.map(address => {
        const wallet = all.find(each => each.address === address) ?? this.payer;
        return [address, ed25519.sign(message.bytes, wallet.secret)];
      }),
    );
    const signature = base58.encode(signatures[this.payer.address] ?? new Uint8Array());
    const accounts = [...message.keys, ...message.loaded.writable, ...message.loaded.readonly];
    const before = this.#balances(accounts);
    const block = this.#blocks.at(-1);
    for (const each of accounts) {
      if (block?.former.has(each) === false) block.former.set(each, svm.getAccount(each as never));
    }
    const result = svm.sendTransaction({ messageBytes: message.bytes, signatures } as never);
    const failed = result instanceof FailedTransactionMetadata;
    const after = this.#balances(accounts);
    const meta = {
      err: failed ? { InstructionError: [0, { Custom: 1 }] } : null,
      fee: 5000,
      preBalances: before.lamports,
      postBalances: after.lamports,
      preTokenBalances: before.tokens,
      postTokenBalances: after.tokens,
      loadedAddresses: message.loaded,
    };
    block?.transactions.push({ version, signature, slot: block.slot, message, meta, accounts });
    return signature;
  }

  /** Creates the associated account of an owner, if there is none, and adds tokens to it. */
  fund(owner: string, amount: bigint, mint = USDC): string {
    const account = associatedAccount(owner, mint);
    if (!this.#svm.getAccount(account as never).exists) {
      this.send([createAssociated(this.payer.address, account, owner, mint)]);
    }
    this.setTokens(account, owner, amount, mint);
    return account;
  }

  /** Sets the content of a token account, without a transaction. */
  setTokens(account: string, owner: string, amount: bigint, mint = USDC): void {
    const data = Buffer.alloc(165);
    Buffer.from(base58.decode(mint)).copy(data, 0);
    Buffer.from(base58.decode(owner)).copy(data, 32);
    data.writeBigUInt64LE(amount, 64);
    data[108] = 1;
    this.#set(account, TOKEN, data);
  }

  /** A lookup table with these addresses. */
  addTable(addresses: readonly string[]): string {
    const table = newWallet().address;
    const meta = Buffer.alloc(56);
    meta.writeUInt32LE(1, 0);
    meta.writeBigUInt64LE(0xffff_ffff_ffff_ffffn, 4);
    this.#set(table, LOOKUP, Buffer.concat([meta, ...addresses.map(each => base58.decode(each))]));
    // A table can be used from the slot after its creation.
    this.#svm.warpToSlot(this.#svm.getClock().slot + 10n);
    return table;
  }

  setMint(mint: string, decimals = 6, owner = TOKEN): void {
    this.#setMint(mint, decimals, owner);
  }

  #setMint(mint: string, decimals = 6, owner = TOKEN): void {
    const data = Buffer.alloc(82);
    data[44] = decimals;
    data[45] = 1;
    this.#set(mint, owner, data);
  }

  #set(address: string, owner: string, data: Buffer, lamports = SOL): void {
    this.#svm.setAccount({
      address,
      data: new Uint8Array(data),
      executable: false,
      lamports,
      programAddress: owner,
      space: BigInt(data.length),
    } as never);
  }

  #balances(accounts: readonly string[]) {
    const lamports = accounts.map(each => Number(this.#svm.getBalance(each as never) ?? 0n));
    const tokens = accounts.flatMap((each, accountIndex) => {
      const account = this.#svm.getAccount(each as never);
      if (!account.exists || account.programAddress !== TOKEN || account.data.length !== 165) {
        return [];
      }
      const data = Buffer.from(account.data);
      const amount = data.readBigUInt64LE(64).toString();
      return [
        {
          accountIndex,
          mint: base58.encode(data.subarray(0, 32)),
          owner: base58.encode(data.subarray(32, 64)),
          programId: TOKEN,
          uiTokenAmount: {
            amount,
            decimals: 6,
            uiAmount: Number(amount) / 1e6,
            uiAmountString: String(Number(amount) / 1e6),
          },
        },
      ];
    });
    return { lamports, tokens };
  }

  async start(): Promise<() => Promise<void>> {
    const { url, stop } = await serveJson(body => {
      this.requests += 1;
      const answer = Array.isArray(body)
        ? body.map(each => this.#answer(each))
        : this.#answer(body as Json);
      const written = JSON.stringify(answer);
      this.bytes += written.length;
      return written;
    });
    this.url = url;
    return stop;
  }

  #answer({ id, method, params = [] }: Json): Json {
    this.asked.push(String(method));
    try {
      const result = this.#result(String(method), params as unknown[]);
      return { jsonrpc: '2.0', result, id };
    } catch (error) {
      if (!(error instanceof SlotError)) throw error;
      return { jsonrpc: '2.0', error: { code: error.code, message: error.message }, id };
    }
  }

  #result(method: string, params: unknown[]): unknown {
    const [first, second] = params;
    const options = (params.at(-1) ?? {}) as Json;
    const context = { apiVersion: '3.0.0', slot: this.#top(options) };
    if (typeof options === 'object' && Number(options.minContextSlot ?? 0) > this.#top(options)) {
      throw new SlotError(-32016, 'Minimum context slot has not been reached');
    }
    switch (method) {
      case 'getGenesisHash':
        return this.#genesis;
      case 'getFirstAvailableBlock':
        return this.#blocks[0]?.slot;
      case 'getSlot':
        return options.commitment === 'finalized' && !this.isFinalElsewhere
          ? this.finalSlot
          : this.slot;
      case 'getLatestBlockhash': {
        const blockhash = this.#blocks.at(-1)?.hash;
        return { context, value: { blockhash, lastValidBlockHeight: this.slot } };
      }
      case 'getBlock':
        return this.#block(Number(first), options);
      case 'getBlocks':
        return this.#blocks
          .map(({ slot }) => slot)
          .filter(slot => slot >= Number(first) && slot <= Number(second));
      case 'getAccountInfo':
        return { context, value: this.#account(String(first), options) };
      case 'getMultipleAccounts': {
        const accounts = first as string[];
        if (accounts.length > 100) throw new SlotError(-32602, 'Too many inputs provided; max 100');
        return { context, value: accounts.map(each => this.#account(each, options)) };
      }
      case 'getTokenAccountsByOwner':
        return {
          context,
          value: this.#tokenAccounts(String(first), String((second as Json).mint)),
        };
      case 'getSignaturesForAddress':
        return this.#signatures(String(first), options);
      case 'getTransaction':
        return this.#transaction(String(first), options);
      case 'getSignatureStatuses':
        return { context, value: (first as string[]).map(each => this.#status(each)) };
      default:
        throw new Error(`the node is not asked for ${method}`);
    }
  }

  #top({ commitment }: Json): number {
    return commitment === 'finalized' ? this.finalSlot : this.slot;
  }

  #block(slot: number, options: Json): Json {
    const { transactionDetails, maxSupportedTransactionVersion } = options;
    const block = this.#blocks.find(each => each.slot === slot);
    if (block === undefined || slot > this.#top(options)) {
      throw slot > this.#top(options)
        ? new SlotError(-32004, `Block not available for slot ${slot}`)
        : new SlotError(-32007, `Slot ${slot} was skipped, or missing due to ledger jump`);
    }
    const before = this.#blocks[this.#blocks.indexOf(block) - 1];
    return {
      blockHeight: slot - 10,
      blockTime: block.time,
      blockhash: block.hash,
      parentSlot: before?.slot ?? slot - 1,
      previousBlockhash: block.parent,
      ...(transactionDetails === 'accounts' && {
        transactions: block.transactions.map(each =>
          toAccounts(each, maxSupportedTransactionVersion),
        ),
      }),
    };
  }

  #account(address: string, { dataSlice, commitment }: Json): Json | null {
    const top = this.#top({ commitment });
    const later = this.#blocks.find(({ slot, former }) => slot > top && former.has(address));
    const account = later?.former.get(address) ?? this.#svm.getAccount(address as never);
    if (!account.exists || account.lamports === (0n as never)) return null;
    const { offset = 0, length = account.data.length } = (dataSlice ?? {}) as Record<
      string,
      number
    >;
    const data = Buffer.from(account.data)
      .subarray(offset, offset + length)
      .toString('base64');
    return {
      data: [data, 'base64'],
      executable: account.executable,
      lamports: Number(account.lamports),
      owner: account.programAddress,
      rentEpoch: 18_446_744_073_709_552_000,
      space: account.data.length,
    };
  }

  #tokenAccounts(owner: string, mint: string): Json[] {
    return this.#svm.getProgramAccounts(TOKEN as never).flatMap(({ address, data }) => {
      const bytes = Buffer.from(data);
      const isOwn =
        bytes.length === 165 &&
        base58.encode(bytes.subarray(0, 32)) === mint &&
        base58.encode(bytes.subarray(32, 64)) === owner;
      return isOwn
        ? [
            {
              pubkey: address,
              account: this.#account(address, { dataSlice: { offset: 0, length: 0 } }),
            },
          ]
        : [];
    });
  }

  #signatures(address: string, { limit = 1000, before, commitment }: Json): Json[] {
    const confirmed = this.hidesNewest ? this.slot - 1 : this.slot;
    const top = commitment === 'finalized' ? this.finalSlot : confirmed;
    const all = this.#blocks
      .filter(({ slot }) => slot <= top)
      .flatMap(({ transactions, time }) => transactions.map(each => ({ ...each, time })))
      .filter(each => each.accounts.includes(address) && each.signature !== this.hidden)
      .reverse();
    const start = before === undefined ? 0 : all.findIndex(each => each.signature === before) + 1;
    return all.slice(start, start + Number(limit)).map(({ signature, slot, meta, time }) => ({
      signature,
      slot,
      err: meta.err,
      memo: null,
      blockTime: time,
      confirmationStatus: slot <= this.finalSlot ? 'finalized' : 'confirmed',
    }));
  }

  #find(signature: string) {
    for (const block of this.#blocks) {
      const found = block.transactions.find(each => each.signature === signature);
      if (found !== undefined) return { block, found };
    }
    return undefined;
  }

  #transaction(signature: string, options: Json): Json | null {
    const known = this.#find(signature);
    if (known === undefined || known.block.slot > this.#top(options)) return null;
    const { block, found } = known;
    const { message, version } = found;
    requireSupported(version, options.maxSupportedTransactionVersion);
    return {
      slot: block.slot,
      blockTime: block.time,
      version,
      meta: found.meta,
      transaction: {
        signatures: [signature],
        message: {
          accountKeys: message.keys,
          header: message.header,
          recentBlockhash: block.parent,
          ...(version === 1 && { transactionConfig: TRANSACTION_CONFIG }),
        },
      },
    };
  }

  #status(signature: string): Json | null {
    const known = this.#find(signature);
    if (known === undefined) return null;
    const { slot } = known.block;
    const isFinal = slot <= this.finalSlot;
    return {
      slot,
      confirmations: isFinal ? null : this.slot - slot,
      err: known.found.meta.err,
      status: known.found.meta.err === null ? { Ok: null } : { Err: known.found.meta.err },
      confirmationStatus: isFinal ? 'finalized' : 'confirmed',
    };
  }
}

function requireSupported(version: TransactionVersion, maximum: unknown): void {
  if (version === 'legacy' || version <= Number(maximum ?? -1)) return;
  throw new SlotError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client.`,
  );
}

/** A transaction in a block that is requested with accounts. */
function toAccounts({ version, signature, message, meta }: Executed, maximum: unknown): Json {
  requireSupported(version, maximum);
  const { keys, header, loaded } = message;
  const unsigned = keys.length - header.numRequiredSignatures;
  const accountKeys = keys.map((pubkey, index) => {
    const signer = index < header.numRequiredSignatures;
    const place = signer ? index : index - header.numRequiredSignatures;
    const writable = signer
      ? place < header.numRequiredSignatures - header.numReadonlySignedAccounts
      : place < unsigned - header.numReadonlyUnsignedAccounts;
    return { pubkey, signer, source: 'transaction', writable };
  });
  const loadedKeys = ([true, false] as const).flatMap(writable =>
    loaded[writable ? 'writable' : 'readonly'].map(pubkey => ({
      pubkey,
      signer: false,
      source: 'lookupTable',
      writable,
    })),
  );
  const { err, fee, preBalances, postBalances, preTokenBalances, postTokenBalances } = meta;
  const status = err === null ? { Ok: null } : { Err: err };
  return {
    meta: { err, fee, preBalances, postBalances, preTokenBalances, postTokenBalances, status },
    transaction: { accountKeys: [...accountKeys, ...loadedKeys], signatures: [signature] },
    version,
  };
}

/** A JSON-RPC error with its code. */
class SlotError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
