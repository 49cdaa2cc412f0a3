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

test('examples in several languages that follow each other are a group', () => {
  const markdown = ['sh', 'js', 'python', 'php'].map(block).join('\n\n');
  expect(groupsOf(markdown)).toEqual([['Shell', 'Node.js', 'Python', 'PHP']]);
});

test('a text between them, or a language that comes again, begins a new group', () => {
  const markdown = [...['js', 'python'].map(block), 'Or:', ...['ts', 'php', 'js', 'sh'].map(block)];
  expect(groupsOf(markdown.join('\n\n'))).toEqual([
    ['Node.js', 'Python'],
    ['Node.js', 'PHP'],
    ['Node.js', 'Shell'],
  ]);
});

test('a request with its response is none, nor is a block alone', () => {
  const markdown = ['http', 'json', 'sh', 'text', 'js'].map(block).join('\n\n');
  expect(groupsOf(markdown)).toEqual([]);
  const { markup } = renderMarkdown(markdown, '');
  expect(markup.match(/<pre/g)).toHaveLength(5);
});
