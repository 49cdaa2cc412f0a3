import { base58check, decodeBase58Check } from '../base58-text.ts';
import type { Node } from '../nodes/node.ts';
import type { WatchedAddress } from '../transfer.ts';

const PAYLOAD_LENGTH = 21;

/** Path of java-tron's JSON-RPC below the URL of the node. */
const JSON_RPC = '/jsonrpc';

/** The node with its calls sent to JSON-RPC, for the functions that read Ethereum. */
export function rpcOf(node: Node): Node {
  return {
    ...node,
    call: (method, params, options) => node.call(method, params, { ...options, path: JSON_RPC }),
    batch: (calls, options) => node.batch(calls, { ...options, path: JSON_RPC }),
  };
}

/** `T…` as the 20 bytes that JSON-RPC and logs write, with 0x. */
export function toHexAddress(address: string): string {
  const payload = decodeBase58Check(address, PAYLOAD_LENGTH);
  return `0x${Buffer.from(payload.subarray(1)).toString('hex')}`;
}

/** 20 bytes in hex, with 0x, as `T…`. */
export function fromHexAddress(hex: string): string {
  return base58check.encode(Buffer.from(`41${hex.slice(2)}`, 'hex'));
}

/** Hashes are stored without 0x, as the chain's own interfaces write them. */
export function toPlainHash(hash: string): string {
  return hash.startsWith('0x') ? hash.slice(2) : hash;
}

export function toPrefixedHash(hash: string): string {
  return hash.startsWith('0x') ? hash : `0x${hash}`;
}

/** Watched addresses as JSON-RPC writes them, and the way back to their spelling in the watch list. */
export interface Spelled {
  readonly hex: readonly WatchedAddress[];
  /** By network and address in hex. */
  toCanonical(blockchainId: string, hex: string): string;
}

export function spell(watch: readonly WatchedAddress[]): Spelled {
  const canonical = new Map<string, string>();
  const hex = watch.map(({ network, address }) => {
    const own = toHexAddress(address);
    canonical.set(`${network.id} ${own}`, address);
    const contract = network.contract === null ? null : toHexAddress(network.contract);
    return { network: { id: network.id, contract }, address: own };
  });
  return {
    hex,
    toCanonical(blockchainId, address) {
      const found = canonical.get(`${blockchainId} ${address.toLowerCase()}`);
      if (found === undefined) throw new Error(`${address} is not watched`);
      return found;
    },
  };
}
