import { Marked, type Tokens } from 'marked';
import { escapeHtml } from '../pages/html.ts';
import { highlight } from './highlight.ts';
import { groupLanguages, type LanguagesToken, renderLanguages } from './languages.ts';

export interface Heading {
  readonly id: string;
  readonly depth: number;
  readonly text: string;
}

export interface RenderedMarkdown {
  readonly markup: string;
  readonly headings: readonly Heading[];
}

interface Renderer {
  readonly marked: Marked;
  /** Headings of the page being rendered. */
  headings: Heading[];
}

/** An explicit anchor at the end of a heading: `### Create a payment {#createPayment}`. */
const HEADING_ID = / \{#([\w-]+)\}$/;

const renderers = new Map<string, Renderer>();

/**
 * Renders Markdown of this repository. Links that begin with a slash are paths of this service.
 * @param basePath The path that a proxy serves the service under; empty at the root.
 */
export function renderMarkdown(text: string, basePath: string): RenderedMarkdown {
  const renderer = renderers.get(basePath) ?? createRenderer(basePath);
  renderers.set(basePath, renderer);
  renderer.headings = [];
  return { markup: renderer.marked.parse(text, { async: false }), headings: renderer.headings };
}

function createRenderer(basePath: string): Renderer {
  const renderer: Renderer = { marked: new Marked(), headings: [] };
  renderer.marked.use({
    hooks: { processAllTokens: groupLanguages },
    extensions: [
      {
        name: 'languages',
        renderer: token =>
          renderLanguages(token as LanguagesToken, ({ text, lang }) => renderCode(text, lang)),
      },
    ],
    renderer: {
      heading({ tokens, depth }) {
        const inner = this.parser.parseInline(tokens).replace(HEADING_ID, '');
        // Headings inside an operation repeat on the page, so they have no anchors.
        if (depth > 3) return `<h${depth}>${inner}</h${depth}>\n`;
        const written = this.parser.parseInline(tokens, this.parser.textRenderer);
        const text = written.replace(HEADING_ID, '');
        const id = HEADING_ID.exec(written)?.[1] ?? slugOf(text);
        renderer.headings.push({ id, depth, text });
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${inner}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const target = href.startsWith('/') ? basePath + href : href;
        return `<a href="${escapeHtml(target)}">${this.parser.parseInline(tokens)}</a>`;
      },
      code({ text, lang }) {
        return renderCode(text, lang);
      },
      table(token) {
        const titles = token.header.map(({ tokens }) =>
          this.parser.parseInline(tokens, this.parser.textRenderer),
        );
        return renderTable(token, titles, cell => this.parser.parseInline(cell.tokens));
      },
      html: ({ text }) => escapeHtml(text),
    },
  });
  return renderer;
}

/** A block that keyboards can focus and scroll. */
function renderCode(source: string, language = ''): string {
  const label = language === '' ? '' : ` class="language-${escapeHtml(language)}"`;
  return `<pre tabindex="0"><code${label}>${highlight(source, language)}</code></pre>\n`;
}

/** @param titles Column titles as text: each cell carries its own, which phones show instead of the table's head. */
function renderTable(
  { header, rows }: Tokens.Table,
  titles: readonly string[],
  render: (cell: Tokens.TableCell) => string,
) {
  const head = header.map(cell => `<th scope="col">${render(cell)}</th>`).join('');
  const body = rows.map(
    ([first, ...others]) =>
      `<tr>${first === undefined ? '' : `<th scope="row">${render(first)}</th>`}${others
        .map(
          (cell, index) =>
            `<td data-title="${escapeHtml(titles[index + 1] ?? '')}">${render(cell)}</td>`,
        )
        .join('')}</tr>`,
  );
  return `<div class="scroll" tabindex="0"><table>
<thead><tr>${head}</tr></thead>
<tbody>
${body.join('\n')}
</tbody>
</table></div>\n`;
}

/** The anchor of a heading. */
function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** The Markdown as it is served: links are absolute and lead to Markdown. */
export function withAbsoluteLinks(text: string, publicUrl: string): string {
  return text.replace(
    /(\]\(|^\[E\d+\]: )(\/[\w/.-]+)/gm,
    (_link, before: string, path: string) => before + publicUrl + markdownPathOf(path),
  );
}

/** The path of a page's Markdown; other paths stay as they are. */
export function markdownPathOf(path: string): string {
  return path === '/docs' || path.startsWith('/docs/') ? `${path}.md` : path;
}
