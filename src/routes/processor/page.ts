import type { FastifyReply } from 'fastify';
import { PRIVATE_PAGE_HEADERS, pageHeaders } from '../../http/security-headers.ts';
import { BASE_STYLE, openAssets } from '../pages/assets.ts';
import { type Html, html } from '../pages/html.ts';
import { SIMULATION_NOTICE } from '../pages/simulation-notice.ts';

const HEADERS = {
  ...pageHeaders("script-src 'self'", "style-src 'self'", "form-action 'self'"),
  ...PRIVATE_PAGE_HEADERS,
};

/** Sends a page that only its customer may see: whoever has the URL can open it. */
export function sendPage(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply.status(status).type('text/html; charset=utf-8').headers(HEADERS).send(page);
}

export const PROCESSOR_PREFIX = '/processor';

export const PROCESSOR_ASSETS = openAssets(PROCESSOR_PREFIX, {
  'base.css': BASE_STYLE,
  'style.css': new URL('./style.css', import.meta.url),
  'countdown.js': new URL('./countdown.js', import.meta.url),
});

/** @param simulation Whether payments may be simulated. */
export function renderPage(title: string, content: Html, simulation: boolean): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${PROCESSOR_ASSETS.path('', 'base.css')}">
<link rel="stylesheet" href="${PROCESSOR_ASSETS.path('', 'style.css')}">
<script type="module" src="${PROCESSOR_ASSETS.path('', 'countdown.js')}"></script>
</head>
<body>
${simulation && SIMULATION_NOTICE}<main>
${content}
</main>
</body>
</html>
`.markup;
}

/** Page that a processor returns the customer to. It does not know how the payment ended. */
export function renderDone(simulation: boolean): string {
  return renderPage(
    'Thank you',
    html`<h1>Thank you</h1>
<p>The merchant is told as soon as your payment is settled. You can close this page.</p>`,
    simulation,
  );
}
