import type { PanelSession } from '#storage/database/people-tables.ts';
import type { SessionWithPerson } from '#storage/repositories/people/sessions.ts';
import { tellPerson } from '../mail/notices.ts';
import type { PeopleDependencies } from './dependencies.ts';
import { confirmSession, renewToken, type Visitor } from './panel-sessions.ts';
import { attemptIn, proveCode } from './proofs.ts';
import { auditPerson, rememberDevice } from './sign-in.ts';
import { findKnownDevice } from './throttle.ts';

/** The session for which a code is given, and the visitor. */
interface Confirming extends SessionWithPerson {
  readonly visitor: Visitor;
  /** Receives the session's new token. */
  readonly renewed: (token: string) => void;
}

/**
 * Takes a code of the authenticator app, or a recovery code, for a session. It completes signing in, or
 * makes the second factor recent again.
 * @returns The new token of the device, if this completes signing in.
 * @throws WrongProof, SecondFactorClosed, SessionEnded.
 */
export function confirm(
  deps: PeopleDependencies,
  { session, person, visitor, renewed }: Confirming,
  text: string,
): Promise<string | null> {
  return attemptIn(deps.db, session, () =>
    proveCode(deps, text, {
      session,
      person,
      visitor,
      renewed,
      async work(tx, present, method) {
        const now = new Date(deps.clock());
        await confirmSession(tx, session, method, now);
        if (session.second_factor_at !== null) return null;
        const device = await findKnownDevice(tx, {
          personId: present.id,
          token: visitor.deviceToken,
          now,
        });
        const detail = {
          methods: [...session.methods, method],
          ...(device === null ? { device: 'new' } : {}),
        };
        const { address } = visitor;
        await auditPerson(tx, present, 'person.sign-in', { address, now, detail });
        if (device === null) {
          const facts = { at: now.toISOString(), address };
          await tellPerson(tx, present.id, { kind: 'sign-in', facts, now });
        }
        return rememberDevice(tx, present.id, now);
      },
    }),
  );
}

/**
 * Confirms a session of the demo, which has a button in place of a code.
 * @throws SessionEnded
 */
export async function confirmDemo(
  { db, clock }: PeopleDependencies,
  session: PanelSession,
): Promise<string> {
  if (!session.is_demo) throw new Error('only a session of the demo is confirmed without a code');
  await confirmSession(db, session, 'demo', new Date(clock()));
  return renewToken(db, session.id);
}
