import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalAuthority, isBelow, pathOf } from '#http/request-target.ts';
import { isLegacyPath } from '#surfaces/legacy/routes/paths.ts';

test.each([
  ['/panel/sign-in', '/panel/sign-in'],
  ['/%70anel/sign%2Din?next=/panel/x', '/panel/sign-in'],
  ['/%70%61%6e%65%6C', '/panel'],
  ['http://panel.example/panel/x?y', '/panel/x'],
  ['HTTPS://panel.example?/panel', ''],
  ['/panel%2Fx', '/panel%2Fx'],
  ['/panel%3Fx', '/panel%3Fx'],
  ['/%2570anel', '/%2570anel'],
  ['/%ff/%zz', '/%ff/%zz'],
  ['*', '*'],
])('%s targets %s', (target, path) => {
  expect(pathOf(target)).toBe(path);
});

test('however a path is encoded, it is below the same prefix', () => {
  const spelling = fc.array(fc.constantFrom('plain', 'upper', 'lower'), {
    minLength: 6,
    maxLength: 6,
  });
  fc.assert(
    fc.property(spelling, fc.boolean(), (ways, isAbsolute) => {
      const spelt = [...'/panel'].map((character, at) => {
        const code = `%${character.charCodeAt(0).toString(16)}`;
        if (character === '/' || ways[at] === 'plain') return character;
        return ways[at] === 'upper' ? code.toUpperCase() : code;
      });
      const target = `${isAbsolute ? 'http://pay.example' : ''}${spelt.join('')}/sign-in`;
      expect(isBelow('/panel', target)).toBe(true);
      expect(isBelow('/panels', target)).toBe(false);
    }),
  );
});

test('an encoded path of the older contract still belongs to it', () => {
  expect(isLegacyPath('/%65xternal/payments/%ff')).toBe(true);
  expect(isLegacyPath('/external/%761/payments/%ff')).toBe(false);
});

test.each([
  ['https', 'PAY.example.test', 'pay.example.test'],
  ['https', 'pay.example.test:443', 'pay.example.test'],
  ['https', 'pay.example.test.', 'pay.example.test'],
  ['https', 'pay.example.test:0443', 'pay.example.test'],
  ['https', 'pay.example.test:80', 'pay.example.test:80'],
  ['http', 'pay.example.test:80', 'pay.example.test'],
  ['http', '[::1]:3000', '[::1]:3000'],
  ['https', 'user@pay.example.test', ''],
  ['https', 'pay.example.test/x', ''],
  ['https', '', ''],
])('the authority of %s://%s is %s', (scheme, authority, canonical) => {
  expect(canonicalAuthority(scheme, authority)).toBe(canonical);
});
