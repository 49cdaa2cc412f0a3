import type { Database } from '#storage/database/connection.ts';

/** The process died in the middle of its work. */
export class Dead extends Error {}

/** Connections of a process that dies: responses arrive for the first `statements` statements, and no more. */
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
