import type { FastifyReply } from 'fastify';

/** No script, nothing from elsewhere, and forms lead nowhere but back here. */
const POLICY =
  "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Sends a page that is the customer's alone: its address is what opens it. */
export function sendPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply
    .status(status)
    .type('text/html; charset=utf-8')
    .headers({
      'cache-control': 'no-store',
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    })
    .send(html);
}

/** @param content HTML, with everything that is not ours escaped. */
export function renderPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="/docs/style.css">
<link rel="stylesheet" href="/processor/style.css">
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
}

/** Where a processor's page leads when the customer is done; it cannot tell how the payment ended. */
export function renderDone(): string {
  return renderPage(
    'Thank you',
    `<h1>Thank you</h1>
<p>The merchant is told as soon as your payment is settled. You can close this page.</p>`,
  );
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
