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
  constructor({ name, text, values }: NamedQuery, shape: RowShape, answered: Answered) {
    super(text, values, answered);
    this.name = name;
    Object.assign(this._result, shape);
    this._accumulateRows = true;
  }

  override submit(connection: pg.Connection): unknown {
    return super.submit(withoutDescribe(connection));
  }
}

const quietConnections = new WeakMap<pg.Connection, pg.Connection>();

/** The connection itself, but for the message that asks for a description. */
function withoutDescribe(connection: pg.Connection): pg.Connection {
  let quiet = quietConnections.get(connection);
  if (quiet === undefined) {
    quiet = Object.create(connection, { describe: { value: () => undefined } }) as pg.Connection;
    quietConnections.set(connection, quiet);
  }
  return quiet;
}

/**
 * Returns what asks a connection for statements that have names.
 *
 * pg has every answer begin with a description of its columns, and looks up how to read each of them.
 * Where a read by ID shares its call with few others, as at half of what a process can do, that takes
 * a twelfth of its processor time. A prepared statement of a connection is described once instead:
 * PostgreSQL refuses to run it when its columns have changed since.
 */
export function repeatedQueries(client: pg.Client) {
  const shapes = new Map<string, RowShape>();
  return (query: NamedQuery, answered: Answered): void => {
    const shape = shapes.get(query.name);
    if (shape !== undefined) {
      client.query(new RepeatedQuery(query, shape, answered));
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
