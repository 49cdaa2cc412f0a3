import type { OpenSession } from '#accounts/people/panel-sessions.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { breakable, type Html, html } from '../../pages/html.ts';
import { renderSimulationNotice } from '../../pages/simulation-notice.ts';
import type { AccountNotice } from '../hooks/access.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { PANEL_ASSETS, PANEL_PREFIX } from './assets.ts';
import { isTest, renderTestBand, renderTestTag } from './environment.ts';
import { type FormFault, renderFault } from './form.ts';
import { accountPath, accountSections, type PanelSection } from './navigation.ts';
import { type Notice, renderNotice } from './notice.ts';

/** What a page consists of. */
export interface PanelPage {
  readonly title: string;
  readonly content: Html;
  /** What the title is about, in a line below it. */
  readonly lead?: Html | string;
  /** Why the page's form is shown again. */
  readonly fault?: FormFault | null;
  /** HTTP status. Default: 422 with a fault, else 200. */
  readonly status?: number;
  /** Seconds after which the script refreshes the page. */
  readonly refreshSeconds?: number;
}

/** The path of a page, and the session and account that it is for. */
export interface PageFrame {
  readonly words: PanelTexts;
  /** The page's own path, without the base path. */
  readonly path: string;
  /** The path that a proxy serves the panel under; empty at the root. */
  readonly basePath: string;
  readonly publicUrl: string;
  readonly simulation: boolean;
  readonly session: OpenSession | null;
  readonly membership: Membership | null;
  /** What is wrong with the account, for the top of each of its pages. */
  readonly banner: string | null;
  /** What else the top of each of its pages says. */
  readonly notices: readonly AccountNotice[];
  /** What it says, once, of the change that led to it. */
  readonly notice: Notice | undefined;
}

/** Renders a page: its content with head, bar and navigation. */
export function renderPage(page: PanelPage, frame: PageFrame): string {
  const { words, basePath, membership, banner, simulation } = frame;
  const { shell } = words;
  const asset = (name: Parameters<typeof PANEL_ASSETS.path>[1]) =>
    PANEL_ASSETS.path(basePath, name);
  const marked = isTest(membership);
  const named = membership !== null && html`${membership.name}${marked && renderTestTag(words)}`;
  const navigation = membership !== null && renderMenu(membership, frame);
  const { refreshSeconds: refresh } = page;
  return html`<!doctype html>
<html lang="${shell.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${[marked && shell.test.tag, page.title, membership?.name, shell.service].filter(Boolean).join(' · ')}</title>
<link rel="icon" type="image/svg+xml" href="${asset('icon.svg')}">
<link rel="stylesheet" href="${asset('base.css')}">
<link rel="stylesheet" href="${asset('shell.css')}">
<link rel="stylesheet" href="${asset('style.css')}">
<script type="module" src="${asset('script.js')}"></script>
</head>
<body>
<a class="skip" href="#content">${shell.skip}</a>
${marked && renderTestBand(words)}${simulation && renderSimulationNotice(words.shell.simulation)}${renderBar(frame)}
<div class="${membership === null ? 'page alone' : 'page'}">
${
  navigation &&
  html`<details class="contents"><summary>${shell.menuTitle}</summary><nav class="links" aria-label="${shell.menuTitle}">${navigation}</nav></details>
<nav class="side links" aria-label="${shell.account}"><p>${named}</p>${navigation}</nav>`
}
<main id="content"${refresh !== undefined && html` data-refresh="${refresh}"`}>
${membership !== null && page.title !== membership.name && html`<p class="here">${named}</p>`}${frame.notice !== undefined && renderNotice(frame.notice, basePath)}${renderNotices(frame)}
${banner !== null && html`<p class="notice">${banner}</p>`}
<h1>${breakable(page.title)}</h1>
${page.lead !== undefined && html`<p class="lead">${page.lead}</p>`}
${page.fault && renderFault(page.fault)}
${page.content}
</main>
</div>
<p class="visually-hidden" id="announcer" role="status" data-copied="${shell.copied}" data-copy-refused="${shell.copyRefused}"></p>
</body>
</html>
`.markup;
}

function renderNotices({ words, basePath, notices }: PageFrame): Html | null {
  if (notices.length === 0) return null;
  return html`<div class="notice" role="note"><ul>${notices.map(
    ({ text, href }) =>
      html`<li>${text} <a href="${basePath}${href}">${words.changes.look}</a></li>`,
  )}</ul></div>`;
}

function renderBar(frame: PageFrame): Html {
  const { basePath, membership, path, publicUrl, session } = frame;
  const { shell } = frame.words;
  const isSignedIn = session?.isComplete === true;
  return html`<header class="bar">
<a class="brand" href="${basePath}${PANEL_PREFIX}">${shell.service}</a>
<nav aria-label="${shell.main}">${
    isSignedIn &&
    html`<a href="${basePath}${PANEL_PREFIX}">${shell.accounts}</a>
<a href="${basePath}${PANEL_PREFIX}/profile"${current(`${PANEL_PREFIX}/profile`, path, true)}>${shell.profile}</a>`
  }${
    membership?.kind !== 'partner' &&
    html`
<a href="${publicUrl}/docs/shop">${shell.help}</a>`
  }
<a href="${publicUrl}/docs">${shell.docs}</a>${
    session !== null &&
    html`
<form method="post" action="${basePath}${PANEL_PREFIX}/sign-out"><button class="plain">${shell.signOut}</button></form>`
  }</nav>
</header>`;
}

function renderMenu(membership: Membership, frame: PageFrame): Html {
  return html`${accountSections(frame.words, membership).map(section =>
    renderSection(section, accountPath(membership), frame),
  )}`;
}

/** @param home Path of the account's first page, which every other is below. */
function renderSection(
  { title, links }: PanelSection,
  home: string,
  { basePath, path }: PageFrame,
): Html {
  return html`${title !== null && html`<p>${title}</p>`}<ul>${links.map(
    ({ href, text }) =>
      html`<li><a href="${basePath}${href}"${current(href, path, href !== home)}>${text}</a></li>`,
  )}</ul>`;
}

/** @param withBelow Whether the link is also current on pages below its own. */
function current(href: string, path: string, withBelow = false): Html | null {
  if (href === path) return html` aria-current="page"`;
  return withBelow && path.startsWith(`${href}/`) ? html` aria-current="true"` : null;
}
