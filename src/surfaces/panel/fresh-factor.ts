import type { FastifyRequest } from 'fastify';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { attemptIn, proveCode } from '#accounts/people/proofs.ts';
import { lockAccount } from '#accounts/people/team.ts';
import { untilHeard } from '#storage/database/change-feed.ts';
import { transact } from '#storage/database/transaction.ts';
import { type Html, html } from '../pages/html.ts';
import type { PanelDependencies } from './dependencies.ts';
import { type FormFault, renderField } from './form.ts';
import { operatorOf, sessionOf, visitOf } from './hooks/access.ts';
import { texts } from './texts/index.ts';

/**
 * Makes a change that takes a fresh second factor in its own form, in the transaction in which the code is used up. A
 * person of the demo, who has none, makes it without.
 * @throws WrongProof, SecondFactorClosed, SessionEnded; ApiError E9001 for too many attempts; and what `work` throws,
 * after which the code is used up nevertheless.
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
        // As operators do, who may change or deactivate the person at the same moment.
        ...(membership === null ? {} : { before: tx => lockAccount(tx, membership) }),
        work: tx => work({ ...operator, db: tx }),
      }),
    );
  }
  await untilHeard(db);
  return result;
}

/** Somebody who proves in a form who they are, which gives their session a new token. */
export function proverOf(request: FastifyRequest) {
  const { visitor } = visitOf(request);
  const renewed = (newToken: string) => {
    request.visit = { ...visitOf(request), newToken };
  };
  return { ...sessionOf(request), visitor, renewed };
}

/** The field of the code; a line that there is none in the demo. */
export function renderFactor(isDemo: boolean, fault: FormFault | null): Html {
  const { code, codeHint, demo } = texts.changes;
  if (isDemo) return html`<p class="quiet">${demo}</p>`;
  return renderField(
    {
      name: 'code',
      label: code,
      hint: codeHint,
      autocomplete: 'one-time-code',
      maxlength: 40,
    },
    fault,
  );
}
