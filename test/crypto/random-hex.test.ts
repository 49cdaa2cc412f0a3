import { expect, test } from 'vitest';
import { randomHex, randomToken } from '#crypto/random-hex.ts';

test('random text has the right form and never repeats', () => {
  const keys = Array.from({ length: 100 }, () => randomHex('mpk_', 12));
  const tokens = Array.from({ length: 100 }, () => randomToken(32));
  for (const key of keys) expect(key).toMatch(/^mpk_[0-9a-f]{24}$/);
  for (const token of tokens) expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(new Set([...keys, ...tokens]).size).toBe(200);
});
