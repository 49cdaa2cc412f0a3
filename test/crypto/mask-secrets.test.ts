import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maskSecrets } from '#crypto/mask-secrets.ts';
import { serializeError } from '#telemetry/serialize-error.ts';

const HEX = '0123456789abcdef'.repeat(4);

test.each([
  ['stamps_and_coins pays for damps_', 'stamps_and_coins pays for damps_'],
  [`transaction 0x${HEX} is unknown`, `transaction 0x${HEX} is unknown`],
  ['100 %20 off', '100 %20 off'],
  [`{"key":"mps_${HEX}","a":1}`, '{"key":"mps_***","a":1}'],
  [`MPA_${HEX}`, 'MPA_***'],
  ['whsec_AQIDBA+0', 'whsec_***'],
  [`%6dps_${HEX} %2F`, 'mps_*** /'],
])('%j is kept as %j', (text, kept) => {
  expect(maskSecrets(text)).toBe(kept);
});

test('a secret is found however its characters are encoded', () => {
  const encoding = fc.constantFrom<((character: string) => string)[]>(
    character => character,
    character => `%${character.charCodeAt(0).toString(16)}`,
    character => `%2525${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const secret = `mps_${HEX}`;
  fc.assert(
    fc.property(
      fc.array(encoding, { minLength: secret.length, maxLength: secret.length }),
      fc.string(),
      (encodings, before) => {
        const text = encodings.map((encode, index) => encode(secret.charAt(index))).join('');
        const kept = maskSecrets(`${before}/${text}&limit=1`);
        expect(decodeURIComponent(decodeURIComponent(text.replaceAll('%25', '%')))).toBe(secret);
        expect(kept.endsWith('mps_***&limit=1')).toBe(true);
      },
    ),
  );
});

test('hostile texts are processed quickly', () => {
  const began = performance.now();
  for (const text of ['%25', '%', 'mps_', '%%35', '0']) maskSecrets(text.repeat(16_384));
  expect(performance.now() - began).toBeLessThan(1_000);
});

test('a logged error has no secrets that a client sent', () => {
  const error = new Error(`no such key: "mps_${HEX}"`, { cause: new Error(`whsec_${HEX}`) });
  expect(JSON.stringify(serializeError(error))).not.toContain(HEX);
  expect(JSON.stringify(serializeError(`mpa%5F${HEX}`))).not.toContain(HEX);
  expect(serializeError(error)?.message).toBe('no such key: "mps_***": whsec_***');
});
