import { gzipSync } from 'node:zlib';
import { basePathOf } from '../pages/base-path.ts';
import type { DocsSettings } from './facts.ts';
import { type LayoutParts, type NavigationGroup, renderLayout } from './layout.ts';
import {
  type Heading,
  markdownPathOf,
  type RenderedMarkdown,
  renderMarkdown,
  withAbsoluteLinks,
} from './markdown.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import {
  ERRORS_PATH,
  homePage,
  listPages,
  type Page,
  type PageGroup,
  REFERENCE_PATH,
  startPage,
} from './pages.ts';
import { POSTMAN_PATH, writePostmanCollection } from './postman.ts';
import { SEARCH_PATH, writeSearchIndex } from './search-index.ts';

/** Something that is served as it is. */
interface StaticText {
  readonly type: string;
  readonly text: string;
  /** The text for clients that accept gzip, if compressing is worth it. */
  readonly gzipped?: Buffer;
}

interface RenderedDocs {
  /** Pages as HTML and as Markdown, their index, the OpenAPI document and llms.txt, by path. */
  readonly texts: ReadonlyMap<string, StaticText>;
  /** HTML for browsers that ask for `/`. */
  readonly start: string;
}

export const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Renders the whole documentation.
 * @param writeOpenApi Writes the OpenAPI document; the settings decide what it holds.
 * @throws Error when a placeholder has no fact, or a fact no placeholder.
 */
export function renderDocs(
  settings: DocsSettings,
  writeOpenApi: () => OpenApiDocument,
): RenderedDocs {
  const document = writeOpenApi();
  const { publicUrl, simulation } = settings;
  const place = { basePath: basePathOf(publicUrl), simulation };
  const { groups, errors } = listPages(settings, document);
  const home = homePage(groups);
  const withErrors = [...groups, { title: 'Error codes', pages: errors }];
  const texts = new Map<string, StaticText>();
  const rendered = [home, ...withErrors.flatMap(({ pages }) => pages)].map(page => ({
    ...page,
    ...renderMarkdown(page.markdown, place.basePath),
  }));
  for (const page of rendered) {
    const shown = page.path.startsWith(ERRORS_PATH) ? withErrors : groups;
    texts.set(page.path, { type: HTML, text: renderPage(page, place, shown) });
    const markdown = `# ${page.title}\n\n${page.description}\n\n${page.markdown}\n`;
    texts.set(markdownPathOf(page.path), {
      type: MARKDOWN,
      text: withAbsoluteLinks(markdown, publicUrl),
    });
  }
  // Where the front page was before it had its place beside the others'.
  const front = texts.get(markdownPathOf(home.path));
  if (front !== undefined) texts.set(`${home.path}/index.md`, front);
  const index = writeSearchIndex(
    rendered.filter(({ path }) => path !== home.path),
    place.basePath,
  );
  texts.set(SEARCH_PATH, { type: JSON_TYPE, text: index, gzipped: gzipSync(index) });
  texts.set('/llms.txt', {
    type: 'text/plain; charset=utf-8',
    text: writeLlmsText(home, groups, errors, publicUrl),
  });
  texts.set('/openapi.json', {
    type: JSON_TYPE,
    text: JSON.stringify(document),
  });
  texts.set(POSTMAN_PATH, {
    type: JSON_TYPE,
    text: JSON.stringify(writePostmanCollection(document)),
  });
  return {
    texts,
    start: renderAlone(startPage(settings), settings),
  };
}

/** Renders a page without navigation. */
export function renderAlone(
  page: Page,
  { publicUrl, simulation }: Pick<DocsSettings, 'publicUrl' | 'simulation'>,
): string {
  const basePath = basePathOf(publicUrl);
  return renderPage(
    { ...page, ...renderMarkdown(page.markdown, basePath) },
    { basePath, simulation },
  );
}

/** @param groups The pages of the navigation; without them the page has none. */
function renderPage(
  page: Page & RenderedMarkdown,
  place: Pick<LayoutParts, 'basePath' | 'simulation'>,
  groups: readonly PageGroup[] = [],
): string {
  const { markup, headings } = page;
  return renderLayout({
    ...page,
    ...place,
    content: { markup },
    navigation:
      page.path === REFERENCE_PATH
        ? headingNavigation(headings)
        : pageNavigation(groups, page.path, headings),
  });
}

function pageNavigation(
  groups: readonly PageGroup[],
  path: string,
  headings: readonly Heading[],
): NavigationGroup[] {
  const parts = path.startsWith(ERRORS_PATH) ? [] : headings.filter(({ depth }) => depth === 2);
  return groups.map(({ title, pages }) => ({
    title,
    links: pages.map(page => ({
      href: page.path,
      // Lines can break at spaces, but not inside the slug of an error.
      text: page.title.replaceAll('_', ' '),
      parts: page.path === path ? parts : [],
    })),
  }));
}

/** Sections with their subsections as groups; sections that have none come first, as one group. */
function headingNavigation(headings: readonly Heading[]): NavigationGroup[] {
  const link = ({ id, text }: Heading) => ({ href: `${REFERENCE_PATH}#${id}`, text });
  const lone: Heading[] = [];
  const groups: NavigationGroup[] = [];
  for (const [index, heading] of headings.entries()) {
    if (heading.depth !== 2) continue;
    const rest = headings.slice(index + 1);
    const end = rest.findIndex(({ depth }) => depth === 2);
    const inner = end === -1 ? rest : rest.slice(0, end);
    if (inner.length === 0) lone.push(heading);
    else groups.push({ title: heading.text, links: inner.map(link) });
  }
  return [{ title: 'Reference', links: lone.map(link) }, ...groups];
}

/** See https://llmstxt.org. */
function writeLlmsText(
  home: Page,
  groups: readonly PageGroup[],
  errors: readonly Page[],
  publicUrl: string,
): string {
  const list = (pages: readonly Page[]) =>
    pages
      .map(
        ({ path, title, description }) =>
          `- [${title}](${publicUrl}${markdownPathOf(path)}): ${description}`,
      )
      .join('\n');
  const sections = [
    `# ${home.title}`,
    `> ${home.description}`,
    '## Overview',
    `${list([home])}
- [OpenAPI 3.1 document](${publicUrl}/openapi.json): The reference for machines.`,
    ...groups.flatMap(({ title, pages }) => [`## ${title}`, list(pages)]),
    '## Optional',
    list(errors),
  ];
  return `${sections.join('\n\n')}\n`;
}
