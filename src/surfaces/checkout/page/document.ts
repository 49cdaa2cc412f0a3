import type { FastifyReply } from 'fastify';
import { PRIVATE_PAGE_HEADERS, pageHeaders } from '#http/security-headers.ts';
import { type Html, html } from '../../pages/html.ts';
import { accentPath } from './accent.ts';
import { CHECKOUT_ASSETS } from './assets.ts';
import type { Locale } from './locale.ts';

interface DocumentParts {
  readonly title: string;
  /** `main` and what follows it. */
  readonly content: Html;
  readonly basePath: string;
  readonly locale: Locale;
  /** The merchant's `#rrggbb`; null for the service's own colour. */
  readonly accentColor?: string | null;
  /** Whether payments may be simulated. */
  readonly simulation: boolean;
  /** Whether it is a test merchant's. */
  readonly isTest?: boolean;
  /** Says that the page is an example, on which nothing works; null for a real one. */
  readonly example?: string | null;
}

/** Headers of every checkout page. */
export const DOCUMENT_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  ...pageHeaders(
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
  ),
  ...PRIVATE_PAGE_HEADERS,
};

/** The HTML document around the content of every checkout page. */
export function renderDocument(parts: DocumentParts): string {
  const {
    title,
    content,
    basePath,
    locale,
    accentColor = null,
    simulation,
    isTest = false,
    example = null,
  } = parts;
  const { texts, tag, direction, formatTag } = locale;
  const notice = example ?? (simulation ? texts.simulation : null);
  const asset = (name: Parameters<typeof CHECKOUT_ASSETS.path>[1]) =>
    CHECKOUT_ASSETS.path(basePath, name);
  return html`<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${asset('icon.svg')}">
<link rel="stylesheet" href="${asset('base.css')}">
<link rel="stylesheet" href="${asset('style.css')}">
${accentColor && html`<link rel="stylesheet" href="${accentPath(basePath, accentColor)}">`}
${example === null && html`<script type="module" src="${asset('script.js')}"></script>`}
</head>
<body data-locale="${formatTag}" data-texts="${JSON.stringify(texts.script)}"${example !== null && html` inert`}>
${isTest && html`<aside class="test-band" aria-label="${texts.choose.test}">${texts.test}</aside>`}${notice !== null && html`<aside class="simulation">${notice}</aside>`}${content}
<p class="connection" id="connection" role="status"></p>
<p class="visually-hidden" id="announcer" role="status"></p>
</body>
</html>
`.markup;
}

export function sendDocument(reply: FastifyReply, status: number, document: string): FastifyReply {
  return reply.status(status).headers(DOCUMENT_HEADERS).serializer(String).send(document);
}
