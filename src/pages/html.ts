/** Markup that is safe to send: everything that came from elsewhere is escaped in it. */
export interface Html {
  readonly markup: string;
}

type Value = Html | string | number | null | false | undefined | readonly Value[];

/**
 * Template tag that escapes whatever is put in, except markup made by itself. Lists are joined; null,
 * undefined and false leave nothing. Values in attributes belong in double quotes.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const parts = strings.map((text, index) =>
    index < values.length ? text + render(values[index]) : text,
  );
  return { markup: parts.join('') };
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function render(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return 'markup' in value ? value.markup : value.map(render).join('');
}
