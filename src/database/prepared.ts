import { type CompiledQuery, DummyDriver, Kysely } from 'kysely';
import { postgresDialect } from './dialect.ts';
import type { Tables } from './tables.ts';

/**
 * Statements that every request runs.
 *
 * Kysely builds and compiles a query each time it is run, which takes longer than sending it, and
 * PostgreSQL plans it anew each time. A prepared statement is compiled once, when its module is
 * loaded, and planned once by each connection, which more than halves what a read by primary key
 * costs this process. It takes its values by name.
 */
export interface Prepared<P, R> {
  (db: Kysely<Tables>, values: P): Promise<R[]>;
  /** What connections prepare it under, for pg_prepared_statements and pg_stat_statements. */
  readonly statementName: string;
  readonly text: string;
  /** What stands for $1, $2 and so on: the name of a value, or else the value itself. */
  readonly parameters: readonly { readonly name?: keyof P; readonly value?: unknown }[];
}

/** Stands where a value will be; typed as the value. */
export type Given<P> = <K extends keyof P & string>(name: K) => P[K];

/** A query of Kysely's, or its `sql`. */
interface Compiles<R> {
  compile(db: Kysely<Tables>): CompiledQuery<R>;
}

class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Builds queries and never runs one. */
const builder = new Kysely<Tables>({ dialect: postgresDialect(() => new DummyDriver()) });

const names = new Map<string, string>();

/** The name that connections prepare a statement under; undefined for any other statement. */
export function preparedName(text: string): string | undefined {
  return names.get(text);
}

/**
 * Compiles a statement.
 * @param name Of one's own choice.
 * @param build Builds it, with `given('x')` wherever the value `x` is to stand.
 * @throws Error for a name that is taken.
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
