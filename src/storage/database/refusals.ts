import pg from 'pg';

/** Why a server that responds refuses writes, by the beginning of SQLSTATE (PostgreSQL, appendix A). */
const REASONS = [
  ['53100', 'disk-full'],
  ['53', 'resources'],
  ['58', 'system-error'],
  ['25006', 'read-only'],
] as const;

type Reason = (typeof REASONS)[number][1];

const counts: Record<Reason, number> = {
  'disk-full': 0,
  resources: 0,
  'system-error': 0,
  'read-only': 0,
};

/** Counts the error of a statement if the server refused it because of its own state. */
export function countRefusal(error: unknown): void {
  if (!(error instanceof pg.DatabaseError)) return;
  const found = REASONS.find(([code]) => error.code?.startsWith(code));
  if (found !== undefined) counts[found[1]] += 1;
}

/** How many statements servers have refused to this process. */
export function readRefusals(): Readonly<Record<Reason, number>> {
  return { ...counts };
}
