import { InvalidAddress, parseAddress } from '#chains/address.ts';
import type { NetworkFamily } from '#storage/database/network-tables.ts';

/** The reason for which an address is refused; fails the test if it is accepted. */
export function refusalOf(
  family: NetworkFamily,
  environment: 'production' | 'test',
  text: string,
): string {
  let accepted: string;
  try {
    accepted = parseAddress(family, environment, text);
  } catch (error) {
    if (error instanceof InvalidAddress) return error.message;
    throw error;
  }
  throw new Error(`accepted as ${accepted}: ${JSON.stringify(text)}`);
}

/** Whether it is accepted, for counting. */
export function isAccepted(
  family: NetworkFamily,
  environment: 'production' | 'test',
  text: string,
): boolean {
  try {
    parseAddress(family, environment, text);
    return true;
  } catch (error) {
    if (error instanceof InvalidAddress) return false;
    throw error;
  }
}

/** The text with one character replaced by another one. */
export function replaceAt(text: string, index: number, character: string): string {
  return text.slice(0, index) + character + text.slice(index + 1);
}

/** Every text that differs in exactly one character, from position `from` on. */
export function* oneCharacterChanges(
  text: string,
  alphabet: string,
  from = 0,
): Generator<string, void, void> {
  for (let index = from; index < text.length; index += 1) {
    for (const character of alphabet) {
      if (character !== text.charAt(index)) yield replaceAt(text, index, character);
    }
  }
}

export const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
export const BECH32 = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
export const HEX = '0123456789abcdefABCDEF';
