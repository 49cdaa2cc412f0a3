import { sql } from 'kysely';
import type { Database } from '../../src/database/connection.ts';
import { createDatabase, startPostgres, UNDISTURBED } from './databases.ts';
import { type Finding, VoidRun } from './measure.ts';
import { addMerchants } from './merchants.ts';
import { pgbenchContender } from './pgbench.ts';
import { serviceEnvironment, startRedis, startServer, startService } from './processes.ts';
import { requirePrograms } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { compare, httpContender, inTurns } from './rounds.ts';
import { CONNECTIONS } from './settings.ts';
import { repeatedCreate } from './statements.ts';
import { creates } from './traffic.ts';

/** Holds signed creates against pgbench, and against themselves with six round trips. */
export async function bench(resources: Resources): Promise<Finding[]> {
  requirePrograms();
  const redisUrl = await startRedis(resources);
  const server = await startPostgres(resources, UNDISTURBED);
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'creations');
  const { merchants, masterKey } = await addMerchants(db);
  const state = { databaseUrl, masterKey };
  const service = await startService(resources, 'service', { ...state, redisUrl });
  const withoutRedis = await startService(resources, 'service-without-redis', state);
  const six = await startServer(resources, {
    name: 'six round trips',
    script: 'test/bench/six-round-trips-server.ts',
    env: serviceEnvironment({ ...state, redisUrl }),
  });

  const before = await countRows(db);
  let created = 0;
  let runs = 0;
  const count = (some: number) => {
    created += some;
    runs += 1;
  };
  const contender = (name: string, { port }: { port: number }) =>
    httpContender(resources, {
      name,
      port,
      traffic: creates(merchants),
      onResult: result => count(result.created),
    });
  const throughput = await inTurns([
    await pgbenchContender(resources, {
      name: 'pgbench',
      url: databaseUrl,
      statements: merchants.map(repeatedCreate),
      onDone: count,
    }),
    contender('create', service),
    contender('six round trips', six),
    contender('create without Redis', withoutRedis),
  ]);
  checkRows(before, await countRows(db), created, runs * CONNECTIONS);
  return [
    compare(throughput, 'signed create', ['create', 'pgbench'], 0.62),
    compare(throughput, 'signed create in one statement', ['create', 'six round trips'], 2.2),
    compare(throughput, 'create without Redis', ['create without Redis', 'create'], 0.6),
  ];
}

type Rows = Readonly<Record<'payments' | 'events' | 'responses', number>>;

async function countRows(db: Database): Promise<Rows> {
  const { rows } = await sql<Rows>`
    select (select count(*) from payments) as payments, (select count(*) from events) as events,
           (select count(*) from idempotency_keys) as responses`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('nothing was counted');
  return row;
}

/**
 * Every create has left a payment, its event and its response.
 * @param cut Most creates that took effect with their answers cut off by the end of a round.
 * @throws VoidRun
 */
function checkRows(before: Rows, after: Rows, created: number, cut: number): void {
  for (const table of ['payments', 'events', 'responses'] as const) {
    const rows = after[table] - before[table];
    if (rows < created || rows > created + cut || rows !== after.payments - before.payments) {
      throw new VoidRun(`${created} creates left ${rows} ${table}`);
    }
  }
}
