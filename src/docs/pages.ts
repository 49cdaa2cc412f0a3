import { ERRORS } from '../errors/catalogue.ts';
import { basePathOf } from '../routes/pages/base-path.ts';
import { type Html, html } from '../routes/pages/html.ts';
import { EXAMPLE_BASE } from '../routes/v1/examples.ts';
import { ERROR_CODES, errorIndexMarkdown, errorMarkdown, errorTitle } from './error-pages.ts';
import type { GuideContext } from './guides/guide.ts';
import { GUIDES } from './guides/index.ts';
import { type NavigationGroup, renderLayout } from './layout.ts';
import { markdownPathOf, renderMarkdown, withAbsoluteLinks } from './markdown.ts';
import type { OpenApiDocument } from './openapi/document.ts';
import { referenceParts, renderReference } from './reference/sections.ts';
import { referenceMarkdown } from './reference/text.ts';

/** Something that is served as it is. */
export interface StaticText {
  readonly type: string;
  readonly text: string;
}

/** A page before it is rendered. */
interface Page {
  readonly path: string;
  readonly title: string;
  readonly description: string;
  /** What stands below title and description. */
  readonly markdown: string;
  /** In place of what the Markdown renders to. */
  readonly content?: Html;
}

const TITLE = 'External Payments Service';
const SUMMARY =
  "Merchants' servers create payments over a signed API; customers pay on a hosted checkout; the API, webhooks and reports tell how it went.";
const REFERENCE = {
  path: '/docs/reference',
  title: 'API reference',
  description: 'Every route with its parameters, fields, errors and an example.',
};
const ERROR_INDEX = {
  path: '/docs/errors',
  title: 'Errors',
  description: 'What an error says, and every code there is.',
};
const MARKDOWN = 'text/markdown; charset=utf-8';

/**
 * Renders the whole documentation: every page as HTML and as Markdown, the OpenAPI document and
 * llms.txt, by path.
 */
export function renderDocs(
  context: GuideContext,
  document: OpenApiDocument,
): ReadonlyMap<string, StaticText> {
  const { publicUrl } = context;
  const basePath = basePathOf(publicUrl);
  const guides = GUIDES.map(({ slug, title, description, markdown }) => ({
    path: `/docs/${slug}`,
    title,
    description,
    markdown: markdown(context).replaceAll(EXAMPLE_BASE, publicUrl),
  }));
  const reference: Page = {
    ...REFERENCE,
    markdown: referenceMarkdown(document),
    content: renderReference(document, basePath),
  };
  const errors = ERROR_CODES.map(errorCode => ({
    path: `/docs/errors/${errorCode}`,
    title: errorTitle(errorCode),
    description: ERRORS[errorCode].meaning,
    markdown: errorMarkdown(errorCode, publicUrl),
  }));
  const index: Page = { ...ERROR_INDEX, markdown: errorIndexMarkdown(publicUrl) };
  const home = homePage(guides, basePath);
  const pages = [home, ...guides, reference, index, ...errors];

  const texts = new Map<string, StaticText>();
  for (const page of pages) {
    texts.set(page.path, {
      type: 'text/html; charset=utf-8',
      text: renderPage(page, guides, document, basePath),
    });
    texts.set(markdownPathOf(page.path), { type: MARKDOWN, text: toMarkdown(page, publicUrl) });
  }
  texts.set('/llms.txt', {
    type: 'text/plain; charset=utf-8',
    text: llmsText([home, ...guides], [reference, index], errors, publicUrl),
  });
  texts.set('/openapi.json', {
    type: 'application/json; charset=utf-8',
    text: JSON.stringify(document),
  });
  return texts;
}

function homePage(guides: readonly Page[], basePath: string): Page {
  const list = (pages: readonly Omit<Page, 'markdown'>[]) =>
    pages.map(({ path, title, description }) => `- [${title}](${path}): ${description}`);
  return {
    path: '/docs',
    title: TITLE,
    description: SUMMARY,
    markdown: [
      '## Guides',
      '',
      ...list(guides),
      '',
      '## Reference',
      '',
      ...list([REFERENCE, ERROR_INDEX]),
      '',
      'The same for machines: the [OpenAPI 3.1 document](/openapi.json), every page as Markdown (add `.md` to its address), and [llms.txt](/llms.txt) with all of them.',
    ].join('\n'),
    content: html`<h2 class="visually-hidden">Guides</h2>
<ol class="cards">${guides.map(guide => card(guide, basePath))}</ol>
<h2>Reference</h2>
<ul class="cards">${card(REFERENCE, basePath)}${card(ERROR_INDEX, basePath)}</ul>`,
  };
}

function card({ path, title, description }: Omit<Page, 'markdown'>, basePath: string): Html {
  return html`<li><a href="${basePath}${path}"><strong>${title}</strong><span>${description}</span></a></li>`;
}

function renderPage(
  { path, title, description, markdown, content }: Page,
  guides: readonly Page[],
  document: OpenApiDocument,
  basePath: string,
): string {
  const isReference = path === REFERENCE.path;
  const rendered = renderMarkdown(markdown, basePath);
  const parts = rendered.headings
    .filter(({ depth }) => depth === 2)
    .map(({ id, text }) => ({ id, text }));
  return renderLayout({
    path,
    title,
    description,
    basePath,
    wide: isReference,
    content: content ?? { markup: rendered.markup },
    navigation: isReference
      ? referenceNavigation(document)
      : guideNavigation(guides, path, path.startsWith('/docs/errors') ? [] : parts),
  });
}

function guideNavigation(
  guides: readonly Page[],
  path: string,
  parts: readonly { id: string; text: string }[],
): NavigationGroup[] {
  const link = (page: { path: string; title: string }) => ({
    href: page.path,
    text: page.title,
    parts: page.path === path ? parts : [],
  });
  return [
    { title: 'Guides', links: guides.map(link) },
    { title: 'Reference', links: [link(REFERENCE), link(ERROR_INDEX)] },
    ...(path.startsWith(ERROR_INDEX.path)
      ? [
          {
            title: 'Codes',
            links: ERROR_CODES.map(code => ({
              href: `${ERROR_INDEX.path}/${code}`,
              // Words can be broken between lines, which a slug cannot.
              text: errorTitle(code).replaceAll('_', ' '),
            })),
          },
        ]
      : []),
  ];
}

function referenceNavigation(document: OpenApiDocument): NavigationGroup[] {
  return referenceParts(document).map(({ title, links }) => ({
    title,
    links: links.map(({ id, text }) => ({ href: `${REFERENCE.path}#${id}`, text })),
  }));
}

function toMarkdown({ title, description, markdown }: Page, publicUrl: string): string {
  return withAbsoluteLinks(`# ${title}\n\n${description}\n\n${markdown}\n`, publicUrl);
}

/** See https://llmstxt.org. */
function llmsText(
  guides: readonly Page[],
  reference: readonly Page[],
  errors: readonly Page[],
  publicUrl: string,
): string {
  const list = (pages: readonly Page[]) =>
    pages.map(
      ({ path, title, description }) =>
        `- [${title}](${publicUrl}${markdownPathOf(path)}): ${description}`,
    );
  return `${[
    `# ${TITLE}`,
    '',
    `> ${SUMMARY}`,
    '',
    '## Guides',
    '',
    ...list(guides),
    '',
    '## Reference',
    '',
    ...list(reference),
    `- [OpenAPI 3.1 document](${publicUrl}/openapi.json): The same for machines.`,
    '',
    '## Optional',
    '',
    ...list(errors),
  ].join('\n')}\n`;
}
