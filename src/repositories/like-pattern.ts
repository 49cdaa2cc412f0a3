/** LIKE pattern for values that contain `text`; escapes `%`, `_` and `\`. */
export function containing(text: string): string {
  return `%${escapeLike(text)}%`;
}

/** LIKE pattern for values that begin with `text`. */
export function beginningWith(text: string): string {
  return `${escapeLike(text)}%`;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
