import type { Connection, Database } from '../database/connection.ts';
import type { PanelSession, Person, SignInMethod } from '../database/people-tables.ts';
import { transact } from '../database/transaction.ts';
import { countWrongCode, deleteSession } from '../repositories/panel-sessions.ts';
import { findPerson, useCodeStep } from '../repositories/people.ts';
import { findCodeStep } from './codes.ts';
import type { PeopleDependencies } from './dependencies.ts';
import { confirmSession } from './panel-sessions.ts';
import { takeRecoveryCode } from './recovery-codes.ts';
import { auditPerson, rememberDevice, signIns } from './sign-in.ts';

/** Wrong codes and passwords after which a session ends. */
const WRONG_MAXIMUM = 5;

export type Confirmation =
  | {
      readonly outcome: 'confirmed';
      /** The session's new token. */
      readonly token: string;
      /** The device's token, where this completes signing in. */
      readonly device: string | null;
    }
  | { readonly outcome: 'wrong' }
  /** Too many wrong codes, or ended elsewhere. */
  | { readonly outcome: 'ended' };

/**
 * Takes a code of the authenticator app, or a recovery code, for a session: it completes signing in, or
 * makes the second factor recent.
 */
export async function confirm(
  { db, keyring, clock }: PeopleDependencies,
  session: PanelSession,
  text: string,
): Promise<Confirmation> {
  const now = new Date(clock());
  const confirmed = await transact(db, async tx => {
    const person = await findPerson(tx, session.person_id);
    if (person === undefined) return undefined;
    const method = await takeCode(tx, { keyring, clock }, person, text);
    if (method === undefined) return undefined;
    const token = await confirmSession(tx, session, method, now);
    if (token === undefined) return undefined;
    const isSignIn = session.second_factor_at === null;
    const device = isSignIn ? await rememberDevice(tx, person.id, now) : null;
    if (isSignIn) {
      const detail = { methods: [...session.methods, method] };
      await auditPerson(tx, person, 'person.sign-in', { address: session.address, now, detail });
    }
    return { method, token, device };
  });
  if (confirmed !== undefined) {
    signIns.inc({ method: confirmed.method, outcome: 'accepted' });
    return { outcome: 'confirmed', token: confirmed.token, device: confirmed.device };
  }
  signIns.inc({ method: 'code', outcome: 'refused' });
  return { outcome: await noteWrong(db, session) };
}

/**
 * Counts what a session got wrong. Whoever has stolen one must not guess in it for long.
 * @returns Whether that ended it.
 */
export async function noteWrong(db: Database, session: PanelSession): Promise<'wrong' | 'ended'> {
  const wrong = await countWrongCode(db, session.id);
  if (wrong !== undefined && wrong < WRONG_MAXIMUM) return 'wrong';
  await deleteSession(db, session.person_id, session.id);
  return 'ended';
}

/** The demo's button in place of a code. */
export function confirmDemo(
  { db, clock }: PeopleDependencies,
  session: PanelSession,
): Promise<string | undefined> {
  if (!session.is_demo) throw new Error('only a session of the demo is confirmed without a code');
  return confirmSession(db, session, 'demo', new Date(clock()));
}

/** @returns What the text was, now used up; undefined if it was neither. */
export async function takeCode(
  tx: Connection,
  { keyring, clock }: Pick<PeopleDependencies, 'keyring' | 'clock'>,
  person: Person,
  text: string,
): Promise<Extract<SignInMethod, 'code' | 'recovery-code'> | undefined> {
  const { code_secret: sealed, code_key_version: version } = person;
  if (sealed !== null && version !== null) {
    const secret = keyring.open(sealed, person.id, version);
    const step = findCodeStep(secret, text, clock());
    if (step !== undefined && (await useCodeStep(tx, person.id, step))) return 'code';
  }
  const isRecovery = await takeRecoveryCode(tx, person.id, text, new Date(clock()));
  return isRecovery ? 'recovery-code' : undefined;
}
