import { Kysely, PostgresDriver, type PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import type { Database } from './connection.ts';
import { postgresDialect } from './dialect.ts';
import { ServerClient } from './encryption.ts';
import { type Primary, primaryOf } from './primary.ts';
import { type SessionOptions, sessionConfig } from './session.ts';
import { cut, cutSoon, sessionClient } from './session-client.ts';
import type { Tables } from './tables.ts';

/** Connections of a replica that all its requests share: with two, a slow read delays few others. */
export const SHARED_READ_CONNECTIONS = 2;

export interface PipelineOptions extends SessionOptions {
  readonly connections: number;
  /** Called when a connection breaks, or cannot be opened while another one serves. */
  readonly onError: (error: Error) => void;
}

/** How long a connection that could not be opened is left alone while another one serves, in milliseconds. */
const RETRY_PAUSE_MS = 1_000;

/**
 * Opens connections that all requests share for short reads, round robin. A query is sent without
 * waiting for the results of those before it, which halves what a read by primary key costs against a
 * connection that is taken from a pool and given back. Two such connections carry more queries than one
 * process can send.
 * PostgreSQL works on the queries of a connection one after the other, so only short ones belong here.
 * Transactions are refused: queries of others would be in them.
 */
export function connectPipeline(options: PipelineOptions): Database {
  const connections = Array.from(
    { length: options.connections },
    () => new SharedConnection(options),
  );
  let turn = 0;
  const pool = {
    options: {},
    async connect(): Promise<PostgresPoolClient> {
      for (let tries = 0; tries < connections.length; tries++) {
        turn = (turn + 1) % connections.length;
        const session = connections[turn]?.session;
        if (session === undefined) continue;
        // A connection was skipped because it is not open.
        if (tries > 0) for (const each of connections) each.openInBackground();
        return session;
      }
      return openAny(connections);
    },
    async end() {
      await Promise.all(connections.map(each => each.end()));
    },
  };
  return new Kysely<Tables>({ dialect: postgresDialect(() => new PipelineDriver({ pool })) });
}

/** The connection that opens first; the first error when none does. */
async function openAny(connections: readonly SharedConnection[]): Promise<PostgresPoolClient> {
  try {
    return await Promise.any(connections.map(each => each.open()));
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error;
  }
}

class PipelineDriver extends PostgresDriver {
  override async beginTransaction(): Promise<void> {
    throw new Error('a pipeline takes no transactions');
  }
}

/** One connection, which is opened again after it broke. */
class SharedConnection {
  readonly #options: PipelineOptions;
  readonly #primary: Primary;
  /** Timeline of the server that it is connected to. */
  #timeline = 0;
  #client: pg.Client | undefined;
  #opening: Promise<PostgresPoolClient> | undefined;
  #session: PostgresPoolClient | undefined;
  #retryAt = 0;
  #ended = false;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#primary = primaryOf(options.url);
  }

  /** undefined while it is not connected to the newest primary. */
  get session(): PostgresPoolClient | undefined {
    if (this.#session !== undefined && this.#timeline !== this.#primary.timeline) this.#leave();
    return this.#session;
  }

  /** @throws Error when connecting fails; the next call tries again. */
  open(): Promise<PostgresPoolClient> {
    this.#opening ??= this.#primary
      .reach(() => this.#connect())
      .catch(error => {
        this.#opening = undefined;
        throw error;
      });
    return this.#opening;
  }

  /** Opens it for later queries, unless that failed a moment ago. A failure is reported, not thrown. */
  openInBackground(): void {
    if (this.#opening !== undefined || performance.now() < this.#retryAt) return;
    this.open().catch(error => {
      this.#retryAt = performance.now() + RETRY_PAUSE_MS;
      if (!this.#ended) this.#options.onError(error);
    });
  }

  async end(): Promise<void> {
    this.#ended = true;
    const client = this.#client;
    if (client === undefined) return;
    if (this.#session === undefined) cut(client);
    else cutSoon([client]);
    await client.end();
  }

  /** Leaves a server that was replaced: queries in flight may finish, and no more are sent. */
  #leave(): void {
    const client = this.#client;
    this.#client = undefined;
    this.#opening = undefined;
    this.#session = undefined;
    if (client === undefined) return;
    cutSoon([client]);
    client.end().catch(() => undefined);
  }

  async #connect(): Promise<PostgresPoolClient> {
    const client = new ServerClient({
      ...sessionConfig({ ...this.#options, plans: 'once' }),
      pipeline: true,
    });
    this.#client = client;
    const lose = () => {
      // A connection that broke may close only after the next one has been opened.
      if (this.#client !== client) return;
      this.#client = undefined;
      // Without a session it is still being opened; the next try may be on another server.
      if (this.#session !== undefined) this.#opening = undefined;
      this.#session = undefined;
    };
    client.on('error', error => {
      lose();
      if (!this.#ended) this.#options.onError(error);
    });
    client.once('end', lose);
    try {
      if (this.#ended) throw new Error('Connection terminated');
      await client.connect();
      await this.#primary.admit(client);
      this.#timeline = this.#primary.timeline;
      // It may have broken before this continues.
      if (this.#client !== client) throw new Error('Connection terminated');
    } catch (error) {
      lose();
      // The connection to a server that was not admitted is open by now.
      cut(client);
      throw error;
    }
    this.#session = sessionClient(client, {
      session: this.#options,
      gathers: true,
      release: () => undefined,
      onFatal: lose,
    });
    return this.#session;
  }
}
