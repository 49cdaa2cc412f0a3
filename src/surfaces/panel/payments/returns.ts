import type { Static } from '@sinclair/typebox';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { recordReturn } from '#onchain/settlement/record-return.ts';
import {
  type HistoricDeposit,
  listHistoricDeposits,
} from '#storage/repositories/payments/history.ts';
import { html } from '../../pages/html.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { registerForm } from '../kit/form-route.ts';
import { redirectTo } from '../kit/pages.ts';
import { detailPage } from './detail.ts';
import { PartForm } from './parts.ts';
import {
  PAYMENT_PATH,
  PaymentParams,
  type PaymentRequest,
  paymentPath,
  requirePayment,
} from './require-payment.ts';
import { amountOf } from './transfers.ts';
import { readReturn } from './unmatched/remedy.ts';

type ReturnRequest = PaymentRequest & { body: Static<typeof PartForm> };

/** The form that records that a part of a payment was given back. */
export function registerReturns(app: TypedApp, deps: PanelDependencies): void {
  registerForm(app, deps, `${PAYMENT_PATH}/return`, {
    rule: { for: 'merchant', permission: 'deposits.settle' },
    params: PaymentParams,
    body: PartForm,
    ask: async request => {
      const part = await findPart(request);
      const words = texts(request);
      const { question, given, consequence, submit } = words.payments.parts;
      const { to, hash } = readReturn(words, request.body);
      if (part.booked_at === null || part.returned_at !== null) return null;
      return {
        title: question(amountOf(part)),
        content: html`<p>${given(amountOf(part), to, html`<code>${hash}</code>`)}</p>
<p>${consequence}</p>`,
        submit,
        back: paymentPath(request),
      };
    },
    change: async (request, operator) => {
      const part = await findPart(request);
      const given = readReturn(texts(request), request.body);
      await recordReturn(operator, part.id, given);
      return { amount: amountOf(part), to: given.to };
    },
    again: (request, fault) => detailPage(request, deps, fault, request.body),
    done: (request, { amount, to }) =>
      redirectTo(paymentPath(request), texts(request).payments.parts.recorded(amount, to)),
  });

  /** @throws ApiError E3001 for a deposit of another payment. */
  async function findPart(request: ReturnRequest): Promise<HistoricDeposit> {
    const { id } = await requirePayment(request, deps);
    const deposits = await listHistoricDeposits(deps.db, id);
    const part = deposits.find(deposit => deposit.id === request.body.deposit);
    if (part === undefined) throw new ApiError('E3001');
    return part;
  }
}
