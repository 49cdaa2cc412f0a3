import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '#storage/database/connection.ts';
import type { Finding } from './measure.ts';
import { processTimes } from './process-times.ts';
import { type ServiceState, startService } from './processes.ts';
import { type Resources, withResources } from './resources.ts';

/** Time until loops have found nothing for ten seconds, and duration of the measurement, in milliseconds. */
const SETTLING_MS = 15_000;
const MEASURED_MS = 20_000;

/** Rows that heartbeats may write per minute. */
const HEARTBEATS = 6;

/** Measures what the API with its worker costs while there is nothing to do. */
export function idle({ signal }: Resources, state: ServiceState, db: Database): Promise<Finding[]> {
  return withResources(signal, async resources => {
    const { pid } = await startService(resources, 'idle-service', state, {
      scriptArguments: ['--with-worker'],
    });
    await sleep(SETTLING_MS, undefined, { signal });
    const before = await processTimes(pid);
    const activity = await readActivity(db);
    await sleep(MEASURED_MS, undefined, { signal });
    const milliseconds = ((await processTimes(pid)).allThreads - before.allThreads) / 1000;
    const { transactions, rows } = await readActivity(db);
    const cpu: Finding = {
      subject: 'CPU of the idle API with its worker, in percent of a core',
      measured: `${milliseconds.toFixed(0)} ms in ${MEASURED_MS / 1000} s, ${(((transactions - activity.transactions) * 1000) / MEASURED_MS).toFixed(1)} transactions a second`,
      value: (100 * milliseconds) / MEASURED_MS,
      goal: { relation: '<=', value: 1 },
    };
    const written: Finding = {
      subject: 'rows that the idle API with its worker writes in a minute',
      measured: `${rows - activity.rows} in ${MEASURED_MS / 1000} s`,
      value: ((rows - activity.rows) * 60_000) / MEASURED_MS,
      goal: { relation: '<=', value: HEARTBEATS },
    };
    return [cpu, written];
  });
}

/** Counters of the database so far. */
async function readActivity(db: Database): Promise<{ transactions: number; rows: number }> {
  const { rows } = await sql<{ transactions: number; rows: number }>`
    select xact_commit as transactions,
           (select sum(n_tup_ins + n_tup_upd + n_tup_del)::bigint from pg_stat_user_tables) as rows
    from pg_stat_database where datname = current_database()`.execute(db);
  return rows[0] ?? { transactions: Number.NaN, rows: Number.NaN };
}
