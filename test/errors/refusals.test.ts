import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { OperationRefused } from '#accounts/audit/audited-change.ts';
import { SecondFactorClosed, WrongProof } from '#accounts/people/refusals.ts';
import { InvalidAddress } from '#chains/invalid-address.ts';
import { ACCOUNTS } from '#errors/refusals/accounts.ts';
import { ADDRESS_PROBLEMS } from '#errors/refusals/address-problems.ts';
import { ADDRESSES } from '#errors/refusals/addresses.ts';
import { PAYMENTS } from '#errors/refusals/payments.ts';
import { PEOPLE } from '#errors/refusals/people.ts';
import { REFUSALS, type Refusals } from '#errors/refusals/refused.ts';
import { WEBHOOKS } from '#errors/refusals/webhooks.ts';
import { wordRefusal } from '#errors/refusals/wording.ts';
import { ConsentNeeded } from '#onchain/settlement/assignment.ts';

const SOURCE = resolve(import.meta.dirname, '../../src');

/** Files that refuse something, or say why it would be refused. */
const refusing = globSync('**/*.ts', { cwd: SOURCE, exclude: ['errors/**'] })
  .map(file => readFileSync(resolve(SOURCE, file), 'utf8'))
  .filter(text =>
    /\b(Refused|RefusalArguments|AddressProblemArguments)\b|new (\w+Refused|WrongProof|ConsentNeeded|InvalidAddress)\(|extends OperationRefused/.test(
      text,
    ),
  )
  .join('\n');

test('every code is used where something is refused', () => {
  const codes = [REFUSALS, ADDRESS_PROBLEMS].flatMap(catalogue => Object.keys(catalogue));
  expect(codes.filter(code => !refusing.includes(`'${code}'`))).toEqual([]);
  for (const code of codes) expect(code).toMatch(/^[a-z]+(-[a-z]+)+$/);
});

test('no code is in two subjects', () => {
  const subjects = [ACCOUNTS, ADDRESSES, PAYMENTS, PEOPLE, WEBHOOKS];
  const codes = subjects.flatMap(subject => Object.keys(subject));
  expect(codes.toSorted()).toEqual(Object.keys(REFUSALS).toSorted());
});

test.each([
  [new OperationRefused('nothing-to-change'), 'Nothing to change: no setting is given.'],
  [
    new OperationRefused('too-many-keys', { maximum: 10 }),
    'The merchant has 10 active keys, which is the maximum; revoke one first.',
  ],
  [
    new OperationRefused('key-scope-unknown', { scope: 'all', known: ['one', 'two'] }),
    'The scope "all" is unknown; the key may have one, two.',
  ],
  [
    new OperationRefused('recovered-lately', { freeAt: new Date('2026-01-02T03:04:05Z') }),
    'A link gave you a new password or authenticator app: you may do this from 2026-01-02 03:04 UTC on.',
  ],
  [
    new OperationRefused('address-invalid', {
      problem: new InvalidAddress('tron-length-wrong', { length: 33, expected: 34 }).problem,
    }),
    'The address is refused: a Tron address has 34 characters, and this has 33.',
  ],
  [
    new ConsentNeeded('amounts', 'amount-untyped', {
      difference: 'tooLittle',
      arrived: '0.4',
      due: '0.5',
    }),
    '0.4 arrived, and 0.5 is due: too little to settle the payment. Type both amounts to confirm it.',
  ],
  [
    new WrongProof('password', 'wrong-password', { wasRight: true }),
    'This is not your password any more.',
  ],
  [
    new SecondFactorClosed(true),
    'Too many wrong codes were entered for you on this device. Codes are taken again in a quarter of an hour. If this stays, ask for a link for a new password.',
  ],
  [
    new SecondFactorClosed(false),
    'Too many wrong codes were entered for you. Codes are taken again in a quarter of an hour, and at once on a device that you have signed in with before. If this stays, ask for a link for a new password.',
  ],
])('$0.refusal.code is in English', ({ message, refusal }, sentence) => {
  expect(message).toBe(sentence);
  expect(wordRefusal(REFUSALS, refusal)).toBe(sentence);
});

test('another catalogue words a refusal with the same values', () => {
  const german: Refusals = {
    ...REFUSALS,
    'account-inactive': 'Das Konto ist inaktiv.',
    'too-many-keys': ({ maximum }) => `Der Händler hat ${maximum} aktive Schlüssel.`,
  };
  const inactive = new OperationRefused('account-inactive');
  expect(wordRefusal(german, inactive.refusal)).toBe('Das Konto ist inaktiv.');
  const tooMany = new OperationRefused('too-many-keys', { maximum: 10 });
  expect(wordRefusal(german, tooMany.refusal)).toBe('Der Händler hat 10 aktive Schlüssel.');
});

test('values are those of the code', () => {
  // @ts-expect-error The code has values.
  expect(() => new OperationRefused('too-many-keys')).toThrow(TypeError);
  // @ts-expect-error The values are others.
  expect(new OperationRefused('too-many-keys', { minimum: 1 })).toBeInstanceOf(Error);
  // @ts-expect-error The code has no values.
  expect(new OperationRefused('nothing-to-change', { maximum: 1 })).toBeInstanceOf(Error);
});
