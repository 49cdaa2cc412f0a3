/** LIKE pattern for values that contain `text`; escapes `%`, `_` and `\`. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
