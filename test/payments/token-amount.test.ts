import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatBaseUnits } from '#payments/token-amount.ts';

test.each([
  [1_500_000n, 6, '1.5'],
  [1n, 18, '0.000000000000000001'],
  [100_000_000n, 8, '1'],
  [10n, 0, '10'],
  [10n, 1, '1'],
  [0n, 18, '0'],
  [12_345_678_901_234_567_890_123n, 18, '12345.678901234567890123'],
])('%d with %i decimals is %s', (units, decimals, text) => {
  expect(formatBaseUnits(units, decimals)).toBe(text);
});

test('is exact and canonical for everything numeric(78,0) holds', () => {
  const amounts = fc.bigInt({ min: 0n, max: 10n ** 78n - 1n });
  fc.assert(
    fc.property(amounts, fc.integer({ min: 0, max: 18 }), (units, decimals) => {
      const text = formatBaseUnits(units, decimals);
      expect(text).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/);
      const [whole = '', fraction = ''] = text.split('.');
      expect(fraction.length).toBeLessThanOrEqual(decimals);
      expect(BigInt(whole + fraction.padEnd(decimals, '0'))).toBe(units);
    }),
  );
});
