import { type Html, html } from '../pages/html.ts';
import { renderSimulationNotice, SIMULATION_NOTICE } from '../pages/simulation-notice.ts';
import { DOCS_ASSETS } from './assets.ts';
import { markdownPathOf } from './markdown.ts';
import { SEARCH_PATH } from './search-index.ts';

interface NavigationLink {
  readonly href: string;
  readonly text: string;
  /** Links to parts of the page, if it is the current one. */
  readonly parts?: readonly { readonly id: string; readonly text: string }[];
}

export interface NavigationGroup {
  readonly title: string;
  readonly links: readonly NavigationLink[];
}

export interface LayoutParts {
  /** The page's own path, without the base path. */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  /** Empty for a page without navigation, which has no Markdown version either. */
  readonly navigation: readonly NavigationGroup[];
  readonly content: Html;
  readonly basePath: string;
  /** Whether the service simulates payments. */
  readonly simulation: boolean;
  /** How lists look. */
  readonly look?: 'cards' | 'fields';
}

const NAME = 'External Payments Service';
const BAR = [
  ['/docs/quickstart', 'Quickstart'],
  ['/docs/reference', 'Reference'],
  ['/docs/errors', 'Errors'],
] as const;

/** Renders a page: its content with head, bar, navigation and footer. */
export function renderLayout(parts: LayoutParts): string {
  const { path, title, description, content, basePath, simulation, look } = parts;
  const asset = (name: Parameters<typeof DOCS_ASSETS.path>[1]) => DOCS_ASSETS.path(basePath, name);
  const navigation = renderNavigation(parts);
  const alone = parts.navigation.length === 0;
  const markdownPath = basePath + markdownPathOf(path);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${description}">
<title>${title === NAME ? title : `${title} · ${NAME}`}</title>
<link rel="icon" type="image/svg+xml" href="${asset('icon.svg')}">
<link rel="stylesheet" href="${asset('base.css')}">
<link rel="stylesheet" href="${asset('shell.css')}">
<link rel="stylesheet" href="${asset('style.css')}">
<link rel="stylesheet" href="${asset('scripts.css')}">
${scriptsOf(content).map(
  name => html`<script type="module" src="${asset(name)}"></script>
`,
)}${!alone && html`<link rel="alternate" type="text/markdown" href="${markdownPath}">`}
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
${simulation && renderSimulationNotice(SIMULATION_NOTICE)}<header class="bar">
<a class="brand" href="${basePath}/docs">${NAME}</a>
${renderSearch(basePath)}
<nav aria-label="Main">${BAR.map(
    ([href, text]) => html`<a href="${basePath}${href}"${current(href, path)}>${text}</a>`,
  )}</nav>
</header>
<div class="${['page', look, alone && 'alone'].filter(Boolean).join(' ')}">
${
  !alone &&
  html`<details class="contents"><summary>Contents</summary><nav class="links" aria-label="Contents">${navigation}</nav></details>
<nav class="side links" aria-label="Documentation">${navigation}</nav>`
}
<main id="content">
<h1>${title}</h1>
<p class="lead">${description}</p>
${content}
<footer>${!alone && html`<a href="${markdownPath}">This page as Markdown</a>`}<a href="${basePath}/openapi.json">OpenAPI document</a><a href="${basePath}/llms.txt">llms.txt</a></footer>
</main>
</div>
</body>
</html>
`.markup;
}

/** The scripts that a page needs; without scripts it works too. */
function scriptsOf({ markup }: Html) {
  const scripts: Parameters<typeof DOCS_ASSETS.path>[1][] = ['search.js'];
  if (markup.includes('<pre')) scripts.push('copy-code.js');
  if (markup.includes('<div class="languages">')) scripts.push('language-tabs.js');
  return scripts;
}

/** The search field, which is hidden without scripts. */
function renderSearch(basePath: string): Html {
  return html`<div class="search" role="search" data-index="${basePath}${SEARCH_PATH}">
<label class="visually-hidden" for="search-text">Search the documentation</label>
<input id="search-text" type="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/">
<kbd aria-hidden="true">/</kbd>
<div class="found visually-hidden"><p role="status"></p><ul></ul></div>
</div>`;
}

function renderNavigation({ navigation, path, basePath }: LayoutParts): Html[] {
  return navigation.map(
    ({ title, links }) =>
      html`<p>${title}</p><ul>${links.map(
        ({ href, text, parts = [] }) =>
          html`<li><a href="${basePath}${href}"${current(href, path)}>${text}</a>${
            parts.length > 0 &&
            html`<ul>${parts.map(part => html`<li><a class="part" href="#${part.id}">${part.text}</a></li>`)}</ul>`
          }</li>`,
      )}</ul>`,
  );
}

function current(href: string, path: string): Html | null {
  return href === path ? html` aria-current="page"` : null;
}
