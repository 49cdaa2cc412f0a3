import { expect, test } from 'vitest';
import { renderMarkdown } from '#surfaces/docs/markdown.ts';

/** The names of the languages of each group of examples. */
function groupsOf(markdown: string): string[][] {
  const { markup } = renderMarkdown(markdown, '');
  return markup
    .split('<div class="languages">')
    .slice(1)
    .map(group =>
      [...group.matchAll(/class="language"><p>(.+)<\/p>/g)].map(([, name = '']) => name),
    );
}

const block = (language: string) => `\`\`\`${language}\n${language} code\n\`\`\``;

test('consecutive examples in several languages form a group', () => {
  const markdown = ['sh', 'js', 'python', 'php'].map(block).join('\n\n');
  expect(groupsOf(markdown)).toEqual([['Shell', 'Node.js', 'Python', 'PHP']]);
});

test('text between them, or a repeated language, starts a new group', () => {
  const markdown = [...['js', 'python'].map(block), 'Or:', ...['ts', 'php', 'js', 'sh'].map(block)];
  expect(groupsOf(markdown.join('\n\n'))).toEqual([
    ['Node.js', 'Python'],
    ['Node.js', 'PHP'],
    ['Node.js', 'Shell'],
  ]);
});

test('neither a request with its response nor a single block is a group', () => {
  const markdown = ['http', 'json', 'sh', 'text', 'js'].map(block).join('\n\n');
  expect(groupsOf(markdown)).toEqual([]);
  const { markup } = renderMarkdown(markdown, '');
  expect(markup.match(/<pre/g)).toHaveLength(5);
});
