import type { FastifyReply } from 'fastify';
import { PRIVATE_PAGE_HEADERS, pageHeaders } from '#http/security-headers.ts';
import type { Locale } from '../../checkout/page/locale.ts';
import { BASE_STYLE, openAssets } from '../../pages/assets.ts';
import { type Html, html } from '../../pages/html.ts';
import { SANDBOX_TEXTS } from './texts.ts';

const HEADERS = {
  ...pageHeaders("script-src 'self'", "style-src 'self'", "form-action 'self'"),
  ...PRIVATE_PAGE_HEADERS,
};

/** Sends a page for one customer; whoever has its URL can open it. */
export function sendPage(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.status(status).type('text/html; charset=utf-8').headers(HEADERS).send(page);
}

export const PROCESSOR_PREFIX = '/processor';

export const PROCESSOR_ASSETS = openAssets(PROCESSOR_PREFIX, {
  'base.css': BASE_STYLE,
  'style.css': new URL('./style.css', import.meta.url),
  'countdown.js': new URL('./countdown.js', import.meta.url),
});

interface PageFrame {
  /** Whether payments may be simulated. */
  readonly simulation: boolean;
  readonly locale: Locale;
}

export function renderPage(
  title: string,
  content: Html,
  { simulation, locale }: PageFrame,
): string {
  const { tag, direction, texts } = locale;
  return html`<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${PROCESSOR_ASSETS.path('', 'base.css')}">
<link rel="stylesheet" href="${PROCESSOR_ASSETS.path('', 'style.css')}">
<script type="module" src="${PROCESSOR_ASSETS.path('', 'countdown.js')}"></script>
</head>
<body>
${simulation && html`<aside class="simulation">${texts.simulation}</aside>\n`}<main>
${content}
</main>
</body>
</html>
`.markup;
}

/** The page that a processor returns the customer to. It does not show how the payment ended. */
export function renderDone(frame: PageFrame): string {
  const { thanks, thanksText } = SANDBOX_TEXTS[frame.locale.tag];
  return renderPage(thanks, html`<h1>${thanks}</h1>\n<p>${thanksText}</p>`, frame);
}
