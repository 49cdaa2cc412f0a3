/** A parameter's value: a list when it is repeated, null when it is not percent-encoded UTF-8. */
type QueryValue = string | null | (string | null)[];

/**
 * Parses a query string, or a form, in form encoding (`+` is a space). A value that cannot be decoded becomes
 * null, and repeated ones a list, so that validation refuses both if it expects a string.
 */
export function parseQueryString(text: string): Record<string, QueryValue> {
  const query: Record<string, QueryValue> = Object.create(null);
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const separator = pair.indexOf('=');
    const rawName = separator === -1 ? pair : pair.slice(0, separator);
    const name = decode(rawName) ?? rawName;
    const value = separator === -1 ? '' : decode(pair.slice(separator + 1));
    const earlier = query[name];
    if (earlier === undefined) query[name] = value;
    else if (Array.isArray(earlier)) earlier.push(value);
    else query[name] = [earlier, value];
  }
  return query;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
