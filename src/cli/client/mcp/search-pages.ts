/** Most results of a search. */
const RESULTS_MAXIMUM = 10;
/** Beginning of the paths of pages; anything before it is the prefix of a proxy. */
export const PREFIX = '/docs';
/** A shorter term is the beginning of many words: it has to be a whole word to count in full. */
const BEGINNING_MINIMUM = 4;
/** Weight of a term in a section, by where it occurs. */
const WORTH = { heading: 3, word: 2, elsewhere: 1, shortBeginning: 0.5 } as const;

/** A page as the service indexes it: path, title, and ID, heading and words of each section. */
export type IndexedPage = readonly [
  path: string,
  title: string,
  sections: readonly (readonly [id: string, heading: string, words: string])[],
];

interface FoundSection {
  readonly path: string;
  readonly title: string;
  readonly section: string | null;
  readonly anchor: string | null;
}

/**
 * The sections that match best. A term counts more in a heading than in the text, and a little elsewhere on
 * the page: the index lists most words only in the first section that has them. Single letters are not terms.
 */
export function searchPages(pages: readonly IndexedPage[], query: string): FoundSection[] {
  const terms = splitWords(query).filter(term => term.length > 1);
  return pages
    .flatMap(([path, title, parts]) => {
      const sections = parts.map(([id, heading, words]) => ({
        found: {
          path: path.slice(path.indexOf(PREFIX)),
          title,
          section: heading || null,
          anchor: id || null,
        },
        named: withParts(splitWords(`${title} ${heading}`)),
        words: withParts(words.split(' ')),
      }));
      return sections.map(({ found, named, words }) => {
        const own = terms.map(term =>
          Math.max(WORTH.heading * shareOf(named, term), WORTH.word * shareOf(words, term)),
        );
        const worth = terms.map((term, index) => {
          if (own[index]) return own[index];
          const isNear = sections.some(
            other => shareOf([...other.named, ...other.words], term) === 1,
          );
          return isNear ? WORTH.elsewhere : 0;
        });
        const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);
        return { found, own: sum(own), worth: sum(worth) };
      });
    })
    .filter(({ own }) => own > 0)
    .sort((one, other) => other.worth - one.worth)
    .slice(0, RESULTS_MAXIMUM)
    .map(({ found }) => found);
}

/**
 * 1 if a word equals the term or, unless the term is short, begins with it; less for the beginning of a short
 * term. The plural counts as the singular.
 */
function shareOf(words: readonly string[], asked: string): number {
  const term = asked.replace(/(?<=...)s$/, '');
  const beginnings = words.filter(word => word.startsWith(term));
  const isFull =
    term.length >= BEGINNING_MINIMUM ||
    beginnings.some(word => word === term || word === `${term}s`);
  if (beginnings.length === 0) return 0;
  return isFull ? 1 : WORTH.shortBeginning;
}

function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[a-z0-9_-]+/g) ?? [];
}

/** Adds the parts of words such as `api_key_expired`. */
function withParts(words: readonly string[]): string[] {
  return words.flatMap(word => (/[_-]/.test(word) ? [word, ...word.split(/[_-]/)] : word));
}
