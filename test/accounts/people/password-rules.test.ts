import { expect, test } from 'vitest';
import { COMMON_PASSWORDS } from '#accounts/people/common-passwords.ts';
import { findPasswordFault } from '#accounts/people/password-rules.ts';
import { Refused } from '#errors/refusals/refused.ts';

test('the list is as long as OWASP ASVS 5.0 requires (6.2.4)', () => {
  expect(COMMON_PASSWORDS).toBe(3000);
});

const KNOWN = {
  email: 'ada.lovelace@coffee.example',
  names: ['Ada Lovelace', 'Blue Coffee House'],
};

test.each([
  'correct horse battery staple',
  'пароль из многих слов',
  'I sell Blue Coffee House beans in Rome',
  'our service has no external walls at all',
  'ada, ada and the other ada',
  'pass word and another word',
  '7391 0264 5518 9037',
  'abcd is where I began 1987',
  'no no no said the cat to me',
  `${'many words of all kinds, '.repeat(1)}${Array.from({ length: 200 }, (_, n) => n % 97).join('')}`.slice(
    0,
    256,
  ),
])('%s is accepted', password => {
  expect(findPasswordFault(password, KNOWN)).toBeUndefined();
});

test.each([
  ['14 characters.', 'at least 15'],
  ['😀'.repeat(14), 'at least 15'],
  ['x'.repeat(256).concat('y'), 'at most 256'],
  ['Ada.Lovelace@coffee.example', 'anybody could try'],
  ['Blue Coffee House', 'anybody could try'],
  ['adalovelaceadalovelace', 'anybody could try'],
  ['external payments service', 'anybody could try'],
  ['ada.lovelace@coffee.example!', 'anybody could try'],
  ['Lovelace-2026-!?', 'anybody could try'],
  ['xX Blue_Coffee_House Xx 123', 'anybody could try'],
  ['paymentslovelaceservice7391', 'anybody could try'],
  ['the coffee of lovelace', 'anybody could try'],
  ['aaaaaaaaaaaaaaaaaaaa', 'repeats'],
  ['1234123412341234', 'repeats'],
  ['passwordpassword', 'repeats'],
  ['Password Password', 'repeats'],
  ['kettle-kettle-kettle', 'repeats'],
  ['kettlekettlekett', 'repeats'],
  ['passwordpassword1', 'repeats'],
  ['2026-passwordpassword!', 'repeats'],
  ['солнышкосолнышко', 'repeats'],
  ['😀🎉😀🎉😀🎉😀🎉😀🎉😀🎉😀🎉😀🎉', 'repeats'],
  ['              .', 'along'],
  ['x'.repeat(255).concat('y'), 'along'],
  ['abcdefghijklmnop', 'along'],
  ['Qwertyuiopasdfg', 'along'],
  ['qwertzuiopasdfghj', 'along'],
  ['1234qwerasdfzxcv', 'along'],
  ['poiuytrewq09876', 'along'],
  ['йцукенгшщзфывапро', 'along'],
  ['qwertyuiopqwertyuiop', 'repeats'],
  ['123456789012345', 'along'],
  ['stairwaytoheaven', 'Many people'],
  ['Stairway to Heaven', 'Many people'],
  ['i-love-you.forever', 'Many people'],
])('%s is not', (password, reason) => {
  const fault = findPasswordFault(password, KNOWN);
  expect(fault && new Refused(...fault).message).toContain(reason);
});
