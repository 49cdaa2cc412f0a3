import type { FastifyReply } from 'fastify';
import { type Html, html } from '../html.ts';
import { renderDocument } from '../plain-document.ts';

/** No script, nothing from elsewhere, and forms lead nowhere but back here. */
const POLICY =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Sends a page that is the customer's alone: its address is what opens it. */
export function sendPage(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply
    .status(status)
    .type('text/html; charset=utf-8')
    .headers({
      'cache-control': 'no-store',
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    })
    .send(page);
}

const STYLESHEETS = ['/docs/style.css', '/processor/style.css'];

export function renderPage(title: string, content: Html): string {
  return renderDocument(title, STYLESHEETS, content.markup);
}

/** Where a processor's page leads when the customer is done; it cannot tell how the payment ended. */
export function renderDone(): string {
  return renderPage(
    'Thank you',
    html`<h1>Thank you</h1>
<p>The merchant is told as soon as your payment is settled. You can close this page.</p>`,
  );
}
