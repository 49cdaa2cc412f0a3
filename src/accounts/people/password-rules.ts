import type { RefusalArguments } from '#errors/refusals/refused.ts';
import { isCommonPassword } from './common-passwords.ts';

/** Length of a password, in characters. */
export const PASSWORD_MINIMUM = 15;
export const PASSWORD_MAXIMUM = 256;

/** Words that an attacker would try first. */
interface Known {
  readonly email: string;
  /** Names of the person and of what they sign in to. */
  readonly names: readonly string[];
}

const PRODUCT = 'External Payments Service';

/** What separates words. */
const SEPARATOR = /[\s._@-]+/g;
/** Shorter words occur in too many others. In characters. */
const WORD_MINIMUM = 5;

/** Sequences that are easy to type: the alphabet, the digits, and rows of common keyboards. */
const ROWS = [
  ...['abcdefghijklmnopqrstuvwxyz', '01234567890'],
  ...['qwertyuiop', 'asdfghjkl', 'zxcvbnm'],
  ...['qwertzuiopü', 'asdfghjklöä', 'yxcvbnm'],
  ...['azertyuiop', 'qsdfghjklm', 'wxcvbn'],
  ...['йцукенгшщзхъ', 'фывапролджэ', 'ячсмитьбю'],
];
const BOTH_WAYS = [...ROWS, ...ROWS.map(row => [...row].reverse().join(''))];
/** A password made of pieces of rows is refused if they have this average length or more: `1234qwerasdfzxcv`. */
const PIECE_LENGTH = 4;

/**
 * Why a password is not accepted; undefined if it is. All characters are allowed; length is what makes it
 * hard to guess (NIST SP 800-63B-4, 3.1.1.2).
 */
export function findPasswordFault(
  password: string,
  { email, names }: Known,
): RefusalArguments | undefined {
  const characters = [...password];
  if (characters.length < PASSWORD_MINIMUM) {
    return ['password-too-short', { minimum: PASSWORD_MINIMUM }];
  }
  if (characters.length > PASSWORD_MAXIMUM) {
    return ['password-too-long', { maximum: PASSWORD_MAXIMUM }];
  }
  const plain = simplify(password);
  const known = [email, email.split('@')[0] ?? '', PRODUCT, ...names];
  if (plain !== '' && 2 * countOthers(plain, known) <= [...plain].length) {
    return ['password-of-names'];
  }
  // Neither separators nor a number at either end make a repeated word harder to guess.
  const words = plain.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  if ([password.toLowerCase(), plain, words].some(hasPeriod)) {
    return ['password-repeated'];
  }
  if (PIECE_LENGTH * countPieces(password.toLowerCase()) <= characters.length) {
    return ['password-of-rows'];
  }
  return isCommonPassword(plain) ? ['password-common'] : undefined;
}

function simplify(text: string): string {
  return text.toLowerCase().replaceAll(SEPARATOR, '');
}

/** How many characters of a simplified text belong neither to the known texts nor to their words. */
function countOthers(plain: string, known: readonly string[]): number {
  const words = known.flatMap(text => [text, ...text.split(SEPARATOR)]).map(simplify);
  const longestFirst = words
    .filter(word => [...word].length >= WORD_MINIMUM)
    .toSorted((one, other) => other.length - one.length);
  // A blank, which no simplified text has, keeps the parts around a removed word apart.
  const others = longestFirst.reduce((rest, word) => rest.replaceAll(word, ' '), plain);
  return [...others.replaceAll(' ', '')].length;
}

function isRepeated(text: string, part: string): boolean {
  return (
    text !== '' &&
    text.length % part.length === 0 &&
    part.repeat(text.length / part.length) === text
  );
}

/** Whether the text repeats a run of characters from its beginning to its end, the last perhaps cut off. */
function hasPeriod(text: string): boolean {
  const characters = [...text];
  for (let period = 1; 2 * period <= characters.length; period += 1) {
    if (characters.every((each, index) => index < period || each === characters[index - period])) {
      return true;
    }
  }
  return false;
}

/** The number of pieces that make up a text, each a repeated character or part of a row. */
function countPieces(text: string): number {
  let pieces = 0;
  let piece = '';
  for (const character of text) {
    const longer = piece + character;
    const goesOn =
      piece !== '' &&
      (isRepeated(longer, character) || BOTH_WAYS.some(row => row.includes(longer)));
    if (!goesOn) pieces += 1;
    piece = goesOn ? longer : character;
  }
  return pieces;
}
