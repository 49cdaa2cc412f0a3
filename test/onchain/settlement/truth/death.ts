import type { Database } from '#storage/database/connection.ts';

/** The process has ended in the middle of its work. */
export class Dead extends Error {}

/** A process's connections, which answers after its first so many statements no longer reach. */
export function mortal(db: Database, statements: number): Database {
  let left = statements;
  return db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      left -= 1;
      if (left < 0) throw new Dead('killed');
      return result;
    },
  });
}
