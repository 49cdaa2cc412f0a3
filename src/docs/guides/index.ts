import { readFileSync } from 'node:fs';
import { DOCS_PREFIX } from '../assets.ts';
import type { Facts } from '../facts.ts';

/** A page of the documentation that is written by hand. */
export interface Guide {
  /** The page is at `/docs/{slug}`, and its source in `{slug}.md`. */
  readonly slug: string;
  readonly title: string;
  /** One sentence: what the reader will know afterwards. */
  readonly description: string;
  /** What follows title and description. Links to other pages begin with `/docs/`. */
  readonly markdown: string;
}

/** Every guide in reading order; slugs are paths below this folder. */
export const GUIDE_GROUPS = [
  {
    title: 'Guides',
    slugs: [
      'quickstart',
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
    ],
  },
  {
    title: 'Operating',
    slugs: [
      'operating/deploy',
      'operating/go-live',
      'operating/configuration',
      'operating/command-line',
      'operating/panel',
      'operating/chains',
      'operating/try-chains',
      'operating/deposits',
      'operating/stripe',
      'operating/keys',
      'operating/upgrade',
      'operating/backup',
      'operating/watch',
      'operating/grow',
      'operating/pgbouncer',
    ],
  },
] as const;

export interface GuideGroup {
  readonly title: string;
  readonly guides: readonly Guide[];
}

/**
 * Reads all guides and fills the facts in.
 * @throws Error for a placeholder without a fact, and for a fact without a placeholder.
 */
export function readGuides(facts: Facts): GuideGroup[] {
  const used = new Set<string>();
  const groups = GUIDE_GROUPS.map(({ title, slugs }) => ({
    title,
    guides: slugs.map(slug => {
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
function parseGuide(slug: string, text: string): Guide {
  const [, title, description, markdown] = /^# (.+)\n\n(.+)\n\n([\s\S]*)$/.exec(text) ?? [];
  if (title === undefined || description === undefined || markdown === undefined) {
    throw new Error(`${slug}.md does not begin with a title and a paragraph.`);
  }
  return { slug, title, description, markdown: resolveLinks(slug, markdown).trim() };
}

/** Turns links between the files, `[text](../webhooks.md#events)`, into links between the pages. */
function resolveLinks(slug: string, markdown: string): string {
  const base = new URL(`${DOCS_PREFIX}/${slug}`, 'https://docs.invalid');
  return markdown.replace(
    /\]\(([\w./-]+)\.md(#[\w-]+)?\)/g,
    (_link, path: string, fragment = '') => `](${new URL(path, base).pathname}${fragment})`,
  );
}
