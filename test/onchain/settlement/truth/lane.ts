import { Kysely, PostgresDialect, PostgresDriver, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { Database } from '#storage/database/connection.ts';
import { postgresDialect } from '#storage/database/dialect.ts';
import { sessionConfig } from '#storage/database/session.ts';
import type { Tables } from '#storage/database/tables.ts';

/**
 * One connection with one open transaction, shared by many histories that touch none of each other's rows. Statements
 * are prepared and pipelined, which is what makes a million histories possible. Transactions that are begun and
 * committed on `db` become part of the shared one.
 */
export interface Lane {
  readonly db: Database;
  /** Runs `work` in a transaction of the lane. */
  run<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Names of prepared statements by their text, so that each is planned once. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = `truth_${names.size}`;
  names.set(text, name);
  return name;
}

/**
 * Connections like a worker's, on which every statement is prepared. `begin` is sent together with the first
 * statement, since much of a run is spent waiting for the server.
 */
export function openPool(url: string, size: number): Database {
  const pool = new pg.Pool({
    ...sessionConfig({ url, applicationName: 'truth', plans: 'once', statementTimeoutMs: 0 }),
    max: size,
    idleTimeoutMillis: 0,
    pipeline: true,
  });
  // Servers that a run discards stop before their connections are closed.
  pool.on('error', () => undefined);
  return new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: {
        options: pool.options,
        end: () => pool.end(),
        async connect() {
          const client = await pool.connect();
          const { stream } = client.connection;
          let isToBegin = false;
          const query = async (text: string, values: unknown[]) => {
            const isBegun = !isToBegin;
            isToBegin = text === 'begin';
            if (isToBegin) return { command: 'BEGIN', rows: [] };
            if (isBegun) return client.query({ name: nameOf(text), text, values });
            if (text === 'commit' || text === 'rollback') return { command: text, rows: [] };
            stream.cork();
            const begun = client.query('begin');
            const result = client.query({ name: nameOf(text), text, values });
            stream.uncork();
            return (await Promise.all([begun, result]))[1];
          };
          return {
            query: query as unknown as PostgresPoolClient['query'],
            release: () => client.release(),
          };
        },
      },
    }),
  });
}

/** A transaction was rolled back, which in a lane would roll back the work of other histories. */
export class LaneSpoilt extends Error {}

export async function openLane(url: string): Promise<Lane> {
  const client = new pg.Client({
    ...sessionConfig({ url, applicationName: 'truth-lane', plans: 'once', statementTimeoutMs: 0 }),
    pipeline: true,
  });
  await client.connect();
  const { stream } = client.connection;
  let isCorked = false;
  /** Batches what is written within one tick of the event loop into one packet. */
  function cork(): void {
    if (isCorked) return;
    isCorked = true;
    stream.cork();
    setImmediate(() => {
      isCorked = false;
      stream.uncork();
    });
  }
  const pool = {
    options: {},
    async connect(): Promise<PostgresPoolClient> {
      let wrote = false;
      const query = async (text: string, values: unknown[]) => {
        if (/^(savepoint|rollback)/.test(text)) {
          // A read-only transaction has nothing to roll back.
          if (text === 'rollback' && !wrote) return { command: 'ROLLBACK', rows: [] };
          throw new LaneSpoilt(text);
        }
        cork();
        const result = await client.query({ name: nameOf(text), text, values });
        wrote ||= result.command !== 'SELECT' && (result.rowCount ?? 0) > 0;
        return result;
      };
      return { query: query as unknown as PostgresPoolClient['query'], release: () => undefined };
    },
    end: () => client.end(),
  };
  class LaneDriver extends PostgresDriver {
    override async beginTransaction(): Promise<void> {}
    override async commitTransaction(): Promise<void> {}
  }
  const db = new Kysely<Tables>({ dialect: postgresDialect(() => new LaneDriver({ pool })) });
  return {
    db,
    async run(work) {
      await client.query('begin');
      try {
        const result = await work();
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback');
        throw error;
      }
    },
    close: () => db.destroy(),
  };
}
