import type { Anvil } from './anvil.ts';

/**
 * Puts a contract at an address of an Ethereum node that returns one number for every call, as a token
 * does for `decimals()`.
 */
export async function putToken(anvil: Anvil, address: string, decimals: number): Promise<void> {
  const digits = decimals.toString(16).padStart(2, '0');
  // PUSH1 decimals, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN
  await anvil.rpc('anvil_setCode', [address, `0x60${digits}60005260206000f3`]);
}
