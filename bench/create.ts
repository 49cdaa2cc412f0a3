import { sql } from 'kysely';
import type { Database } from '#storage/database/connection.ts';
import { createDatabase, startPostgres, UNDISTURBED } from './databases.ts';
import { type Finding, VoidRun } from './measure.ts';
import { addMerchants } from './merchants.ts';
import { pgbenchContender } from './pgbench.ts';
import { serviceEnvironment, startRedis, startServer, startService } from './processes.ts';
import { requirePrograms } from './required-programs.ts';
import type { Resources } from './resources.ts';
import { compare, httpContender, inTurns } from './rounds.ts';
import { AGAINST, CONNECTIONS } from './settings.ts';
import { repeatedCreate } from './statements.ts';
import { creates } from './traffic.ts';

/** Compares signed creates with pgbench and with a version that takes six round trips. */
export async function bench(resources: Resources): Promise<Finding[]> {
  requirePrograms();
  const redisUrl = await startRedis(resources);
  const server = await startPostgres(resources, UNDISTURBED);
  const { db, url: databaseUrl } = await createDatabase(resources, server, 'creations');
  const { merchants, masterKey } = await addMerchants(db);
  const state = { databaseUrl, masterKey, redisUrl };
  const service = await startService(resources, 'service', state);
  const withoutRedis = await startService(resources, 'service-without-redis', {
    databaseUrl,
    masterKey,
  });
  const six = await startServer(resources, {
    name: 'six round trips',
    script: 'bench/six-round-trips-server.ts',
    env: serviceEnvironment(state),
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
  const contenders = [
    await pgbenchContender(resources, {
      name: 'pgbench',
      url: databaseUrl,
      statements: merchants.map(repeatedCreate),
      onDone: count,
    }),
    contender('create', service),
    contender('six round trips', six),
    contender('create without Redis', withoutRedis),
  ];
  for (const root of AGAINST) {
    const other = await startService(resources, 'other-service', state, { root });
    contenders.push(contender(`create in ${root}`, other));
  }
  const throughput = await inTurns(contenders);
  checkRows(before, await countRows(db), created, runs * CONNECTIONS);
  return [
    compare(throughput, 'signed create', ['create', 'pgbench'], 1.2),
    compare(throughput, 'signed create in one statement', ['create', 'six round trips'], 3),
    compare(throughput, 'create without Redis', ['create without Redis', 'create'], 0.7),
    ...AGAINST.map(root =>
      compare(throughput, `create against ${root}`, ['create', `create in ${root}`], null),
    ),
  ];
}

type Rows = Readonly<Record<'payments' | 'events' | 'responses', number>>;

async function countRows(db: Database): Promise<Rows> {
  const { rows } = await sql<Rows>`
    select (select count(*) from payments) as payments, (select count(*) from events) as events,
           (select count(*) from idempotency_keys) as responses`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('count(*) returned no row');
  return row;
}

/**
 * Checks that each create left a payment, an event and a response.
 * @param cut The most creates that took effect, but whose responses were cut off by the end of a round.
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
