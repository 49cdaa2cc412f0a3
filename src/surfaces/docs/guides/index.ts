import { readFileSync } from 'node:fs';
import { DOCS_PREFIX } from '../assets.ts';
import type { Facts } from '../facts/facts.ts';

/** Every guide in reading order; slugs are paths below this folder. */
export const GUIDE_GROUPS = [
  {
    title: 'Guides',
    slugs: [
      'quickstart',
      'testing',
      'javascript',
      'python',
      'php',
      'go',
      'libraries',
      'client',
      'signing',
      'idempotency',
      'paging',
      'webhooks',
      'checkout',
      'evidence',
      'us-accounts',
      'partners',
      'older-contract',
      'coinbase-commerce',
    ],
  },
  { title: 'For shop owners', slugs: ['shop'] },
  {
    title: 'Operating',
    slugs: [
      'operating/deploy',
      'operating/go-live',
      'operating/configuration',
      'operating/command-line',
      'operating/panel',
      'operating/asvs',
      'operating/chains',
      'operating/try-chains',
      'operating/deposits',
      'operating/wallets',
      'operating/stripe',
      'operating/keys',
      'operating/upgrade',
      'operating/backup',
      'operating/watch',
      'operating/grow',
      'operating/high-availability',
      'operating/pgbouncer',
      'operating/kubernetes',
    ],
  },
] as const;

/**
 * Reads all guides, as pages, and fills the facts in.
 * @throws Error for a placeholder without a fact, and for a fact without a placeholder.
 */
export function readGuides(facts: Facts) {
  const used = new Set<string>();
  const groups = GUIDE_GROUPS.map(({ title, slugs }) => ({
    title,
    pages: slugs.map(slug => {
      const text = readFileSync(new URL(`./${slug}.md`, import.meta.url), 'utf8');
      return parseGuide(slug, fillFacts(text, facts, used));
    }),
  }));
  const unused = Object.keys(facts).filter(name => !used.has(name));
  if (unused.length > 0) throw new Error(`No guide uses the facts ${unused.join(', ')}.`);
  return groups;
}

/** Replaces `{{name}}` by the fact, and adds its name to `used`. */
export function fillFacts(text: string, facts: Facts, used: Set<string>): string {
  return text.replace(/\{\{(.*?)\}\}/g, (placeholder, name: string) => {
    const fact = Object.hasOwn(facts, name) ? facts[name] : undefined;
    if (fact === undefined) throw new Error(`There is no fact for ${placeholder}.`);
    used.add(name);
    return String(fact);
  });
}

/** Reads `# Title`, a paragraph that describes the page, and the rest. */
function parseGuide(slug: string, text: string) {
  const [, title, description, rest] = /^# (.+)\n\n(.+)\n\n([\s\S]*)$/.exec(text) ?? [];
  if (title === undefined || description === undefined || rest === undefined) {
    throw new Error(`${slug}.md does not begin with a title and a paragraph.`);
  }
  const path = `${DOCS_PREFIX}/${slug}`;
  return { path, title, description, markdown: resolveLinks(path, rest).trim() };
}

/** Turns links between the files, `[text](../webhooks.md#events)`, into links between the pages. */
function resolveLinks(path: string, markdown: string): string {
  const base = new URL(path, 'https://docs.invalid');
  return markdown.replace(
    /\]\(([\w./-]+)\.md(#[\w-]+)?\)/g,
    (_link, to: string, fragment = '') => `](${new URL(to, base).pathname}${fragment})`,
  );
}
