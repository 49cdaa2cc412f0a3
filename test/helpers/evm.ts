import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { hex } from '@scure/base';
import compiled from '../chains/evm/contracts/compiled.json' with { type: 'json' };
import { type Anvil, type AnvilOptions, startAnvil } from './anvil.ts';
import { type NodeProxy, startNodeProxy } from './node-proxy.ts';

/** The contract of eth-usdc-test. */
export const USDC_TEST = '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238';

/** Anvil's unlocked accounts, each with 10,000 ether, in EIP-55. */
export const RICH = [
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
] as const;

/** The default for a transaction. Gas of failing ones must not be estimated: anvil refuses them then. */
const GAS = 500_000;
/** For each recipient of a batch: two new storage slots, a log and a call. */
const GAS_PER_RECIPIENT = 40_000;

type Argument = string | bigint | readonly string[] | readonly bigint[];

export interface Transaction {
  /** The first rich account unless given; anvil must be unlocked for it. */
  readonly from?: string;
  /** null creates a contract. */
  readonly to: string | null;
  /** In wei. */
  readonly value?: bigint;
  readonly data?: string;
  readonly gas?: number;
  /** In wei; a block includes the highest prices first. */
  readonly gasPrice?: bigint;
}

/** A call to a contract: `signature` as in `transfer(address,uint256)`. */
interface ContractCall {
  readonly from?: string;
  readonly value?: bigint;
  readonly gas?: number;
  readonly gasPrice?: bigint;
  readonly signature: string;
  readonly arguments: readonly Argument[];
}

interface Payout {
  readonly to: string;
  readonly amount: bigint;
}

/**
 * Pays on a local Ethereum node. Every function that sends returns the transaction's hash; only `mine`
 * puts it in a block.
 */
export interface Evm {
  readonly anvil: Anvil;
  /** Makes blocks, the first with everything that was sent. */
  mine(blocks?: number): Promise<void>;
  height(): Promise<number>;
  send(transaction: Transaction): Promise<string>;
  transferNative(to: string, amount: bigint, from?: string): Promise<string>;
  /** Puts a contract's code at an address, immediately. */
  place(name: 'token' | 'payer', address: string): Promise<void>;
  /** Creates a contract in a separate block, and returns its address in lower case. */
  deploy(name: 'token' | 'payer'): Promise<string>;
  call(contract: string, call: ContractCall): Promise<string>;
  /** The result of a contract's view function: one word. */
  read(contract: string, signature: string, args?: readonly Argument[]): Promise<bigint>;
  mint(token: string, to: string, amount: bigint): Promise<string>;
  transferToken(token: string, to: string, amount: bigint, from?: string): Promise<string>;
  /** Sends the payer's tokens to at most 700 recipients, in one transaction: a block of anvil takes 30 million gas. */
  payTokens(payer: string, token: string, payouts: readonly Payout[]): Promise<string>;
  /** Sends the native asset to at most 700 recipients, in one transaction. */
  payMany(payer: string, payouts: readonly Payout[]): Promise<string>;
}

/** An unused address in lower case: the number after 12 fixed bytes. */
export function someAddress(number: number): string {
  return `0xa11ce000000000000000c0de${number.toString(16).padStart(16, '0')}`;
}

/** Call data: the selector and the arguments; only the last ones may be lists. */
export function encodeCall(signature: string, args: readonly Argument[]): string {
  const head: string[] = [];
  const tail: string[] = [];
  for (const argument of args) {
    if (typeof argument !== 'object') {
      head.push(word(argument));
      continue;
    }
    head.push(word(BigInt((args.length + tail.length) * 32)));
    tail.push(word(BigInt(argument.length)), ...argument.map(word));
  }
  const selector = hex.encode(keccak_256(utf8ToBytes(signature)).slice(0, 4));
  return `0x${selector}${head.join('')}${tail.join('')}`;
}

function word(value: string | bigint): string {
  return BigInt(value).toString(16).padStart(64, '0');
}

/** A local Ethereum node, and a proxy to it that can misbehave. */
export interface EvmChain {
  readonly evm: Evm;
  readonly anvil: Anvil;
  readonly proxy: NodeProxy;
  stop(): Promise<void>;
}

export async function startEvm(options: AnvilOptions = {}): Promise<EvmChain> {
  const anvil = await startAnvil(options);
  const proxy = await startNodeProxy(anvil.url);
  return {
    evm: createEvm(anvil),
    anvil,
    proxy,
    async stop() {
      await proxy.stop();
      await anvil.stop();
    },
  };
}

/** Pays on this node, from its unlocked accounts. */
export function createEvm(anvil: Anvil): Evm {
  const { rpc } = anvil;

  const evm: Evm = {
    anvil,

    async mine(blocks = 1) {
      await rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
    },

    async height() {
      return Number(await rpc('eth_blockNumber'));
    },

    send({ from = RICH[0], to, value = 0n, data = '0x', gas = GAS, gasPrice }) {
      const quantity = (amount: bigint | number) => `0x${amount.toString(16)}`;
      return rpc('eth_sendTransaction', [
        {
          from,
          data,
          value: quantity(value),
          gas: quantity(gas),
          ...(to !== null && { to }),
          ...(gasPrice !== undefined && { gasPrice: quantity(gasPrice) }),
        },
      ]);
    },

    transferNative: (to, value, from = RICH[0]) => evm.send({ from, to, value }),

    async place(name, address) {
      await rpc('anvil_setCode', [address, compiled[name].code]);
    },

    async deploy(name) {
      const hash = await evm.send({ to: null, data: compiled[name].creationCode, gas: 3_000_000 });
      await evm.mine();
      return (await rpc('eth_getTransactionReceipt', [hash])).contractAddress;
    },

    call: (to, { signature, arguments: args, ...options }) =>
      evm.send({ ...options, to, data: encodeCall(signature, args) }),

    async read(to, signature, args = []) {
      return BigInt(await rpc('eth_call', [{ to, data: encodeCall(signature, args) }, 'latest']));
    },

    mint: (token, to, amount) =>
      evm.call(token, { signature: 'mint(address,uint256)', arguments: [to, amount] }),

    transferToken: (token, to, amount, from = RICH[0]) =>
      evm.call(token, { from, signature: 'transfer(address,uint256)', arguments: [to, amount] }),

    payTokens: (payer, token, payouts) =>
      evm.call(payer, {
        gas: GAS + payouts.length * GAS_PER_RECIPIENT,
        signature: 'payTokenMany(address,address[],uint256[])',
        arguments: [token, payouts.map(each => each.to), payouts.map(({ amount }) => amount)],
      }),

    payMany: (payer, payouts) =>
      evm.call(payer, {
        value: payouts.reduce((sum, { amount }) => sum + amount, 0n),
        gas: GAS + payouts.length * GAS_PER_RECIPIENT,
        signature: 'payMany(address[],uint256[])',
        arguments: [payouts.map(each => each.to), payouts.map(({ amount }) => amount)],
      }),
  };
  return evm;
}
