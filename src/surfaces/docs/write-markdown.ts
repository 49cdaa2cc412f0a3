import { ERRORS, type ErrorCode } from '#errors/catalogue.ts';

/** A Markdown table; cells are Markdown themselves. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const line = (cells: readonly (string | number)[]) =>
    `| ${cells.map(cell => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export function code(text: string | number): string {
  return `\`${text}\``;
}

/** Names as inline code, separated by commas. */
export function codes(texts: readonly (string | number)[]): string {
  return texts.map(code).join(', ');
}

export function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

/** A link to an error's page, which `defineErrorLinks` completes. */
export function errorLink(errorCode: ErrorCode): string {
  return `[${errorCode}]`;
}

/**
 * Appends the targets of links such as `[E2007]`.
 * @throws Error for a code that is not in the catalogue.
 */
export function defineErrorLinks(markdown: string): string {
  const found = [...markdown.matchAll(/\[(E\d{4})\](?!\()/g)].map(
    ([, errorCode = '']) => errorCode,
  );
  const definitions = [...new Set(found)].toSorted().map(errorCode => {
    if (!Object.hasOwn(ERRORS, errorCode)) throw new Error(`There is no error ${errorCode}.`);
    return `[${errorCode}]: /docs/errors/${errorCode}`;
  });
  return [markdown, definitions.join('\n')].join('\n\n').trimEnd();
}

/**
 * A list of terms with their explanations.
 * @param terms Each with the line that names it, and Markdown of any length that explains it.
 */
export function terms(terms: readonly { readonly term: string; readonly text: string }[]): string {
  const indent = (text: string) => text.replaceAll(/^(?=.)/gm, '  ');
  return terms
    .map(({ term, text }) => (text === '' ? `- ${term}` : `- ${term}\n\n${indent(text)}`))
    .join('\n\n');
}
