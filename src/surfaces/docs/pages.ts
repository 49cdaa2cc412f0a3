import { ERROR_CODES, ERRORS } from '#errors/catalogue.ts';
import { EXAMPLE_BASE } from '../api/v1/examples.ts';
import { PANEL_PREFIX } from '../panel/kit/assets.ts';
import { DOCS_PREFIX } from './assets.ts';
import { errorIndexMarkdown, errorMarkdown, errorTitle } from './error-pages.ts';
import { type DocsSettings, factsOf } from './facts.ts';
import { readGuides } from './guides/index.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import { writeReference } from './reference/write-reference.ts';
import { defineErrorLinks, terms } from './write-markdown.ts';

/** A page before it is rendered. */
export interface Page {
  readonly path: string;
  readonly title: string;
  /** One sentence. */
  readonly description: string;
  /** What follows title and description. */
  readonly markdown: string;
  /** How lists look: as cards that lead on, or as fields with their types. */
  readonly look?: 'cards' | 'fields';
}

export interface PageGroup {
  readonly title: string;
  readonly pages: readonly Page[];
}

const TITLE = 'External Payments Service';
export const REFERENCE_PATH = `${DOCS_PREFIX}/reference`;
export const ERRORS_PATH = `${DOCS_PREFIX}/errors`;

const SUMMARY =
  "Merchants' servers create payments over a signed API, customers pay on a hosted checkout, and the API, webhooks and reports show the outcome.";

interface Pages {
  /** In the order of the navigation. */
  readonly groups: readonly PageGroup[];
  /** A page for each error. */
  readonly errors: readonly Page[];
}

/** @throws Error when a placeholder has no fact, or a fact no placeholder. */
export function listPages(settings: DocsSettings, document: OpenApiDocument): Pages {
  const { publicUrl } = settings;
  const guides: PageGroup[] = readGuides(factsOf(settings)).map(group => ({
    title: group.title,
    pages: group.pages.map(page => ({
      ...page,
      markdown: page.markdown.replaceAll(EXAMPLE_BASE, () => publicUrl),
    })),
  }));
  const reference: Page[] = [
    {
      path: REFERENCE_PATH,
      title: 'API reference',
      description: 'Every route with its parameters, fields, errors and an example.',
      markdown: writeReference(document),
      look: 'fields',
    },
    {
      path: ERRORS_PATH,
      title: 'Errors',
      description: 'The fields of an error, and every code.',
      markdown: errorIndexMarkdown(publicUrl),
    },
  ];
  const errors: Page[] = ERROR_CODES.map(errorCode => ({
    path: `${ERRORS_PATH}/${errorCode}`,
    title: errorTitle(errorCode),
    description: ERRORS[errorCode].meaning,
    markdown: errorMarkdown(errorCode, settings),
  }));
  const link = (page: Page) => ({ ...page, markdown: defineErrorLinks(page.markdown) });
  const groups = [...guides, { title: 'Reference', pages: reference }];
  return {
    groups: groups.map(({ title, pages }) => ({ title, pages: pages.map(link) })),
    errors: errors.map(link),
  };
}

/** The first page of the documentation: a list of the others. */
export function homePage(groups: readonly PageGroup[]): Page {
  const lists = groups.flatMap(({ title, pages }) => [`## ${title}`, linkList(pages)]);
  return {
    path: DOCS_PREFIX,
    title: TITLE,
    description: SUMMARY,
    markdown: [
      ...lists,
      '## For machines',
      'The [OpenAPI 3.1 document](/openapi.json) has the whole reference, and the [Postman collection](/postman.json) signs its requests: import it by its address, and set the variables of your key. Every page is also served as Markdown: add `.md` to its address. [llms.txt](/llms.txt) lists them all.',
    ].join('\n\n'),
    look: 'cards',
  };
}

/** What a browser gets at the root of the service. */
export function startPage({
  panelUrl,
  publicUrl,
}: Pick<DocsSettings, 'panelUrl' | 'publicUrl'>): Page {
  const forPeople = [
    {
      path: panelUrl === publicUrl ? PANEL_PREFIX : `${panelUrl}${PANEL_PREFIX}`,
      title: 'Panel',
      description: 'Your payments, API keys and settings, for people who sign in.',
    },
    {
      path: `${DOCS_PREFIX}/shop`,
      title: 'Running a shop',
      description: 'What people who run a shop do in the panel.',
    },
  ];
  return {
    path: '/',
    title: TITLE,
    description: SUMMARY,
    markdown: linkList([
      {
        path: `${DOCS_PREFIX}/quickstart`,
        title: 'Quickstart',
        description: 'Create a first payment and learn its outcome.',
      },
      {
        path: REFERENCE_PATH,
        title: 'API reference',
        description: 'Every route with its fields, errors and an example.',
      },
      {
        path: DOCS_PREFIX,
        title: 'Documentation',
        description: 'Guides for integrating and operating the service.',
      },
      ...(panelUrl === null ? [] : forPeople),
    ]),
    look: 'cards',
  };
}

/** What a browser gets at an address without a page. */
export function missingPage(): Page {
  return {
    path: `${DOCS_PREFIX}/missing`,
    title: 'Page not found',
    description: 'There is no page at this address.',
    markdown: `The [documentation](${DOCS_PREFIX}) lists every page.`,
  };
}

function linkList(pages: readonly Pick<Page, 'path' | 'title' | 'description'>[]): string {
  return terms(
    pages.map(({ path, title, description }) => ({
      term: `[${title}](${path})`,
      text: description,
    })),
  );
}
