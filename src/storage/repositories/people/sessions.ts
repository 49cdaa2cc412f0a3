import { expressionBuilder } from 'kysely';
import type { Connection } from '../../database/connection.ts';
import type { PanelSession, Person } from '../../database/people-tables.ts';
import type { Tables } from '../../database/tables.ts';
import { deleteBatch } from '../old-rows.ts';
import {
  deleteBy,
  deleteWhere,
  findById,
  insertInto,
  listBy,
  NEWEST_FIRST,
  updateById,
} from '../rows.ts';

const eb = expressionBuilder<Tables, 'panel_sessions'>();

/** A session with the person it belongs to. */
export interface SessionWithPerson {
  readonly session: PanelSession;
  readonly person: Pick<
    Person,
    | 'id'
    | 'name'
    | 'email'
    | 'email_confirmed_at'
    | 'is_demo'
    | 'language'
    | 'code_closed_at'
    | 'created_at'
  >;
}

/** @param tokenHash SHA-256 of the token in the cookie. */
export async function findSession(
  db: Connection,
  tokenHash: Buffer,
): Promise<SessionWithPerson | undefined> {
  const row = await db
    .selectFrom('panel_sessions')
    .innerJoin('people', 'people.id', 'panel_sessions.person_id')
    .selectAll('panel_sessions')
    .select(['people.name as personName', 'people.email as personEmail', 'people.language'])
    .select(['people.email_confirmed_at', 'people.code_closed_at', 'people.created_at as joined'])
    .where('token_hash', '=', tokenHash)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { personName: name, personEmail: email, joined: created_at, ...others } = row;
  const { email_confirmed_at, language, code_closed_at, ...session } = others;
  const { person_id: id, is_demo } = session;
  const own = { id, name, email, email_confirmed_at, is_demo, created_at };
  return { session, person: { ...own, language, code_closed_at } };
}

export const insertSession = insertInto('panel_sessions');
/** undefined for a session that has ended meanwhile. */
export const findSessionById = findById('panel_sessions');

/** @returns undefined for a session that has ended meanwhile. */
export const updateSession = updateById('panel_sessions');

/**
 * Counts an attempt at a code or a password as wrong before it is checked, so that concurrent attempts all count.
 * @returns How many there were; undefined beyond `most`, and for a session that has ended.
 */
export async function countWrong(
  db: Connection,
  id: string,
  most: number,
): Promise<number | undefined> {
  const row = await db
    .updateTable('panel_sessions')
    .set(({ eb }) => ({ wrong_codes: eb('wrong_codes', '+', 1) }))
    .where('id', '=', id)
    .where('wrong_codes', '<', most)
    .returning('wrong_codes')
    .executeTakeFirst();
  return row?.wrong_codes;
}

/** Sessions of a person, newest first: ten at most, and those that wait for a second factor. */
export const listSessions = listBy('panel_sessions', 'person_id', NEWEST_FIRST, 100);

/** Ends one session of a person; another person's stays. */
export const deleteSession = deleteWhere('panel_sessions', 'person_id', 'id');

/** Ends the session that another one replaces in its browser, which may be another person's. */
export const deleteReplacedSession = deleteBy('panel_sessions', 'id');

/** Ends all sessions of a person but one, or all. */
export async function deleteSessionsOf(
  db: Connection,
  personId: string,
  except: string | null,
): Promise<number> {
  let query = db.deleteFrom('panel_sessions').where('person_id', '=', personId);
  if (except !== null) query = query.where('id', '!=', except);
  return Number((await query.executeTakeFirstOrThrow()).numDeletedRows);
}

/**
 * Whether a session is fully signed in. While it waits for its second factor, it gives access to nothing else; the
 * demo asks for none.
 */
const isComplete = eb.or([eb('second_factor_at', 'is not', null), eb.ref('is_demo')]);

/** Ends the oldest complete sessions of a person beyond the newest `keep`. */
export async function deleteOldestSessions(
  db: Connection,
  personId: string,
  keep: number,
): Promise<void> {
  await db
    .deleteFrom('panel_sessions')
    .where(
      'id',
      'in',
      db
        .selectFrom('panel_sessions')
        .select('id')
        .where('person_id', '=', personId)
        .where(isComplete)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .offset(keep),
    )
    .execute();
}

/**
 * Deletes at most `limit` sessions that were last seen before `seenBefore`, were created before `createdBefore`, or
 * have waited for a second factor since before `halfBefore`.
 */
export function deleteEndedSessions(
  db: Connection,
  before: { seenBefore: Date; createdBefore: Date; halfBefore: Date },
  limit: number,
): Promise<number> {
  const { seenBefore, createdBefore, halfBefore } = before;
  const hasEnded = eb.or([
    eb('last_seen_at', '<', seenBefore),
    eb('created_at', '<', createdBefore),
    eb.and([eb.not(isComplete), eb('created_at', '<', halfBefore)]),
  ]);
  return deleteBatch(db, 'panel_sessions', hasEnded, limit);
}
