import { DOCS_PREFIX } from './assets.ts';
import type { Heading, RenderedMarkdown } from './markdown.ts';
import type { Page } from './pages.ts';

/** Where browsers find the index. */
export const SEARCH_PATH = `${DOCS_PREFIX}/search.json`;

/** In how many sections a word is indexed: the first ones that contain it. Headings are always indexed. */
const SECTIONS_OF_CODE = 3;
const SECTIONS_OF_PROSE = 1;

/** Words that are left out, because nobody looks for them. */
const COMMON = new Set(
  `about after again all almost alone along already also always and anew another any anybody anyway anywhere apart are
  around asked asks away back became because become becomes been before began begin begins behind besides best better
  between beyond both brought but called came can cannot certain comes died dies does each either else enough even
  ever every exactly except fall falls far few finds first for found from full gets give given gives goes going gone
  good got had has have hear hears her here highest him how however instead into its itself just keep keeps know known
  later least left less let lets likewise long longer looked looks made make makes many may means meant meanwhile
  moment more most much must needed neither never new nobody nor not nothing off once one only other others otherwise
  out own perhaps rather rest said same say says see seem seems seen sees she should show shown shows since some
  somebody something soon sooner stay stays still such take taken takes tell tells than that the their them then there
  these they this those though told too two unless until use used very wait waits was way what whatever when whenever
  where wherever whether which while who whoever whole whose will with within without works yes yet you your yourself`.split(
    /\s+/,
  ),
);

/** Not indexed: programs, and names of the repository's files. */
const LEFT_OUT = /<pre[\s\S]*?<\/pre>|<code>(?:src|test|migrations)\/[^<]*<\/code>/g;

type SearchablePage = Pick<Page, 'path' | 'title' | 'description'> & RenderedMarkdown;

/** Part of a page below a heading. The part before the first heading has neither ID nor heading. */
type Section = readonly [id: string, heading: string, words: string];

/** A page as the script in scripts/search.js reads it. */
export type IndexedPage = readonly [path: string, title: string, sections: readonly Section[]];

/**
 * Writes the index: every heading, the first few sections for a word in code, and the first section for any other
 * word.
 * @param pages In the order of results with the same score.
 */
export function writeSearchIndex(pages: readonly SearchablePage[], basePath: string): string {
  const sectionsOf = new Map<string, number>();
  /** Whether to index the word in one more section. Its plural counts as the same word, as it does in the script. */
  const take = (word: string, maximum: number): boolean => {
    const singular = word.replace(/s$/, '');
    const count = sectionsOf.get(singular) ?? 0;
    sectionsOf.set(singular, count + 1);
    return count < maximum;
  };
  const index = pages.map(({ path, title, description, markup, headings }): IndexedPage => {
    const sections = splitSections(markup, headings).map(({ id, heading, content }): Section => {
      const named = new Set(wordsOf(`${title} ${heading}`));
      const code = new Set(
        wordsOf(content.match(/<code>.*?<\/code>|\bE\d{4}\b/g)?.join(' ') ?? ''),
      );
      const text = wordsOf(id === '' ? `${description} ${content}` : content);
      const words = text.filter(
        word =>
          !named.has(word) && take(word, code.has(word) ? SECTIONS_OF_CODE : SECTIONS_OF_PROSE),
      );
      return [id, heading, withoutBeginnings(words.toSorted()).join(' ')];
    });
    return [basePath + path, title, sections];
  });
  return JSON.stringify(index);
}

/** Drops words that are beginnings of others: the search finds them by the longer word. */
function withoutBeginnings(sorted: readonly string[]): string[] {
  return sorted.filter((word, index) => !sorted[index + 1]?.startsWith(word));
}

function splitSections(markup: string, headings: readonly Heading[]) {
  const text = markup.replaceAll(LEFT_OUT, ' ');
  const [intro = '', ...parts] = text.split(/<h[23] id="/);
  return [
    { id: '', heading: '', content: intro },
    ...parts.map(part => {
      const [id = ''] = part.split('"', 1);
      const heading = headings.find(candidate => candidate.id === id)?.text ?? '';
      return { id, heading, content: part.slice(part.indexOf('>') + 1) };
    }),
  ];
}

/** The words of a text or of markup, without numbers, hashes and common words. */
function wordsOf(markup: string): string[] {
  const text = markup.replaceAll(/<[^>]*>|&[#\w]+;/g, ' ').toLowerCase();
  const words = text.split(/[^a-z0-9_-]+/).filter(word => {
    const isName = /^[a-z][a-z0-9_-]{1,30}[a-z0-9]$/.test(word);
    return isName && !/(\d.*){5}/.test(word) && !COMMON.has(word);
  });
  return [...new Set(words)];
}
