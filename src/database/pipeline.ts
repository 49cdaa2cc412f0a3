import { Kysely, PostgresDriver, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import type { Database } from './connection.ts';
import { postgresDialect } from './dialect.ts';
import { type SessionOptions, sessionConfig } from './session.ts';
import { sessionClient } from './session-client.ts';
import type { Tables } from './tables.ts';

export interface PipelineOptions extends SessionOptions {
  readonly connections: number;
  /** Told about connections that break, and about what fails while others are connected. */
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
  const pool = {
    options: {},
    async connect() {
      const connected = lanes.filter(isConnected);
      if (connected.length === 0) return openFirst(lanes);
      // No query that comes now waits for one that may take long to open, or fail.
      for (const lane of lanes) if (!lane.isConnected) lane.openBeside();
      return chooseLane(connected).client();
    },
    async end() {
      await Promise.all(lanes.map(lane => lane.end()));
    },
  };
  return new Kysely<Tables>({ dialect: postgresDialect(() => new PipelineDriver({ pool })) });
}

/**
 * Queries that a connection owes answers to before the next one takes any, so that a slow one holds up
 * few of those that come after it. PostgreSQL need not be woken for a query that comes while it works
 * on another, and answers that come together are read together. Held against queries that take turns
 * on two connections, the service answered a ninth more reads by ID (nine alternating rounds); at half
 * of what it can do, it took 5 and PostgreSQL 7 % less of the processors (twelve). The number itself is
 * chosen, not measured.
 */
const FULL = 4;

/** The first that is not full, or else the one that owes least. */
function chooseLane(lanes: readonly Lane[]): Lane {
  const free = lanes.find(({ owed }) => owed < FULL);
  const lane = free ?? lanes.toSorted((one, other) => one.owed - other.owed)[0];
  if (lane === undefined) throw new Error('a pipeline has at least one connection');
  return lane;
}

const isConnected = (lane: Lane) => lane.isConnected;

/** While none is connected; another may be by the time that the one chosen could not be opened. */
async function openFirst(lanes: readonly Lane[]): Promise<PostgresPoolClient> {
  try {
    return await chooseLane(lanes).client();
  } catch (error) {
    const connected = lanes.filter(isConnected);
    if (connected.length === 0) throw error;
    return chooseLane(connected).client();
  }
}

class PipelineDriver extends PostgresDriver {
  override async beginTransaction(): Promise<void> {
    throw new Error('a pipeline takes no transactions');
  }
}

/** How long a connection that could not be opened is left alone while there is another, in milliseconds. */
const RETRY_PAUSE_MS = 1_000;

/** One connection, opened when it is needed or beside another, and again after it broke. */
class Lane {
  readonly #options: PipelineOptions;
  #client: pg.Client | undefined;
  #opening: Promise<PostgresPoolClient> | undefined;
  #isConnected = false;
  #ended = false;
  #owed = 0;
  #notBefore = 0;

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /** How many have its client, or wait for it, and have not released it. */
  get owed(): number {
    return this.#owed;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** @throws what connecting throws; the next call tries again. */
  async client(): Promise<PostgresPoolClient> {
    this.#owed += 1;
    try {
      this.#opening ??= this.#open();
      return await this.#opening;
    } catch (error) {
      this.#owed -= 1;
      throw error;
    }
  }

  /** Opens it for queries to come, unless that failed a moment ago; a failure is told, not thrown. */
  openBeside(): void {
    if (this.#opening !== undefined || performance.now() < this.#notBefore) return;
    this.#opening = this.#open();
    this.#opening.catch(error => {
      this.#notBefore = performance.now() + RETRY_PAUSE_MS;
      if (!this.#ended) this.#options.onError(error);
    });
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#opening?.catch(() => undefined);
    await this.#client?.end();
  }

  async #open(): Promise<PostgresPoolClient> {
    const client = new pg.Client({
      ...sessionConfig({ ...this.#options, plansOnce: true }),
      pipeline: true,
    });
    this.#client = client;
    const lose = () => {
      // One that broke may end only after the next one has been opened.
      if (this.#client !== client) return;
      this.#client = undefined;
      this.#opening = undefined;
      this.#isConnected = false;
    };
    client.on('error', error => {
      lose();
      if (!this.#ended) this.#options.onError(error);
    });
    client.once('end', lose);
    try {
      if (this.#ended) throw new Error('Connection terminated');
      await client.connect();
      // It may have been lost before this continues.
      if (this.#client !== client) throw new Error('Connection terminated');
    } catch (error) {
      lose();
      throw error;
    }
    this.#isConnected = true;
    return sessionClient(client, {
      prepares: true,
      batches: true,
      statementTimeoutMs: this.#options.statementTimeoutMs,
      release: () => {
        this.#owed -= 1;
      },
      onFatal: lose,
    });
  }
}
