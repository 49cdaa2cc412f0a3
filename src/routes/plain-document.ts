import { escapeHtml } from './html.ts';

/**
 * A page of plain content without a script.
 * @param title Text; escaped here.
 * @param stylesheets Paths on this service.
 * @param content HTML, with everything that is not ours escaped.
 */
export function renderDocument(
  title: string,
  stylesheets: readonly string[],
  content: string,
): string {
  const links = stylesheets.map(path => `<link rel="stylesheet" href="${path}">`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
${links.join('\n')}
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
}
