import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inOneStatement } from '../../src/database/transaction.ts';
import { startTestApp, type TestApp } from '../helpers/app.ts';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

test('when a statement is refused, its locks are free already', async () => {
  // So many take a moment to be let go.
  const LOCKS = 5_000;
  // Not the connection of the statement itself, which responds after that moment anyway.
  await service.db.connection().execute(async other => {
    for (let time = 0; time < 20; time++) {
      const refused = inOneStatement(service.db, connection =>
        sql`select pg_advisory_xact_lock(lock), 1 / (${LOCKS} - lock)
            from generate_series(1, ${LOCKS}) lock`.execute(connection),
      );
      await expect(refused).rejects.toThrow('division by zero');
      const { rows } = await sql`
        select from pg_locks
        where locktype = 'advisory' and database =
          (select oid from pg_database where datname = current_database())`.execute(other);
      expect(rows).toHaveLength(0);
    }
  });
});
