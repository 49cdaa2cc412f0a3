/** Most edits between a text and a suggestion for it. */
const EDITS_MAXIMUM = 2;
/** Longest text that is compared, in characters: clients can send texts of any length. */
const LENGTH_MAXIMUM = 64;

/**
 * The edit distance of two texts: characters to insert, remove or replace.
 * @returns undefined for more than two, and for texts above 64 characters.
 */
export function editsBetween(one: string, other: string): number | undefined {
  if (one === other) return 0;
  if (Math.abs(one.length - other.length) > EDITS_MAXIMUM) return undefined;
  if (Math.max(one.length, other.length) > LENGTH_MAXIMUM) return undefined;
  // A row of the table of distances between all prefixes of the two (Wagner and Fischer).
  let row = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (const [index, character] of one.split('').entries()) {
    const next = [index + 1];
    for (let column = 1; column <= other.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (other[column - 1] === character ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  const edits = row[other.length] ?? 0;
  return edits <= EDITS_MAXIMUM ? edits : undefined;
}

/** The candidate most similar to a text; undefined if none is within two edits and half of its own length. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  let best: { candidate: string; edits: number } | undefined;
  for (const candidate of candidates) {
    const edits = editsBetween(text, candidate);
    if (edits === undefined || 2 * edits > candidate.length) continue;
    if (best === undefined || edits < best.edits) best = { candidate, edits };
  }
  return best?.candidate;
}
