import pg from 'pg';

interface PreparedQuery {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

export type Answered = (error: Error | null, result: pg.QueryResult) => void;

/** What pg builds from the description of a statement's columns, to read its rows. */
interface RowReader {
  readonly fields: unknown;
  readonly _parsers: unknown;
  readonly _prebuiltEmptyResultObject: unknown;
}

/** pg's query, with the members that its types leave out. */
interface DriverQuery {
  readonly _result: object;
  _accumulateRows: boolean;
  submit(connection: pg.Connection): unknown;
}
const DriverQuery = pg.Query as unknown as new (
  query: PreparedQuery,
  answered: Answered,
) => DriverQuery;

/**
 * Runs the prepared statements of a connection, and has PostgreSQL describe the columns of each only once. pg
 * asks for the description with every execution and builds a row reader from it each time, which is a fifth of
 * what a page costs this process. The description cannot change: PostgreSQL refuses to execute a prepared
 * statement whose columns have changed. A statement without columns is described each time, and so are all
 * statements if pg no longer has the fields of a `RowReader`.
 */
export function describeOnce(client: pg.Client): (query: PreparedQuery, done: Answered) => void {
  const readers = new Map<string, RowReader>();
  const withoutDescription: pg.Connection = Object.create(client.connection, {
    describe: { value: () => undefined },
  });
  class DescribedQuery extends DriverQuery {
    override submit(): unknown {
      return super.submit(withoutDescription);
    }
  }
  return (query, answered) => {
    const reader = readers.get(query.name);
    if (reader === undefined) {
      client.query(query, (error: Error | null, result) => {
        const made = error === null ? readerOf(result) : undefined;
        if (made !== undefined) readers.set(query.name, made);
        answered(error, result);
      });
      return;
    }
    const described = new DescribedQuery(query, answered);
    Object.assign(described._result, reader);
    described._accumulateRows = true;
    client.query(described);
  };
}

function readerOf(result: pg.QueryResult & Partial<RowReader>): RowReader | undefined {
  const { fields, _parsers, _prebuiltEmptyResultObject } = result;
  if (_parsers === undefined || !_prebuiltEmptyResultObject) return undefined;
  return { fields, _parsers, _prebuiltEmptyResultObject };
}
