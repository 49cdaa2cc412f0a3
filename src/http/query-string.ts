/** A parameter's value; a list when it is repeated, null when it is not valid UTF-8 in percent-encoding. */
type QueryValue = string | null | (string | null)[];

/**
 * Parses a query string in the form encoding (`+` is a space) without ever guessing: what cannot be
 * decoded becomes null and what is repeated a list, and neither passes for a string.
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
