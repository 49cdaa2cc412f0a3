import { newId } from '#crypto/new-id.ts';
import { hashToken, newToken } from '#crypto/token.ts';
import type { Connection } from '#storage/database/connection.ts';
import { WritesRefused } from '#storage/database/errors.ts';
import type { PanelSession, SignInMethod } from '#storage/database/people-tables.ts';
import { setLastSeen } from '#storage/repositories/people/people.ts';
import {
  deleteOldestSessions,
  deleteReplacedSession,
  findSession,
  insertSession,
  type SessionWithPerson,
  updateSession,
} from '#storage/repositories/people/sessions.ts';
import { SessionEnded } from './refusals.ts';

const MINUTE_MS = 60_000;
/** A session ends after this time without a request by its person. */
export const IDLE_MS = 60 * MINUTE_MS;
/** Any session ends after this time. */
export const LIFETIME_MS = 12 * 60 * MINUTE_MS;
/** A session that still waits for its second factor ends after this time. */
export const HALF_MS = 10 * MINUTE_MS;
/** How long a second factor counts as recent. */
export const RECENT_MS = 10 * MINUTE_MS;
/** How often the last use of a session is stored. */
const SEEN_EVERY_MS = MINUTE_MS;
/** Most complete sessions of a person. */
export const SESSIONS_MAXIMUM = 10;
/** Longest User-Agent that is stored, in characters: those of browsers are about half as long. */
const DEVICE_MAXIMUM = 300;

/** A session that has not ended. */
export interface OpenSession extends SessionWithPerson {
  /** Whether the second factor was given, or is not asked for in the demo. */
  readonly isComplete: boolean;
  /** Whether it was given within the last ten minutes. */
  readonly isRecent: boolean;
}

/** Where a request comes from. */
export interface Visitor {
  /** The browser's User-Agent. */
  readonly device: string;
  readonly address: string;
  /**
   * Their IPv4 address, or the network of their IPv6 address. Visitors of one site share a queue
   * (`password-queue.ts`).
   */
  readonly site: string;
  /** Token of a device that signed in before, if the browser has one. */
  readonly deviceToken: string | undefined;
}

/** A visitor, and their browser's session, which ends when another one replaces it. */
export interface Visit {
  readonly visitor: Visitor;
  readonly session: OpenSession | null;
}

/**
 * Finds the session of a cookie, and stores once a minute that it is in use. Every request asks the database,
 * so that a session ends on all replicas at once.
 * @param admitsDemo Whether people of the demo, who have no factors, may sign in here.
 * @param isRefresh Whether an open page asks by itself. That does not count as use: nobody may be there.
 */
export async function openSession(
  db: Connection,
  token: string,
  { now, admitsDemo, isRefresh }: { now: Date; admitsDemo: boolean; isRefresh: boolean },
): Promise<OpenSession | undefined> {
  const found = await findSession(db, hashToken(token));
  if (found === undefined || hasEnded(found.session, now)) return undefined;
  const { session } = found;
  if (session.is_demo && !admitsDemo) return undefined;
  const isDue = now.getTime() - session.last_seen_at.getTime() >= SEEN_EVERY_MS;
  if (isDue && !isRefresh) {
    await noteUse(db, session, now);
  }
  const { is_demo: isDemo, second_factor_at: at } = session;
  const isRecent = at !== null && now.getTime() - at.getTime() < RECENT_MS;
  return { ...found, isComplete: isDemo || at !== null, isRecent };
}

/** While writes are refused, pages can still be read; the session then expires as if it were unused. */
async function noteUse(db: Connection, session: PanelSession, now: Date): Promise<void> {
  try {
    await updateSession(db, session.id, { last_seen_at: now });
    await setLastSeen(db, session.person_id, now);
  } catch (error) {
    if (!(error instanceof WritesRefused)) throw error;
  }
}

function hasEnded(session: PanelSession, now: Date): boolean {
  const age = now.getTime() - session.created_at.getTime();
  const idle = now.getTime() - session.last_seen_at.getTime();
  const isHalf = session.second_factor_at === null && !session.is_demo;
  return idle >= IDLE_MS || age >= LIFETIME_MS || (isHalf && age >= HALF_MS);
}

/**
 * Begins a session. A complete session ends the person's oldest one if they have ten already. One that waits
 * for its second factor does not: a password alone must end no session.
 * @param secondFactorAt null before the second factor was given.
 * @returns The token for the cookie.
 */
export async function beginSession(
  tx: Connection,
  person: { readonly id: string; readonly is_demo: boolean },
  {
    methods,
    secondFactorAt,
    invitationHash = null,
    replacedId = null,
    visitor,
    now,
  }: {
    readonly methods: SignInMethod[];
    readonly secondFactorAt: Date | null;
    /** Token hash of the invitation to accept afterwards. */
    readonly invitationHash?: Buffer | null;
    /** ID of the complete session that the browser had before. */
    readonly replacedId?: string | null;
    readonly visitor: Pick<Visitor, 'device' | 'address'>;
    readonly now: Date;
  },
): Promise<string> {
  const token = newToken();
  if (secondFactorAt !== null || person.is_demo) {
    await makeRoom(tx, person.id);
    await setLastSeen(tx, person.id, now);
  }
  await insertSession(tx, {
    id: newId(),
    token_hash: hashToken(token),
    person_id: person.id,
    is_demo: person.is_demo,
    methods,
    second_factor_at: secondFactorAt,
    link_hash: invitationHash,
    replaced_id: replacedId,
    device: visitor.device.slice(0, DEVICE_MAXIMUM),
    address: visitor.address,
    created_at: now,
    last_seen_at: now,
  });
  return token;
}

/** Ends the oldest of ten sessions to make room for another. */
function makeRoom(tx: Connection, personId: string): Promise<void> {
  return deleteOldestSessions(tx, personId, SESSIONS_MAXIMUM - 1);
}

/** Ends the browser's former session, and the one that this session would have replaced. */
export async function endFormerSession(
  tx: Connection,
  { session: former }: Pick<Visit, 'session'>,
): Promise<void> {
  if (former === null) return;
  const { id, replaced_id: replacedId } = former.session;
  await deleteReplacedSession(tx, id);
  if (replacedId !== null) await deleteReplacedSession(tx, replacedId);
}

/**
 * Gives a session a new token after its person has proved again who they are. The old one stops working, also
 * for somebody who has stolen it (OWASP ASVS 5.0, 7.2.4). Resets the count of wrong attempts.
 * @returns The token for the cookie.
 * @throws SessionEnded if it has ended meanwhile.
 */
export async function renewToken(tx: Connection, sessionId: string): Promise<string> {
  const token = newToken();
  const changes = { token_hash: hashToken(token), wrong_codes: 0 };
  if ((await updateSession(tx, sessionId, changes)) === undefined) throw new SessionEnded();
  return token;
}

/**
 * Stores that a second factor was given. The session that this one replaces in its browser ends.
 * @throws SessionEnded if it has ended meanwhile.
 */
export async function confirmSession(
  tx: Connection,
  { id, methods, person_id, replaced_id, second_factor_at }: PanelSession,
  method: SignInMethod,
  now: Date,
): Promise<void> {
  if (second_factor_at === null) {
    await makeRoom(tx, person_id);
    await setLastSeen(tx, person_id, now);
  }
  const session = await updateSession(tx, id, {
    methods: [...new Set([...methods, method])],
    second_factor_at: now,
    last_seen_at: now,
    replaced_id: null,
  });
  if (session === undefined) throw new SessionEnded();
  if (replaced_id !== null) await deleteReplacedSession(tx, replaced_id);
}
