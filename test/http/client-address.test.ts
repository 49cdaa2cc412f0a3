import { expect, test } from 'vitest';
import { clientNetwork } from '#http/client-address.ts';

/** More than are kept. */
const ADDRESSES = 10_100;

const addressOf = (n: number) => `2001:db8:${n.toString(16)}::${(n % 7) + 1}`;
const networkOf = (clientAddress: string) => clientNetwork({ clientAddress });

test('each address has its own network, however many others were asked for before', () => {
  for (let n = 1; n <= ADDRESSES; n++) {
    expect(networkOf(addressOf(n))).toBe(`2001:db8:${n.toString(16)}::`);
  }
  expect(networkOf(addressOf(1))).toBe('2001:db8:1::');
  expect(networkOf('2001:db8:1::ffff')).toBe('2001:db8:1::');
  expect(networkOf('::ffff:192.0.2.1')).toBe('192.0.2.1');
  expect(networkOf('192.0.2.1')).toBe('192.0.2.1');
});
