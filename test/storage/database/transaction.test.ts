import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Connection, connect } from '#storage/database/connection.ts';
import { ReadsRefused } from '#storage/database/errors.ts';
import { inOneStatement, transact } from '#storage/database/transaction.ts';
import { createWriteGate } from '#storage/database/write-gate.ts';
import { startTestApp, type TestApp } from '../../helpers/app.ts';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

test('when a statement is refused, its locks have already been released', async () => {
  // Enough that releasing them takes a moment.
  const LOCKS = 5_000;
  // Not the connection of the statement itself, which responds only after that moment.
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

test('a statement that is not sent because reads are refused has certainly not been executed', async () => {
  let reason: string | null = null;
  const db = connect({
    url: service.databaseUrl,
    poolSize: 1,
    applicationName: 'test',
    gate: createWriteGate({ writes: [], reads: () => reason }),
    onIdleError: () => undefined,
  });
  const ask = (connection: Connection) => sql`select 1 as one`.execute(connection);
  await ask(db);
  reason = 'no standby has it';
  await expect(inOneStatement(db, ask)).rejects.toThrow(ReadsRefused);
  await expect(transact(db, ask)).rejects.toThrow(ReadsRefused);
  reason = null;
  // Reads are refused halfway: the transaction is rolled back.
  const cut = transact(db, async tx => {
    await ask(tx);
    reason = 'no standby has it';
    await ask(tx);
  });
  await expect(cut).rejects.toThrow(ReadsRefused);
  reason = null;
  expect((await ask(db)).rows).toEqual([{ one: 1 }]);
  await db.destroy();
});
