import { base58 } from '@scure/base';
import { associatedAccount } from '#chains/solana/programs.ts';
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
import type { Moving, Paying } from './paying.ts';
import { Refused, type View } from './view.ts';

const SKIPPED = -32_007;
const NOT_YET = -32_004;
const BEHIND = -32_016;

interface TokenGain {
  readonly index: number;
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
}

interface SolanaWire {
  readonly accounts: readonly string[];
  /** Number of accounts at the end of the list that neither sign nor are writable. */
  readonly readonly: number;
  /** In lamports, by the index of the account. */
  readonly lamports: ReadonlyMap<number, bigint>;
  readonly tokens: readonly TokenGain[];
  readonly isFailed: boolean;
  readonly version: 'legacy' | 0 | 1;
}

type Transaction = MadeTransaction<SolanaWire>;

const text32 = (name: string) => base58.encode(Buffer.from(digits(name), 'hex'));
const text64 = (name: string) =>
  base58.encode(Buffer.from(`${digits(name)}${digits(`more ${name}`)}`, 'hex'));

export const SOLANA: Family = {
  seal: (_, salt) => text32(`block ${salt}`),
  skewMs: 30_000,
  isSparse: true,
  nothing: text32('nothing'),
};

/** Every account starts with this much of each asset: more than ever leaves it. */
const HELD_BEFORE = 10n ** 15n;
const PAYER = text32('payer');
const STRANGER = text32('stranger');
const OTHER_MINT = text32('another mint');

/** Cached token accounts of owners: deriving one takes a while. */
const known = new Map<string, readonly string[]>();

/** The associated token account of an owner, and another one. */
function tokenAccounts(owner: string, mint: string): readonly string[] {
  const key = `${owner} ${mint}`;
  const own = known.get(key) ?? [associatedAccount(owner, mint), text32(`another ${key}`)];
  known.set(key, own);
  return own;
}

/** A transaction that pays as given, among other things. */
export function makeSolana(random: Random, name: string, paying: Paying): Transaction {
  const { network, contract: mint, address, amount, fate, sentAt, spends, payment, names } = paying;
  const accounts = [PAYER];
  const lamports = new Map<number, bigint>([[0, -5_000n]]);
  const tokens: TokenGain[] = [];
  const noise = () => {
    for (let count = random.below(3); count > 0; count--) {
      const index = accounts.push(text32(`account ${name} ${accounts.length}`)) - 1;
      const other = random.pick([
        { mint: mint ?? OTHER_MINT, owner: STRANGER },
        // Worthless tokens in an account of the merchant.
        { mint: OTHER_MINT, owner: address },
      ]);
      tokens.push({ index, ...other, amount });
    }
  };
  noise();
  const position = accounts.length;
  let gained = amount;
  if (mint === null) {
    accounts.push(address);
    lamports.set(position, amount);
  } else {
    const [first = '', second = ''] = tokenAccounts(address, mint);
    const isOther = random.chance(20);
    accounts.push(isOther ? second : first);
    tokens.push({ index: position, mint, owner: address, amount });
    noise();
    // Amounts to both accounts of an owner form one transfer.
    if (random.chance(10)) {
      const index = accounts.push(isOther ? first : second) - 1;
      tokens.push({ index, mint, owner: address, amount: amount * 7n });
      gained += amount * 7n;
    }
  }
  noise();
  const others = [text32('a program'), ...(paying.reference === null ? [] : [paying.reference])];
  accounts.push(...others);
  const isFailed = fate === 'failed';
  const transfers: MadeTransfer[] = isFailed
    ? []
    : [{ network, address, amount: gained, position }];
  const version = random.pick(['legacy', 0, 1] as const);
  const wire = { accounts, readonly: others.length, lamports, tokens, isFailed, version };
  return { hash: text64(`tx ${name}`), sentAt, fate, spends, payment, names, transfers, wire };
}

/** A transaction by which funds leave an address. */
export function moveSolana(name: string, moving: Moving): Transaction {
  const { address, contract: mint, amount, sentAt, spends } = moving;
  const [account = ''] = mint === null ? [] : tokenAccounts(address, mint);
  const taken = { index: 1, mint: mint ?? '', owner: address, amount: -amount };
  return {
    hash: text64(`tx ${name}`),
    sentAt,
    fate: 'plain',
    spends,
    payment: null,
    names: null,
    transfers: [],
    wire: {
      accounts: [address, ...(mint === null ? [] : [account]), text32('a program')],
      readonly: 1,
      lamports: new Map([[0, -5_000n - (mint === null ? amount : 0n)]]),
      tokens: mint === null ? [] : [taken],
      isFailed: false,
      version: 0,
    },
  };
}

interface Placed {
  readonly block: MadeBlock;
  readonly transaction: Transaction;
}

function placed(branch: Branch): Placed[] {
  return branch.flatMap(block =>
    block.transactions.map(each => ({ block, transaction: each as Transaction })),
  );
}

/**
 * Responds to a call like a Solana node with this view.
 * @throws Refused
 */
