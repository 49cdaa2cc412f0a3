import { type CompiledQuery, DummyDriver, Kysely } from 'kysely';
import { postgresDialect } from './dialect.ts';
import type { Tables } from './tables.ts';

/**
 * A statement that is compiled once, when its module is loaded, and planned once by each connection.
 * Otherwise Kysely compiles a query whenever it runs, which takes longer than sending it, and
 * PostgreSQL plans it each time; preparing more than halves what a read by primary key costs this
 * process. Values are passed by name.
 */
export interface Prepared<P, R> {
  (db: Kysely<Tables>, values: P): Promise<R[]>;
  /** Name in pg_prepared_statements. */
  readonly statementName: string;
  readonly text: string;
  /** What binds to $1, $2 and so on: a named value or a constant. */
  readonly parameters: readonly { readonly name?: keyof P; readonly value?: unknown }[];
}

/** Makes a placeholder that has the type of its value. */
export type Given<P> = <K extends keyof P & string>(name: K) => P[K];

/** A Kysely query builder, or `sql`. */
interface Compiles<R> {
  compile(db: Kysely<Tables>): CompiledQuery<R>;
}

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Compiles queries and never runs one. */
const builder = new Kysely<Tables>({ dialect: postgresDialect(() => new DummyDriver()) });

/** Names by text. */
const names = new Map<string, string>();

/** Every statement prepared so far, by its name. */
export function preparedStatements(): ReadonlyMap<string, string> {
  return new Map([...names].map(([text, name]) => [name, text]));
}

/** The name to prepare a statement under; undefined for one that is not prepared. */
export function preparedName(text: string): string | undefined {
  return names.get(text);
}

/**
 * Compiles a statement.
 * @param name A name that no other statement has.
 * @param build Builds the query, with `given('x')` in place of the value `x`.
 * @throws Error for a name or a statement that is taken, and for a statement that selects `*`.
 */
export function prepare<P extends object, R>(
  name: string,
  build: (db: Kysely<Tables>, given: Given<P>) => Compiles<R>,
): Prepared<P, R> {
  const given: Given<P> = key => new Placeholder(key) as unknown as P[typeof key];
  const compiled = build(builder, given).compile(builder);
  if ([...names.values()].includes(name)) throw new Error(`two statements are named ${name}`);
  if (names.has(compiled.sql)) throw new Error(`${name} is prepared under another name`);
  if (/\.\*|select \*/.test(compiled.sql)) {
    throw new Error(`${name} names no columns: one that a migration adds would make it invalid`);
  }
  names.set(compiled.sql, name);
  const parameters = compiled.parameters.map(value =>
    value instanceof Placeholder ? { name: value.name as keyof P } : { value },
  );
  async function run(db: Kysely<Tables>, values: P): Promise<R[]> {
    const bound = parameters.map(({ name, value }) => (name === undefined ? value : values[name]));
    const { rows } = await db.executeQuery<R>({ ...compiled, parameters: bound });
    return rows;
  }
  return Object.assign(run, { statementName: name, text: compiled.sql, parameters });
}
