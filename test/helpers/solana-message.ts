import { base58 } from '@scure/base';

export const SYSTEM = '11111111111111111111111111111111';
export const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const ASSOCIATED = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
export const LOOKUP = 'AddressLookupTab1e1111111111111111111111111';

interface AccountUse {
  readonly address: string;
  readonly signs?: boolean;
  readonly writes?: boolean;
}

export interface Instruction {
  readonly program: string;
  readonly accounts: readonly AccountUse[];
  readonly data: Uint8Array;
}

/** A lookup table, and the addresses that a transaction takes from it. */
export interface Lookup {
  readonly table: string;
  readonly addresses: readonly string[];
}

/** A message as it is signed, and the accounts that it names. */
export interface Message {
  readonly bytes: Uint8Array;
  readonly signers: readonly string[];
  /** In the order of the message, without those from lookup tables. */
  readonly keys: readonly string[];
  readonly header: {
    readonly numRequiredSignatures: number;
    readonly numReadonlySignedAccounts: number;
    readonly numReadonlyUnsignedAccounts: number;
  };
  readonly loaded: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
}

function number64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

/** Transfers lamports between two accounts; `references` are accounts that a wallet adds. */
export function sendLamports(
  from: string,
  to: string,
  lamports: bigint,
  references: readonly string[] = [],
): Instruction {
  return {
    program: SYSTEM,
    accounts: [
      { address: from, signs: true, writes: true },
      { address: to, writes: true },
      ...references.map(address => ({ address })),
    ],
    data: Buffer.concat([Buffer.from([2, 0, 0, 0]), number64(lamports)]),
  };
}

/** Creates an associated token account. */
export function createAssociated(
  payer: string,
  account: string,
  owner: string,
  mint: string,
): Instruction {
  return {
    program: ASSOCIATED,
    accounts: [
      { address: payer, signs: true, writes: true },
      { address: account, writes: true },
      { address: owner },
      { address: mint },
      { address: SYSTEM },
      { address: TOKEN },
    ],
    data: new Uint8Array(),
  };
}

export function sendTokens(from: string, to: string, owner: string, amount: bigint): Instruction {
  return {
    program: TOKEN,
    accounts: [
      { address: from, writes: true },
      { address: to, writes: true },
      { address: owner, signs: true },
    ],
    data: Buffer.concat([Buffer.from([3]), number64(amount)]),
  };
}

/** Closes an empty token account. */
export function closeAccount(account: string, owner: string): Instruction {
  return {
    program: TOKEN,
    accounts: [
      { address: account, writes: true },
      { address: owner, writes: true },
      { address: owner, signs: true },
    ],
    data: Buffer.from([9]),
  };
}

/** Lengths below 128, which suffice for tests, are one byte. */
function list(items: readonly Uint8Array[]): Uint8Array {
  if (items.length > 127) throw new Error('too many for a test');
  return Buffer.concat([Buffer.from([items.length]), ...items]);
}

/** Serialises a message: version 0 if it has lookups, legacy otherwise. */
export function writeMessage(
  payer: string,
  instructions: readonly Instruction[],
  blockhash: string,
  lookup?: Lookup,
): Message {
  const uses = new Map<string, { signs: boolean; writes: boolean }>([
    [payer, { signs: true, writes: true }],
  ]);
  const note = ({ address, signs = false, writes = false }: AccountUse) => {
    const known = uses.get(address) ?? { signs: false, writes: false };
    uses.set(address, { signs: known.signs || signs, writes: known.writes || writes });
  };
  for (const { program, accounts } of instructions) {
    note({ address: program });
    accounts.forEach(note);
  }
  const taken = new Set(lookup?.addresses ?? []);
  const direct = [...uses].filter(([address]) => !taken.has(address));
  const group = (signs: boolean, writes: boolean) =>
    direct.filter(([, use]) => use.signs === signs && use.writes === writes).map(([key]) => key);
  const groups = [group(true, true), group(true, false), group(false, true), group(false, false)];
  const keys = groups.flat();
  const indexed = (lookup?.addresses ?? []).map((address, index) => ({ address, index }));
  const writable = indexed.filter(({ address }) => uses.get(address)?.writes === true);
  const readonly = indexed.filter(({ address }) => uses.get(address)?.writes !== true);
  const all = [
    ...keys,
    ...writable.map(each => each.address),
    ...readonly.map(each => each.address),
  ];
  const header = {
    numRequiredSignatures: (groups[0]?.length ?? 0) + (groups[1]?.length ?? 0),
    numReadonlySignedAccounts: groups[1]?.length ?? 0,
    numReadonlyUnsignedAccounts: groups[3]?.length ?? 0,
  };
  const compiled = instructions.map(({ program, accounts, data }) =>
    Buffer.concat([
      Buffer.from([all.indexOf(program)]),
      list(accounts.map(({ address }) => Buffer.from([all.indexOf(address)]))),
      Buffer.from([data.length]),
      data,
    ]),
  );
  const places = (each: readonly { index: number }[]) =>
    list(each.map(({ index }) => Buffer.from([index])));
  const bytes = Buffer.concat([
    lookup === undefined ? Buffer.alloc(0) : Buffer.from([0x80]),
    Buffer.from(Object.values(header)),
    list(keys.map(key => base58.decode(key))),
    base58.decode(blockhash),
    list(compiled),
    lookup === undefined
      ? Buffer.alloc(0)
      : list([Buffer.concat([base58.decode(lookup.table), places(writable), places(readonly)])]),
  ]);
  return {
    bytes,
    keys,
    header,
    signers: keys.slice(0, header.numRequiredSignatures),
    loaded: {
      writable: writable.map(({ address }) => address),
      readonly: readonly.map(({ address }) => address),
    },
  };
}
