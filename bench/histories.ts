import { sql } from 'kysely';
import { connect } from '#storage/database/connection.ts';
import { type BenchDatabase, createDatabase, startPostgres, THROW_AWAY } from './databases.ts';
import { type Finding, sideBySide } from './measure.ts';
import type { Resources } from './resources.ts';
import { FEW_PAYMENTS, PAYMENTS } from './settings.ts';

/** A filled database with what its callers need to know about it. */
export type History<T> = T & BenchDatabase & { readonly payments: number };

/** Calls take about a millisecond: turns are short, so that both sides see the same load. */
const ROUNDS = 100;
const REPEATS = 5;

/** Settings with which inserts into a new table need no WAL. */
const UNLOGGED = { ...THROW_AWAY, wal_level: 'minimal', max_wal_senders: '0' };

/** Builds a short and a long history on one server. */
export async function buildHistories<T>(
  resources: Resources,
  fill: (database: BenchDatabase, payments: number) => Promise<T>,
): Promise<readonly [few: History<T>, many: History<T>]> {
  const server = await startPostgres(resources, UNLOGGED);
  const build = async (name: string, payments: number): Promise<History<T>> => {
    const started = performance.now();
    const database = await createDatabase(resources, server, name);
    const filled = await fill(database, payments);
    const seconds = Math.round((performance.now() - started) / 1000);
    process.stdout.write(`built ${payments} payments in ${seconds} s\n`);
    return { ...filled, ...database, payments };
  };
  // Each history is vacuumed and analysed where it is filled.
  await setAutovacuum(server, 'off');
  const sides = [await build('few', FEW_PAYMENTS), await build('many', PAYMENTS)] as const;
  await setAutovacuum(server, 'on');
  return sides;
}

async function setAutovacuum(url: string, value: 'on' | 'off'): Promise<void> {
  const db = connect({
    url,
    poolSize: 1,
    applicationName: 'bench',
    onIdleError: () => undefined,
  });
  await sql`alter system set autovacuum = ${sql.lit(value)}`.execute(db);
  await sql`select pg_reload_conf()`.execute(db);
  await db.destroy();
}

/** Durations on the long history as a multiple of those on the short one, with the permitted maximum. */
export async function compareSizes<T>(
  subject: string,
  [few, many]: readonly [History<T>, History<T>],
  call: (side: History<T>) => Promise<unknown>,
  allowed: number,
): Promise<Finding> {
  const [short = 0, long = 0] = await sideBySide([() => call(few), () => call(many)], {
    rounds: ROUNDS,
    repeats: REPEATS,
  });
  return {
    subject,
    measured: `${short.toFixed(2)} ms at ${few.payments}, ${long.toFixed(2)} ms at ${many.payments}`,
    value: long / short,
    goal: { relation: '<=', value: allowed },
  };
}
