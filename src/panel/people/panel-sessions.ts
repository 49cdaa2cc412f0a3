import { newId } from '../../crypto/new-id.ts';
import { hashToken, newToken } from '../../crypto/token.ts';
import type { Connection } from '../../database/connection.ts';
import type { PanelSession, SignInMethod } from '../../database/people-tables.ts';
import {
  deleteOldestSessions,
  deleteReplacedSession,
  findSession,
  insertSession,
  type SessionWithPerson,
  updateSession,
} from '../../repositories/people/sessions.ts';
import { SessionEnded } from './refusals.ts';

const MINUTE_MS = 60_000;
/** Without a request for so long, a session ends. */
export const IDLE_MS = 60 * MINUTE_MS;
/** And in any case after so long. */
export const LIFETIME_MS = 12 * 60 * MINUTE_MS;
/** How long the form for the second factor waits. */
export const HALF_MS = 10 * MINUTE_MS;
/** How long a second factor counts as recent. */
export const RECENT_MS = 10 * MINUTE_MS;
/** How often it is written down that a session is used. */
const SEEN_EVERY_MS = MINUTE_MS;
const SESSIONS_MAXIMUM = 10;
/** In characters; what browsers say of themselves is about half as long. */
const DEVICE_MAXIMUM = 300;

/** A session that holds at this moment. */
export interface OpenSession extends SessionWithPerson {
  /** Whether the second factor was given, or is not asked for in the demo. */
  readonly isComplete: boolean;
  /** Whether it was given within the last ten minutes. */
  readonly isRecent: boolean;
}

/** What a request tells of where it comes from. */
export interface Visitor {
  /** What the browser says it is. */
  readonly device: string;
  readonly address: string;
  /** Their IPv4 address, or the network of their IPv6 address: who shares it takes turns. */
  readonly site: string;
  /** Token of a device that signed in before, if the browser has one. */
  readonly deviceToken: string | undefined;
}

/**
 * Finds the session of a cookie, and notes once a minute that it is used. The database is asked on every
 * request, so a session that is ended has ended everywhere.
 * @param admitsDemo Whether people of the demo, who have no factors, may sign in here.
 */
export async function openSession(
  db: Connection,
  token: string,
  { now, admitsDemo }: { now: Date; admitsDemo: boolean },
): Promise<OpenSession | undefined> {
  const found = await findSession(db, hashToken(token));
  if (found === undefined || hasEnded(found.session, now)) return undefined;
  const { session } = found;
  if (session.is_demo && !admitsDemo) return undefined;
  if (now.getTime() - session.last_seen_at.getTime() >= SEEN_EVERY_MS) {
    await updateSession(db, session.id, { last_seen_at: now });
  }
  const { is_demo: isDemo, second_factor_at: at } = session;
  const isRecent = at !== null && now.getTime() - at.getTime() < RECENT_MS;
  return { ...found, isComplete: isDemo || at !== null, isRecent };
}

function hasEnded(session: PanelSession, now: Date): boolean {
  const age = now.getTime() - session.created_at.getTime();
  const idle = now.getTime() - session.last_seen_at.getTime();
  const isHalf = session.second_factor_at === null && !session.is_demo;
  return idle >= IDLE_MS || age >= LIFETIME_MS || (isHalf && age >= HALF_MS);
}

/**
 * Begins a session; beyond ten complete ones, the person's oldest one ends. One that waits for its second
 * factor ends none: a password alone must not.
 * @param secondFactorAt null while it is still to be asked for.
 * @returns The token for the cookie.
 */
export async function beginSession(
  tx: Connection,
  person: { readonly id: string; readonly is_demo: boolean },
  {
    methods,
    secondFactorAt,
    linkHash = null,
    replacedId = null,
    visitor,
    now,
  }: {
    readonly methods: SignInMethod[];
    readonly secondFactorAt: Date | null;
    /** Of the invitation that is continued afterwards. */
    readonly linkHash?: Buffer | null;
    /** Of the complete session that the browser had before. */
    readonly replacedId?: string | null;
    readonly visitor: Pick<Visitor, 'device' | 'address'>;
    readonly now: Date;
  },
): Promise<string> {
  const token = newToken();
  if (secondFactorAt !== null || person.is_demo) await makeRoom(tx, person.id);
  await insertSession(tx, {
    id: newId(),
    token_hash: hashToken(token),
    person_id: person.id,
    is_demo: person.is_demo,
    methods,
    second_factor_at: secondFactorAt,
    link_hash: linkHash,
    replaced_id: replacedId,
    device: visitor.device.slice(0, DEVICE_MAXIMUM),
    address: visitor.address,
    created_at: now,
    last_seen_at: now,
  });
  return token;
}

/** Ends the oldest of ten sessions, for another one. */
function makeRoom(tx: Connection, personId: string): Promise<void> {
  return deleteOldestSessions(tx, personId, SESSIONS_MAXIMUM - 1);
}

/**
 * Notes that a second factor was given, under a new token: one that somebody had before leads nowhere. What
 * the session replaces in its browser ends.
 * @returns The new token.
 * @throws SessionEnded when it has ended meanwhile.
 */
export async function confirmSession(
  tx: Connection,
  { id, methods, person_id, replaced_id, second_factor_at }: PanelSession,
  method: SignInMethod,
  now: Date,
): Promise<string> {
  const token = newToken();
  if (second_factor_at === null) await makeRoom(tx, person_id);
  const session = await updateSession(tx, id, {
    token_hash: hashToken(token),
    methods: [...new Set([...methods, method])],
    second_factor_at: now,
    last_seen_at: now,
    replaced_id: null,
  });
  if (session === undefined) throw new SessionEnded();
  if (replaced_id !== null) await deleteReplacedSession(tx, replaced_id);
  return token;
}
