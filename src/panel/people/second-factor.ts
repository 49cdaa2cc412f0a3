import type { PanelSession } from '../../database/people-tables.ts';
import type { SessionWithPerson } from '../../repositories/people/sessions.ts';
import type { PeopleDependencies } from './dependencies.ts';
import { confirmSession, type Visitor } from './panel-sessions.ts';
import { attemptIn, proveCode } from './proofs.ts';
import { auditPerson, rememberDevice } from './sign-in.ts';

/** A session whose second factor was given. */
interface Confirmed {
  /** The session's new token. */
  readonly token: string;
  /** The device's token, where this completes signing in. */
  readonly device: string | null;
}

/**
 * Takes a code of the authenticator app, or a recovery code, for a session: it completes signing in, or
 * makes the second factor recent.
 * @throws WrongProof, SecondFactorClosed, SessionEnded.
 */
export function confirm(
  deps: PeopleDependencies,
  { session, person }: SessionWithPerson,
  text: string,
  visitor: Visitor,
): Promise<Confirmed> {
  return attemptIn(deps.db, session, () =>
    proveCode(deps, text, {
      ...{ session, person, visitor },
      async work(tx, present, method) {
        const now = new Date(deps.clock());
        const token = await confirmSession(tx, session, method, now);
        if (session.second_factor_at !== null) return { token, device: null };
        const detail = { methods: [...session.methods, method] };
        const { address } = visitor;
        await auditPerson(tx, present, 'person.sign-in', { address, now, detail });
        return { token, device: await rememberDevice(tx, present.id, now) };
      },
    }),
  );
}

/**
 * The demo's button in place of a code.
 * @throws SessionEnded
 */
export function confirmDemo(
  { db, clock }: PeopleDependencies,
  session: PanelSession,
): Promise<string> {
  if (!session.is_demo) throw new Error('only a session of the demo is confirmed without a code');
  return confirmSession(db, session, 'demo', new Date(clock()));
}
