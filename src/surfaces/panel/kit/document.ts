import type { FastifyRequest } from 'fastify';
import type { OpenSession } from '#accounts/people/panel-sessions.ts';
import { pathOf } from '#http/request-target.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { breakable, type Html, html } from '../../pages/html.ts';
import { renderSimulationNotice } from '../../pages/simulation-notice.ts';
import type { AccountNotice } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { PANEL_ASSETS, PANEL_PREFIX } from './assets.ts';
import { isTest, renderTestBand, renderTestTag } from './environment.ts';
import { type FormFault, renderFault } from './form.ts';
import { accountPath, accountSections } from './navigation.ts';
import { type Notice, renderNotice } from './notice.ts';
import { PROFILE } from './places.ts';

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

/** What pages need to know of the service. */
export type PageSettings = Pick<
  PanelDependencies,
  'panelUrl' | 'publicUrl' | 'simulation' | 'sendsMail' | 'cookies'
>;

/**
 * What a page says around its content, for the person who requested it.
 * @param notice What it says, once, of the change that led to it.
 */
export function frameOf(
  request: FastifyRequest,
  notice: Notice | undefined,
  settings: PageSettings,
) {
  const words = texts(request);
  const { session = null, membership = null, notices = [] } = request.visit ?? {};
  return {
    words,
    // Without the base path.
    path: pathOf(request.url),
    // Not the request's, which one that is refused before it reaches the panel does not have.
    basePath: basePathOf(settings.panelUrl),
    publicUrl: settings.publicUrl,
    simulation: settings.simulation,
    session,
    membership,
    banner: membership === null ? null : bannerOf(words, membership),
    notices: membership === null ? notices : [...ownNotices(words, session, settings), ...notices],
    notice,
  };
}

type PageFrame = ReturnType<typeof frameOf>;

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

function renderMenu(membership: Membership, { words, basePath, path }: PageFrame): Html[] {
  // Every other page is below the account's first one.
  const home = accountPath(membership);
  return accountSections(words, membership).map(
    ({ title, links }) =>
      html`${title !== null && html`<p>${title}</p>`}<ul>${links.map(
        ({ href, text }) =>
          html`<li><a href="${basePath}${href}"${current(href, path, href !== home)}>${text}</a></li>`,
      )}</ul>`,
  );
}

/** @param withBelow Whether the link is also current on pages below its own. */
function current(href: string, path: string, withBelow = false): Html | null {
  if (href === path) return html` aria-current="page"`;
  return withBelow && path.startsWith(`${href}/`) ? html` aria-current="true"` : null;
}

/** What the pages of an account say of the person: without a confirmed e-mail, no mail tells them of what matters there. */
function ownNotices(
  { profile }: PanelTexts,
  session: OpenSession | null,
  { sendsMail }: PageSettings,
): AccountNotice[] {
  if (session === null || session.person.email_confirmed_at !== null) return [];
  const { confirmEmail, confirmEmailWithoutMail } = profile;
  const text = sendsMail ? confirmEmail(session.person.email) : confirmEmailWithoutMail;
  return [{ text, href: PROFILE }];
}

/** A state of the account that keeps it from taking payments, though people can still enter it. */
function bannerOf(
  { shell: { banners, onboardingStatuses } }: PanelTexts,
  membership: Membership,
): string | null {
  if (membership.status !== 'active') return banners.inactive;
  if (membership.kind !== 'merchant') return null;
  if (membership.accountKind === 'us' && membership.onboardingStatus !== 'approved') {
    return banners.onboarding(onboardingStatuses[membership.onboardingStatus]);
  }
  return membership.selfServiceOff ? banners.selfServiceOff : null;
}
