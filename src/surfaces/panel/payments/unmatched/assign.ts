import type { Static } from '@sinclair/typebox';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { type Consent, ConsentNeeded } from '#onchain/settlement/assignment.ts';
import { askToAssign, assignDeposit, weighAssignment } from '#onchain/settlement/inbox.ts';
import { findOwnPayment, type PaymentOnNetwork } from '#storage/repositories/payments/payments.ts';
import { membershipOf, operatorOf, sessionOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import { registerForm } from '../../kit/form-route.ts';
import { ownPath } from '../../kit/navigation.ts';
import { rememberNetworks } from '../../kit/networks.ts';
import { redirectTo } from '../../kit/pages.ts';
import { assignmentQuestion, nameOrder } from './assignment-question.ts';
import {
  AskForm,
  type AssignFields,
  AssignForm,
  DEPOSIT_PATH,
  DepositParams,
  type DepositRequest,
  requireDeposit,
} from './deposit-parts.ts';
import { depositPage } from './views.ts';

type AssignRequest = DepositRequest & { body: Static<typeof AskForm> };

/** The forms that assign a deposit to a payment, or ask a second person to. */
export function registerAssignments(app: TypedApp, deps: PanelDependencies): void {
  const { addressDelayMs, db, reports } = deps;
  const readNetworks = rememberNetworks(reports);
  const assigning = {
    rule: { for: 'merchant', permission: 'deposits.settle' },
    params: DepositParams,
  } as const;

  registerForm(app, deps, `${DEPOSIT_PATH}/assign`, {
    ...assigning,
    body: AssignForm,
    ask: async request => {
      const { body } = request;
      const deposit = await requireDeposit(request, deps);
      const payment = await findPayment(request);
      const operator = { ...operatorOf(request, deps), db };
      const consent = consentOf(body);
      const weighed = await weighAssignment(
        operator,
        deposit.id,
        payment.id,
        consent,
        addressDelayMs,
      );
      return assignmentQuestion(request, await readNetworks(), weighed);
    },
    change: async (request, operator) => {
      const deposit = await requireDeposit(request, deps);
      const payment = await findPayment(request);
      const consent = consentOf(request.body);
      await assignDeposit(operator, deposit.id, payment.id, consent, addressDelayMs);
      return payment;
    },
    again: (request, fault, error) => {
      const needsOther = error instanceof ConsentNeeded && error.to === 'amounts';
      return depositPage(request, deps, { fault, wanted: needsOther ? request.body : undefined });
    },
    done: (request, payment) => {
      const { done, look } = texts(request).unmatched.assignment;
      const link = { path: ownPath(request, `/payments/${payment.id}`), text: look };
      return redirectTo(ownPath(request, '/unmatched'), { text: done(nameOrder(payment)), link });
    },
  });

  registerForm(app, deps, `${DEPOSIT_PATH}/ask`, {
    ...assigning,
    body: AskForm,
    change: async (request, operator) => {
      const deposit = await requireDeposit(request, deps);
      const payment = await findPayment(request);
      const { id: personId } = sessionOf(request).person;
      await askToAssign({ ...operator, personId }, deposit.id, payment.id, addressDelayMs);
    },
    again: (request, fault) => depositPage(request, deps, { fault }),
    done: request =>
      redirectTo(
        ownPath(request, `/unmatched/${request.params.depositId}`),
        texts(request).unmatched.consent.asked,
      ),
  });

  /** @throws ApiError E3001 for a payment of another merchant. */
  async function findPayment(request: AssignRequest): Promise<PaymentOnNetwork> {
    const { accountId } = membershipOf(request);
    const payment = await findOwnPayment(db, accountId, request.body.payment);
    if (payment === undefined) throw new ApiError('E3001');
    return payment;
  }
}

function consentOf({ sure, arrived, due }: AssignFields): Consent {
  const isTyped = arrived !== '' && due !== '';
  return { otherOrder: sure === 'yes', amounts: isTyped ? { arrived, due } : undefined };
}
