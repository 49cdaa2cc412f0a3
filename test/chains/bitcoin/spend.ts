import type { WatchedAddress } from '#chains/transfer.ts';
import type { Bitcoind } from '../../helpers/bitcoind.ts';

export const NETWORK = { id: 'btc-test', contract: null };

export function watch(...addresses: readonly string[]): WatchedAddress[] {
  return addresses.map(address => ({ network: NETWORK, address }));
}

/** An address outside any wallet. */
export const ELSEWHERE = 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080';

/** A new address of the node's wallet. */
export function newAddress(bitcoind: Bitcoind, type = 'bech32'): Promise<string> {
  return bitcoind.rpc('getnewaddress', '', type);
}

/** Satoshi of an amount in BTC from the node. */
export function toSatoshi(amount: number): bigint {
  return BigInt(Math.round(amount * 1e8));
}

/**
 * A signed transaction that spends the inputs of another one, all of it to one address.
 * @param fee In BTC.
 */
export async function conflictWith(
  bitcoind: Bitcoind,
  id: string,
  address: string,
  fee = 0.001,
): Promise<string> {
  const { vin } = await bitcoind.rpc('getrawtransaction', id, true);
  let total = 0n;
  for (const { txid, vout } of vin) {
    const parent = await bitcoind.rpc('gettransaction', txid, true, true);
    total += toSatoshi(parent.decoded.vout[vout].value);
  }
  const amount = Number(total - toSatoshi(fee)) / 1e8;
  return sign(
    bitcoind,
    await bitcoind.rpc('createrawtransaction', vin.map(toInput), [{ [address]: amount }]),
  );
}

/** A signed transaction that spends one output of another one, all of it to one address. */
export async function spendOutput(
  bitcoind: Bitcoind,
  id: string,
  index: number,
  address: string,
  fee = 0.001,
): Promise<string> {
  const parent = await bitcoind.rpc('gettransaction', id, true, true);
  const amount = Number(toSatoshi(parent.decoded.vout[index].value) - toSatoshi(fee)) / 1e8;
  const inputs = [{ txid: id, vout: index }];
  return sign(
    bitcoind,
    await bitcoind.rpc('createrawtransaction', inputs, [{ [address]: amount }]),
  );
}

export async function sign(bitcoind: Bitcoind, hex: string): Promise<string> {
  const { hex: signed, complete, errors } = await bitcoind.rpc('signrawtransactionwithwallet', hex);
  if (!complete) throw new Error(`the wallet cannot sign it: ${JSON.stringify(errors)}`);
  return signed;
}

function toInput({ txid, vout }: { txid: string; vout: number }) {
  return { txid, vout };
}
