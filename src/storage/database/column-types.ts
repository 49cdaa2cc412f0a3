import type { ColumnType } from 'kysely';

/** bigint column: a JavaScript number while it is a safe integer, which the driver checks. */
export type Cents = number;

/** numeric(78,0) column: read as decimal text, written as bigint or text. */
export type BaseUnits = ColumnType<string, bigint | string, bigint | string>;

/** `BaseUnits` of a nullable column. */
export type OptionalBaseUnits = ColumnType<
  string | null,
  bigint | string | null | undefined,
  bigint | string | null
>;

/** Column with a default, which an insert may leave out. */
export type Defaulted<T> = ColumnType<T, T | undefined, T>;

/** Column that keeps the exact JSON text it was given. */
export type Json = ColumnType<unknown, string, never>;

/** UTC calendar day, YYYY-MM-DD. */
export type Day = string;
