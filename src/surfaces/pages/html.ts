/** Markup that is safe to send: all values in it are escaped. */
export interface Html {
  readonly markup: string;
}

type Value = Html | string | number | null | false | undefined | readonly Value[];

/**
 * Template tag that escapes every value except markup that it made itself. Lists are joined; null, undefined and
 * false render nothing. Put values of attributes in double quotes.
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

/** A URL, a path or a name of parts, such as `payment_prompt.created`, that may break only between its parts. */
export function breakable(text: string): Html {
  const parts = text.split(/(?<=\w[/._?&=])(?=[A-Za-z])/);
  return html`${parts.map((part, index) => html`${index > 0 && html`<wbr>`}${part}`)}`;
}

function render(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return 'markup' in value ? value.markup : value.map(render).join('');
}
