import type { PanelSession } from '../../database/people-tables.ts';
import type { SessionWithPerson } from '../../repositories/people/sessions.ts';
import type { PeopleDependencies } from './dependencies.ts';
import { confirmSession, type Visitor } from './panel-sessions.ts';
import { attemptIn, proveCode } from './proofs.ts';
import { auditPerson, rememberDevice } from './sign-in.ts';

/** New tokens of the session and, if this completes signing in, of the device. */
interface Confirmed {
  readonly token: string;
  readonly device: string | null;
}

/**
 * Takes a code of the authenticator app, or a recovery code, for a session. It completes signing in, or
 * makes the second factor recent again.
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
 * Confirms a session of the demo, which has a button in place of a code.
 * @throws SessionEnded
 */
export function confirmDemo(
  { db, clock }: PeopleDependencies,
  session: PanelSession,
): Promise<string> {
  if (!session.is_demo) throw new Error('only a session of the demo is confirmed without a code');
  return confirmSession(db, session, 'demo', new Date(clock()));
}
