import type { Static } from '@sinclair/typebox';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { type Consent, ConsentNeeded } from '#onchain/settlement/assignment.ts';
import { askToAssign, assignDeposit, weighAssignment } from '#onchain/settlement/inbox.ts';
import { findOwnPayment, type PaymentOnNetwork } from '#storage/repositories/payments/payments.ts';
import { basePathOf } from '../../../pages/base-path.ts';
import { membershipOf, operatorOf, sessionOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import { registerForm } from '../../kit/form-route.ts';
import { accountPath } from '../../kit/navigation.ts';
import { rememberNetworks } from '../../kit/networks.ts';
import { redirectTo } from '../../kit/pages.ts';
import { assignmentQuestion, nameOrder } from './assignment-question.ts';
import {
  DEPOSIT_PATH,
  type DepositPages,
  DepositParams,
  type DepositRequest,
} from './deposit-page.ts';
import { AskForm, type AssignFields, AssignForm } from './deposit-parts.ts';

type AssignRequest = DepositRequest & { body: Static<typeof AskForm> };

/** The forms that assign a deposit to a payment, or ask a second person to. */
export function registerAssignments(
  app: TypedApp,
  deps: PanelDependencies,
  { find, show }: DepositPages,
): void {
  const { addressDelayMs, db, panelUrl, reports } = deps;
  const readNetworks = rememberNetworks(reports);
  const rule = { for: 'merchant', permission: 'deposits.settle' } as const;
  const params = DepositParams;

  registerForm(app, deps, `${DEPOSIT_PATH}/assign`, {
    rule,
    params,
    body: AssignForm,
    ask: async request => {
      const { body } = request;
      const deposit = await find(request);
      const payment = await findPayment(request);
      const operator = { ...operatorOf(request, deps), db };
      const consent = consentOf(body);
      return assignmentQuestion(texts(request), {
        weighed: await weighAssignment(operator, deposit.id, payment.id, consent, addressDelayMs),
        networks: await readNetworks(),
        paymentsUrl: `${basePathOf(panelUrl)}${accountPath(membershipOf(request))}/payments`,
        back: pathOf(request),
      });
    },
    change: async (request, operator) => {
      const deposit = await find(request);
      const payment = await findPayment(request);
      const consent = consentOf(request.body);
      await assignDeposit(operator, deposit.id, payment.id, consent, addressDelayMs);
      return payment;
    },
    again: (request, fault, error) => {
      const needsOther = error instanceof ConsentNeeded && error.to === 'amounts';
      return show(request, { fault, wanted: needsOther ? request.body : undefined });
    },
    done: (request, payment) => {
      const account = accountPath(membershipOf(request));
      const { done, look } = texts(request).unmatched.assignment;
      return redirectTo(`${account}/unmatched`, {
        text: done(nameOrder(payment)),
        link: { path: `${account}/payments/${payment.id}`, text: look },
      });
    },
  });

  registerForm(app, deps, `${DEPOSIT_PATH}/ask`, {
    rule,
    params,
    body: AskForm,
    change: async (request, operator) => {
      const deposit = await find(request);
      const payment = await findPayment(request);
      const { id: personId } = sessionOf(request).person;
      await askToAssign({ ...operator, personId }, deposit.id, payment.id, addressDelayMs);
    },
    again: (request, fault) => show(request, { fault }),
    done: request => redirectTo(pathOf(request), texts(request).unmatched.consent.asked),
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

/** Path of the deposit without the base path. */
function pathOf(request: DepositRequest): string {
  return `${accountPath(membershipOf(request))}/unmatched/${request.params.depositId}`;
}
