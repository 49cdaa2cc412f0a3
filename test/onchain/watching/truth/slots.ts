import type { ChainId } from '#chains/chain-list.ts';
import type { ChainFamily } from '#storage/database/watching-tables.ts';

/** A chain of the service as which generated blocks are shown, with the networks that are paid on. */
export interface Slot {
  readonly chain: ChainId;
  readonly family: Exclude<ChainFamily, 'tron'>;
  readonly networks: readonly string[];
  /** Whether its blocks may be undone. */
  readonly mayFork: boolean;
}

/** Each seed has one slot, so that a group of seeds can be played side by side. */
export const SLOTS: readonly Slot[] = [
  slot('eth-test', 'evm', ['eth-usdc-test', 'eth-test']),
  slot('btc-test', 'bitcoin', ['btc-test']),
  slot('sol-dev', 'solana', ['sol-usdc-dev', 'sol-dev']),
  slot('bnb', 'evm', ['bnb-usdt', 'bnb']),
  slot('btc', 'bitcoin', ['btc']),
  slot('eth', 'evm', ['eth-usdt', 'eth-usdc', 'eth']),
  slot('sol', 'solana', ['sol-usdc', 'sol']),
  { ...slot('avax', 'evm', ['avax-usdt', 'avax']), mayFork: false },
];

/** Seeds that are played together. */
export const CHAIN_GROUP = SLOTS.length;

function slot(chain: ChainId, family: Slot['family'], networks: readonly string[]): Slot {
  return { chain, family, networks, mayFork: true };
}

export function slotOf(seed: number): Slot {
  const found = SLOTS[seed % CHAIN_GROUP];
  if (found === undefined) throw new RangeError(`${seed} is no seed`);
  return found;
}

/** Addresses of merchants, by family. Each chain has its own rows, so that all chains may use the same addresses. */
const EVM = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
];
const BITCOIN = [
  'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3',
];
const BITCOIN_TEST = [
  'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx',
  'tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sl5k7',
];
const SOLANA = [
  '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
  '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
];

export function addressesOf({ chain, family }: Slot): readonly string[] {
  if (family === 'evm') return EVM;
  if (family === 'solana') return SOLANA;
  return chain === 'btc' ? BITCOIN : BITCOIN_TEST;
}
