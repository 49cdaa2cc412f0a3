import { type RawBuilder, sql } from 'kysely';

/** A UUIDv7 for an instant; the other bits come from `random`. */
export function idAt(
  instant: RawBuilder<unknown>,
  random: RawBuilder<unknown> = sql`gen_random_uuid()`,
): RawBuilder<string> {
  return sql`overlay(${random}::text placing left(first_id_of(${instant})::text, 15) from 1 for 15)::uuid`;
}
