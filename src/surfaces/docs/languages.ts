import type { Token, Tokens } from 'marked';

/** Names of programming languages, by the word after a code block's fence. */
const NAMES: Readonly<Record<string, string>> = {
  sh: 'Shell',
  js: 'Node.js',
  ts: 'Node.js',
  python: 'Python',
  php: 'PHP',
  go: 'Go',
};

/** Blocks of code that do the same in different languages. */
export interface LanguagesToken {
  readonly type: 'languages';
  readonly raw: string;
  readonly blocks: readonly { readonly name: string; readonly code: Tokens.Code }[];
}

/** Groups adjacent code blocks in different programming languages. */
export function groupLanguages(tokens: readonly Token[]): Token[] {
  const grouped: Token[] = [];
  let blocks: { name: string; code: Tokens.Code }[] = [];
  const close = () => {
    const [first] = blocks;
    if (blocks.length > 1) grouped.push({ type: 'languages', raw: '', blocks });
    else if (first !== undefined) grouped.push(first.code);
    blocks = [];
  };
  for (const token of tokens) {
    if (token.type === 'space' && blocks.length > 0) continue;
    const name = isCode(token) ? NAMES[token.lang ?? ''] : undefined;
    const follows = name !== undefined && blocks.every(block => block.name !== name);
    if (!follows) close();
    if (isCode(token) && name !== undefined) blocks.push({ name, code: token });
    else grouped.push(token);
  }
  close();
  return grouped;
}

function isCode(token: Token): token is Tokens.Code {
  return token.type === 'code';
}

/**
 * The blocks below each other, each with the name of its language; a script makes tabs of them.
 * @param render Renders one block.
 */
export function renderLanguages(
  { blocks }: LanguagesToken,
  render: (code: Tokens.Code) => string,
): string {
  const panels = blocks.map(
    ({ name, code }) => `<div class="language"><p>${name}</p>\n${render(code)}</div>\n`,
  );
  return `<div class="languages">\n${panels.join('')}</div>\n`;
}
