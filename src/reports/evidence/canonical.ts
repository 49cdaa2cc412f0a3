/**
 * JSON with the members of every object sorted by name, and without white space (RFC 8785): the same bytes
 * even after other software has read and written the document. Evidence holds no fractions, whose spelling
 * would be the difficult part.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
