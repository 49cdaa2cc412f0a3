const LENGTH_MINIMUM = 15;
const LENGTH_MAXIMUM = 256;

/** What a password must not be: what anybody would try first. */
interface Known {
  readonly email: string;
  /** Names of the person and of what they sign in to. */
  readonly names: readonly string[];
}

const PRODUCT = 'External Payments Service';

/**
 * Why a password is not accepted; undefined if it is. Any characters will do, as they are typed; length
 * is what makes it hard to guess (NIST SP 800-63B-4, 3.1.1.2).
 */
export function findPasswordFault(password: string, { email, names }: Known): string | undefined {
  const characters = [...password];
  if (characters.length < LENGTH_MINIMUM) {
    return `Use at least ${LENGTH_MINIMUM} characters; three or four random words are easy to remember.`;
  }
  if (characters.length > LENGTH_MAXIMUM) return `Use at most ${LENGTH_MAXIMUM} characters.`;
  const plain = simplify(password);
  const known = [email, email.split('@')[0] ?? '', PRODUCT, ...names].map(simplify);
  if (known.some(name => name !== '' && (plain === name || isRepeated(plain, name)))) {
    return 'This is a name or an e-mail address that anybody could try. Choose another one.';
  }
  if (hasPeriod(characters)) return 'This repeats one short run of characters. Choose another one.';
  return undefined;
}

function simplify(text: string): string {
  return text.toLowerCase().replaceAll(/[\s._@-]/g, '');
}

function isRepeated(text: string, part: string): boolean {
  return (
    text !== '' &&
    text.length % part.length === 0 &&
    part.repeat(text.length / part.length) === text
  );
}

/** Whether the text is a run of at most four characters again and again. */
function hasPeriod(characters: readonly string[]): boolean {
  return [1, 2, 3, 4].some(period =>
    characters.every(
      (character, index) => index < period || character === characters[index - period],
    ),
  );
}
