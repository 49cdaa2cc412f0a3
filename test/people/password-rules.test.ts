import { expect, test } from 'vitest';
import { findPasswordFault } from '../../src/people/password-rules.ts';

const KNOWN = {
  email: 'ada.lovelace@coffee.example',
  names: ['Ada Lovelace', 'Blue Coffee House'],
};

test.each([
  'correct horse battery staple',
  'пароль из многих слов',
  '              .',
  'ada.lovelace@coffee.example!',
  'x'.repeat(255).concat('y'),
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
  ['aaaaaaaaaaaaaaaaaaaa', 'short run'],
  ['1234123412341234', 'short run'],
])('%s is not', (password, reason) => {
  expect(findPasswordFault(password, KNOWN)).toContain(reason);
});
