import { Type } from '@sinclair/typebox';
import { audited } from '#accounts/audit/audited-change.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { type SimulationCase, simulate } from '#onchain/settlement/simulate.ts';
import { listUntaken } from '#onchain/settlement/unmatched-reasons.ts';
import { auditRefusal, maySimulate } from '#payments/may-simulate.ts';
import { simulateRegulated } from '#payments/processors/simulate-regulated.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { FormRefused } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { redirectTo } from '../kit/pages.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';
import { detailPage } from './detail.ts';
import { PAYMENT_PATH, PaymentParams, paymentPath, requirePayment } from './require-payment.ts';
import { casesOf, environmentOf } from './simulated-cases.ts';
import { reasonOf } from './unmatched/reason.ts';

/** Which cases there are depends on the payment. */
const SimulateForm = Type.Object({ case: Type.String() });

/** The form that simulates a case on a payment. */
export function registerSimulation(app: TypedApp, deps: PanelDependencies): void {
  const { clock, db, rates, sandbox, simulation } = deps;

  registerForm(app, deps, `${PAYMENT_PATH}/simulate`, {
    rule: { for: 'merchant', permission: 'payments.simulate' },
    params: PaymentParams,
    body: SimulateForm,
    change: async (request, operator) => {
      const payment = await requirePayment(request, deps);
      const membership = membershipOf(request);
      // A page that cannot simulate has no such form: who sends it is worth knowing.
      if (!maySimulate(simulation, environmentOf(membership))) {
        await auditRefusal(operator, payment);
        throw new ApiError('E3001');
      }
      const cases = await casesOf(deps, membership, payment);
      const { body } = request;
      const { notAllowed } = texts(request).payments.simulation;
      const name = cases.find(each => each === body.case);
      if (name === undefined) throw new FormRefused('case', notAllowed(body.case));
      const untaken = await play(texts(request), payment, name);
      await audited(operator, 'payment.simulate', async () => ({
        result: undefined,
        objectId: payment.id,
        detail: { case: name },
      }));
      return { name, untaken };
    },
    again: (request, fault) => detailPage(request, deps, fault),
    done: (request, { name, untaken }) => {
      const words = texts(request);
      const { done, waits } = words.payments.simulation;
      const notice =
        untaken === undefined ? done(name) : waits(reasonOf(words, untaken.outcome).text);
      return redirectTo(paymentPath(request), notice);
    },
  });

  /** @returns A transfer of the case that no payment took, if the payment still waits. */
  async function play(
    words: PanelTexts,
    payment: Payment,
    name: SimulationCase,
  ): Promise<Deposit | undefined> {
    try {
      if (payment.flow === 'crypto') {
        const now = new Date(clock());
        return listUntaken(await simulate({ db, rates, simulation }, payment.id, name, now))[0];
      }
      await simulateRegulated({ db, clock, simulation }, sandbox, payment, name);
      return undefined;
    } catch (error) {
      const { conflicts } = words.payments.simulation;
      if (!(error instanceof ApiError)) throw error;
      const { errorCode: code } = error;
      throw code === 'E1040' || code === 'E5002' ? new FormRefused(null, conflicts[code]) : error;
    }
  }
}
