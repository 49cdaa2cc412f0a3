/** Most edits between a word and the name that was meant; two letters that change places are two. */
const EDITS_MAXIMUM = 3;

/** ` Did you mean "listen"?` for `lisen`; empty when no name is close. The beginning of a name is. */
export function didYouMean(word: string, names: readonly string[]): string {
  const near = names
    .map(name => ({ name, edits: name.startsWith(word) ? 0 : editsBetween(word, name) }))
    .filter(({ name, edits }) => edits <= Math.min(EDITS_MAXIMUM, name.length / 2))
    .toSorted((one, other) => one.edits - other.edits);
  const [nearest] = near;
  const meant = near.filter(({ edits }) => edits === nearest?.edits).map(({ name }) => `"${name}"`);
  return meant.length === 0 ? '' : ` Did you mean ${meant.join(' or ')}?`;
}

/** How many letters are to insert, leave out or replace (Levenshtein distance). */
function editsBetween(one: string, other: string): number {
  /** The edits from what is read of `one` to each beginning of `other`. */
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const letter of one) {
    const next = [(row[0] ?? 0) + 1];
    for (const [column, wanted] of [...other].entries()) {
      const replaced = (row[column] ?? 0) + Number(letter !== wanted);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
