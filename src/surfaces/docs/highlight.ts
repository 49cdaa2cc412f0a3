import { escapeHtml } from '../pages/html.ts';

/** A key, a string or another literal of JSON. */
const JSON_TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\b\d[\d.e+-]*/g;
const REQUEST_LINE = /^(?:GET|POST|HTTP\/1\.1) .*/;
const HEADER_LINE = /^([A-Za-z-]+):(?= )/;

/** Highlights JSON and HTTP messages; other languages stay plain. */
export function highlight(source: string, language: string): string {
  if (language === 'json') return highlightJson(source);
  if (language !== 'http') return escapeHtml(source);
  const [head = '', ...body] = source.split('\n\n');
  return [head.split('\n').map(highlightLine).join('\n'), ...body.map(highlightJson)].join('\n\n');
}

function highlightLine(line: string): string {
  if (REQUEST_LINE.test(line)) return mark('start', line);
  const [, name] = HEADER_LINE.exec(line) ?? [];
  return name === undefined
    ? escapeHtml(line)
    : mark('key', name) + escapeHtml(line.slice(name.length));
}

function highlightJson(source: string): string {
  let end = 0;
  let marked = '';
  for (const match of source.matchAll(JSON_TOKEN)) {
    const [token, text, colon] = match;
    marked += escapeHtml(source.slice(end, match.index));
    if (text === undefined) marked += mark('literal', token);
    else if (colon === undefined) marked += mark('text', text);
    else marked += mark('key', text) + colon;
    end = match.index + token.length;
  }
  return marked + escapeHtml(source.slice(end));
}

function mark(kind: 'start' | 'key' | 'text' | 'literal', text: string): string {
  return `<span class="${kind}">${escapeHtml(text)}</span>`;
}
