import type { Random } from '../../settlement/truth/random.ts';
import { digits, type MadeTransaction, type MadeTransfer } from './generated-chain.ts';
import type { Moving, Paying } from './paying.ts';

export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const APPROVAL = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925';
const SENDER = `0x${'5e'.repeat(20)}`;
const STRANGER = `0x${'bd'.repeat(20)}`;
const LOOK_ALIKE = `0x${'ac'.repeat(20)}`;

interface Log {
  readonly contract: string;
  readonly topics: readonly string[];
  readonly data: string;
}

export interface EvmWire {
  readonly from: string;
  readonly to: string;
  readonly value: bigint;
  readonly logs: readonly Log[];
  readonly isFailed: boolean;
}

export const hex = (value: number | bigint) => `0x${value.toString(16)}`;
export const word = (text: string) =>
  `0x${text.replace(/^0x/, '').toLowerCase().padStart(64, '0')}`;

function logOf(contract: string, to: string, amount: bigint, from = SENDER): Log {
  const topics = [TRANSFER, word(from), word(to)];
  return { contract: contract.toLowerCase(), topics, data: word(hex(amount)) };
}

/** Logs around a payment in its transaction, which pay nobody. */
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

/** A transaction that pays as given, among other things. */
export function makeEvm(random: Random, name: string, paying: Paying): MadeTransaction<EvmWire> {
  const { network, address, contract, amount, fate, sentAt, spends, payment, names } = paying;
  const isNative = contract === null;
  const before = drawNoise(random, paying);
  const own = isNative ? [] : [logOf(contract, address, amount)];
  // The second one is far too large for any payment.
  const second = !isNative && random.chance(12) ? [logOf(contract, address, amount * 7n)] : [];
  const logs = [...before, ...own, ...drawNoise(random, paying), ...second];
  const isFailed = fate === 'failed';
  const transfers: MadeTransfer[] = isNative
    ? [{ network, address, amount, position: 0 }]
    : [...own, ...second].map(log => ({
        network,
        address,
        amount: BigInt(log.data),
        position: logs.indexOf(log),
      }));
  return {
    hash: `0x${digits(`tx ${name}`)}`,
    sentAt,
    fate,
    spends,
    payment,
    names,
    transfers: isFailed ? [] : transfers,
    wire: {
      from: SENDER,
      to: (contract ?? address).toLowerCase(),
      isFailed,
      value: isNative ? amount : 0n,
      logs: isFailed ? [] : logs,
    },
  };
}

/** A transaction by which funds leave an address. */
export function moveEvm(name: string, moving: Moving): MadeTransaction<EvmWire> {
  const { address, contract, amount, sentAt, spends } = moving;
  return {
    hash: `0x${digits(`tx ${name}`)}`,
    sentAt,
    fate: 'plain',
    spends,
    payment: null,
    names: null,
    transfers: [],
    wire: {
      from: address.toLowerCase(),
      to: contract?.toLowerCase() ?? STRANGER,
      isFailed: false,
      value: contract === null ? amount : 0n,
      logs: contract === null ? [] : [logOf(contract, STRANGER, amount, address)],
    },
  };
}
