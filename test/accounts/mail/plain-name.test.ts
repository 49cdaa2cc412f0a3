import { expect, test } from 'vitest';
import { plainName } from '#accounts/mail/plain-name.ts';

test.each([
  ['Blue Coffee, Main St.', 'Blue Coffee, Main St.'],
  ['till 2.5', 'till 2. 5'],
  ['https://evil.example/a', 'https: //evil. example/a'],
  ['see www.evil.example', 'see www. evil. example'],
  ['evil。example evil．example', 'evil。 example evil． example'],
  ['evil.\u200bexample', 'evil. example'],
  ['Ada\u202egro.live\u202c', 'Adagro. live'],
  ['Ada\r\nBcc: x\u0000\u2028y', 'Ada Bcc: x y'],
  ['Zoë 文 😀', 'Zoë 文 😀'],
])('%j is %j', (name, plain) => {
  expect(plainName(name)).toBe(plain);
});
