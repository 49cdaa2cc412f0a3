/** Pattern for LIKE that matches `text` anywhere; `%`, `_` and `\` are ordinary characters. */
export function containing(text: string): string {
  return `%${escapeLike(text)}%`;
}

/** Pattern for LIKE that matches what begins with `text`. */
export function beginningWith(text: string): string {
  return `${escapeLike(text)}%`;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
