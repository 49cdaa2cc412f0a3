import { Kysely, PostgresDriver, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { Database } from './connection.ts';
import { postgresDialect } from './dialect.ts';
import { type SessionOptions, sessionConfig } from './session.ts';
import { sessionClient } from './session-client.ts';
import type { Tables } from './tables.ts';

export interface PipelineOptions extends SessionOptions {
  readonly connections: number;
  /** Told about connections that break; the next query opens a new one. */
  readonly onError: (error: Error) => void;
}

/**
 * Opens connections for reads that all requests share: a query is sent without waiting for the
 * answers to those before it. A read by primary key costs half of what it does on a connection that
 * is taken from a pool for it and given back, and two such connections carry more than this process
 * can answer.
 *
 * PostgreSQL works on the queries of one connection one after the other, so only short ones belong
 * here, and a transaction is refused: others' queries would be in it.
 */
export function connectPipeline(options: PipelineOptions): Database {
  const lanes = Array.from({ length: options.connections }, () => new Lane(options));
  let next = 0;
  const pool = {
    options: {},
    async connect() {
      const lane = lanes[next];
      next = (next + 1) % lanes.length;
      if (lane === undefined) throw new Error('a pipeline has at least one connection');
      return lane.client();
    },
    async end() {
      await Promise.all(lanes.map(lane => lane.end()));
    },
  };
  return new Kysely<Tables>({ dialect: postgresDialect(() => new PipelineDriver({ pool })) });
}

class PipelineDriver extends PostgresDriver {
  override async beginTransaction(): Promise<void> {
    throw new Error('a pipeline takes no transactions');
  }
}

/** One connection, opened when it is first needed and again after it broke. */
class Lane {
  readonly #options: PipelineOptions;
  #opening: Promise<PostgresPoolClient> | undefined;
  #connected: pg.Client | undefined;
  #ended = false;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /** @throws what connecting throws; the next call tries again. */
  client(): Promise<PostgresPoolClient> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#opening?.catch(() => undefined);
    await this.#connected?.end();
  }

  async #open(): Promise<PostgresPoolClient> {
    const client = new pg.Client({
      ...sessionConfig({ ...this.#options, plansOnce: true }),
      pipeline: true,
    });
    const lose = () => {
      if (this.#connected === client) this.#connected = undefined;
      this.#opening = undefined;
    };
    client.on('error', error => {
      lose();
      if (!this.#ended) this.#options.onError(error);
    });
    client.once('end', lose);
    try {
      if (this.#ended) throw new Error('Connection terminated');
      await client.connect();
    } catch (error) {
      lose();
      throw error;
    }
    this.#connected = client;
    return sessionClient(client, {
      prepares: true,
      batches: true,
      statementTimeoutMs: this.#options.statementTimeoutMs,
      release: () => undefined,
      onFatal: lose,
    });
  }
}
