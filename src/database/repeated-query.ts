import pg from 'pg';

export interface NamedQuery {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

export type Answered = (error: Error | null, result: pg.QueryResult) => void;

/** What pg makes of PostgreSQL's description of a statement's rows, and reads them by. */
interface RowShape {
  readonly fields: unknown;
  readonly _parsers: unknown;
  readonly _prebuiltEmptyResultObject: unknown;
}

/** What pg's types leave out of its query. */
interface DriverQuery {
  name: string;
  readonly _result: object;
  /** Whether rows are kept for the callback; pg decides it with the description. */
  _accumulateRows: boolean;
  submit(connection: pg.Connection): unknown;
}
const DriverQuery = pg.Query as unknown as new (
  text: string,
  values: unknown[],
  answered: Answered,
) => DriverQuery;

/** Runs a statement that the connection has prepared, without asking what its rows look like. */
class RepeatedQuery extends DriverQuery {
  readonly #connection: pg.Connection;

  /** @param connection Sends all but the message that asks for the description. */
  constructor(query: NamedQuery, shape: RowShape, connection: pg.Connection, answered: Answered) {
    super(query.text, query.values, answered);
    this.name = query.name;
    this.#connection = connection;
    Object.assign(this._result, shape);
    this._accumulateRows = true;
  }

  override submit(): unknown {
    return super.submit(this.#connection);
  }
}

/**
 * Returns what asks a connection for statements that have names.
 *
 * pg has every answer begin with a description of its columns, and looks up how to read each of them.
 * At half of what a process can do, when few reads by ID come in the same turn and share a statement,
 * that takes a thirteenth of its processor time. Once a statement has succeeded, it is not described
 * again: in a session of its own PostgreSQL refuses to run it when its columns have changed. Behind a
 * pooler, which may prepare it anew in another session, nothing has a name (connection.ts).
 */
export function repeatedQueries(client: pg.Client) {
  const shapes = new Map<string, RowShape>();
  // pg's connection keeps its state in objects, which both share, and sets nothing while it sends.
  const quiet = Object.create(client.connection, {
    describe: { value: () => undefined },
  }) as pg.Connection;
  return (query: NamedQuery, answered: Answered): void => {
    const shape = shapes.get(query.name);
    if (shape !== undefined) {
      client.query(new RepeatedQuery(query, shape, quiet, answered));
      return;
    }
    client.query(query, (error: Error | null, result) => {
      if (error === null) shapes.set(query.name, shapeOf(result));
      answered(error, result);
    });
  };
}

function shapeOf(result: pg.QueryResult): RowShape {
  const { fields, _parsers, _prebuiltEmptyResultObject } = result as pg.QueryResult & RowShape;
  return { fields, _parsers, _prebuiltEmptyResultObject };
}