export function answerSolana(
  { branch: confirmed, finalHeight, leavesOut }: View,
  _: GeneratedChain,
  { method, params }: { readonly method: string; readonly params: readonly unknown[] },
): unknown {
  const [first, second] = params;
  const { minContextSlot = 0, commitment } = (params.at(-1) ?? {}) as Options;
  const isFinal = commitment === 'finalized';
  const branch = isFinal ? confirmed.filter(({ height }) => height <= finalHeight) : confirmed;
  const tip = branch.at(-1);
  const slot = tip?.height ?? 0;
  const inContext = (value: unknown) => ({ context: { slot }, value });
  if (minContextSlot > slot) {
    throw new Refused(BEHIND, 'Minimum context slot has not been reached');
  }
  switch (method) {
    case 'getGenesisHash':
      return branch[0]?.hash;
    case 'getLatestBlockhash':
      return inContext({ blockhash: tip?.hash, lastValidBlockHeight: slot });
    case 'getSlot':
      return slot;
    case 'getBlock': {
      const block = branch.find(({ height }) => height === first);
      if (Number(first) > slot) throw new Refused(NOT_YET, 'Block not available for slot');
      if (block === undefined) throw new Refused(SKIPPED, `Slot ${first} was skipped`);
      const { hash, parentHash, time } = block;
      const parentSlot = branch[branch.indexOf(block) - 1]?.height ?? 0;
      const whole = placed([block])
        .filter(({ transaction }) => !leavesOut(transaction, ['transaction']))
        .map(place => ({ ...show(place), transaction: named(place) }));
      return {
        blockhash: hash,
        previousBlockhash: parentHash,
        parentSlot,
        blockTime: time,
        ...((second as Options).transactionDetails === 'accounts' ? { transactions: whole } : {}),
      };
    }
    case 'getBlocks':
      return branch
        .map(({ height }) => height)
        .filter(height => height >= Number(first) && height <= Number(second));
    case 'getSignaturesForAddress': {
      const { limit, before } = second as Listing;
      const own = placed(branch)
        .filter(({ transaction }) => transaction.wire.accounts.includes(String(first)))
        .filter(({ transaction }) => !leavesOut(transaction, ['signature']))
        .toReversed();
      const start = own.findIndex(({ transaction }) => transaction.hash === before) + 1;
      return own.slice(start, start + limit).map(({ block, transaction }) => ({
        signature: transaction.hash,
        slot: block.height,
        err: transaction.wire.isFailed ? { InstructionError: [0, 'Custom'] } : null,
      }));
    }
    case 'getTransaction': {
      const found = placed(branch).find(({ transaction }) => transaction.hash === first);
      return found === undefined || leavesOut(found.transaction, ['transaction'])
        ? null
        : show(found);
    }
    case 'getSignatureStatuses': {
      const own = first as readonly string[];
      const found = placed(branch);
      return inContext(
        own.map(hash => {
          const place = found.find(({ transaction }) => transaction.hash === hash);
          if (place === undefined) return null;
          const { height } = place.block;
          const confirmationStatus = height <= finalHeight ? 'finalized' : 'confirmed';
          return { slot: height, err: null, confirmationStatus };
        }),
      );
    }
    case 'getMultipleAccounts':
      return inContext((first as readonly string[]).map(account => stateOf(branch, account)));
    case 'getTokenAccountsByOwner': {
      const { mint } = second as { readonly mint: string };
      return inContext(tokenAccounts(String(first), mint).map(pubkey => ({ pubkey })));
    }
    default:
      throw new Refused(-32_601, 'Method not found');
  }
}

interface Options {
  readonly minContextSlot?: number;
  readonly commitment?: string;
  readonly transactionDetails?: string;
}

interface Listing {
  readonly limit: number;
  readonly before?: string;
}

/** A transaction in a block, with its accounts only. */
function named({ transaction: { hash, wire } }: Placed) {
  const first = wire.accounts.length - wire.readonly;
  const accountKeys = wire.accounts.map((pubkey, index) => ({
    pubkey,
    signer: index === 0,
    writable: index < first,
  }));
  return { signatures: [hash], accountKeys };
}

function stateOf(branch: Branch, account: string): unknown {
  let lamports = HELD_BEFORE;
  let tokens = HELD_BEFORE;
  for (const { transaction } of placed(branch)) {
    const { accounts, isFailed, lamports: moved, tokens: gains } = transaction.wire;
    const index = accounts.indexOf(account);
    if (index === -1 || isFailed) continue;
    lamports += moved.get(index) ?? 0n;
    for (const gain of gains) if (gain.index === index) tokens += gain.amount;
  }
  const data = Buffer.alloc(8);
  data.writeBigUInt64LE(tokens);
  return { lamports: Number(lamports), data: [data.toString('base64'), 'base64'] };
}

function show({ block, transaction: { hash, wire } }: Placed) {
  const { accounts, readonly: count, lamports, tokens, isFailed, version } = wire;
  const before = accounts.map(() => Number(HELD_BEFORE));
  const gained = (index: number) => (isFailed ? 0 : Number(lamports.get(index) ?? 0n));
  const balance = ({ index, mint, owner }: TokenGain, amount: bigint) => ({
    accountIndex: index,
    mint,
    owner,
    uiTokenAmount: { amount: String(amount) },
  });
  return {
    slot: block.height,
    blockTime: block.time,
    version,
    meta: {
      err: isFailed ? { InstructionError: [0, 'Custom'] } : null,
      preBalances: before,
      postBalances: before.map((held, index) => held + gained(index)),
      preTokenBalances: tokens.map(each => balance(each, HELD_BEFORE)),
      postTokenBalances: tokens.map(each =>
        balance(each, HELD_BEFORE + (isFailed ? 0n : each.amount)),
      ),
      loadedAddresses: { writable: [], readonly: [] },
    },
    transaction: {
      signatures: [hash],
      message: { accountKeys: accounts, header: { numReadonlyUnsignedAccounts: count } },
    },
  };
}
