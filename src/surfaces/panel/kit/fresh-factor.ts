import type { FastifyRequest } from 'fastify';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { attemptIn, proveCode } from '#accounts/people/proofs.ts';
import { lockAccount } from '#accounts/people/team.ts';
import { untilHeard } from '#storage/database/change-feed.ts';
import { transact } from '#storage/database/transaction.ts';
import { type Html, html } from '../../pages/html.ts';
import { operatorOf, sessionOf, visitOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { type FormFault, renderField } from './form.ts';

/**
 * Makes a change whose form asks for a fresh second factor, in the transaction that uses up the code. A person of the
 * demo has no second factor, and needs none.
 * @throws WrongProof, SecondFactorClosed, SessionEnded; ApiError E9001 for too many attempts; and what `work` throws:
 * the code is used up even then.
 */
export async function changeWithFactor<T>(
  request: FastifyRequest,
  deps: PanelDependencies,
  code: string,
  work: (operator: Operator) => Promise<T>,
): Promise<T> {
  const { db, limits } = deps;
  const { session, person } = sessionOf(request);
  const { membership } = visitOf(request);
  const operator = operatorOf(request, deps);
  let result: T;
  if (person.is_demo) {
    result = await transact(db, tx => work({ ...operator, db: tx }));
  } else {
    await limits.countSignIn(request);
    result = await attemptIn(db, session, () =>
      proveCode(deps, code, {
        ...proverOf(request),
        // Locks the account first, as operators' commands do: they may change or deactivate the person at the same
        // moment.
        ...(membership === null ? {} : { before: tx => lockAccount(tx, membership) }),
        work: tx => work({ ...operator, db: tx }),
      }),
    );
  }
  await untilHeard(db);
  return result;
}

/** The person who proves their identity in a form, and what gives their session its new token. */
export function proverOf(request: FastifyRequest) {
  const { visitor } = visitOf(request);
  const renewed = (newToken: string) => {
    request.visit = { ...visitOf(request), newToken };
  };
  return { ...sessionOf(request), visitor, renewed };
}

/** The field for the code; in the demo, a line that no code is needed. */
export function renderFactor(request: FastifyRequest, fault: FormFault | null): Html {
  const { code: label, codeHint: hint, demo } = texts(request).changes;
  if (sessionOf(request).person.is_demo) return html`<p class="quiet">${demo}</p>`;
  const autocomplete = 'one-time-code';
  return renderField({ name: 'code', label, hint, autocomplete, maxlength: 40 }, fault);
}
