import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { audited } from '#accounts/audit/audited-change.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { recordReturn } from '#onchain/settlement/record-return.ts';
import { SIMULATION_CASES, type SimulationCase, simulate } from '#onchain/settlement/simulate.ts';
import { listUntaken } from '#onchain/settlement/unmatched-reasons.ts';
import { countTransfers } from '#payments/counted-transfers.ts';
import { readHistory } from '#payments/history.ts';
import { createSandboxProcessor } from '#payments/processors/sandbox-processor.ts';
import { REGULATED_CASES, simulateRegulated } from '#payments/processors/simulate-regulated.ts';
import { makeEvidence } from '#reports/evidence/document.ts';
import { Uuid } from '#schemas/scalars.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findDepositById } from '#storage/repositories/deposits/deposits.ts';
import { listMerchantTransfers } from '#storage/repositories/deposits/transfers.ts';
import { findOwnPayment, type PaymentWithAsset } from '#storage/repositories/payments/payments.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { membershipOf, operatorOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { requireOwnPage } from '../hooks/same-origin.ts';
import type { PanelPage } from '../kit/document.ts';
import type { Exports } from '../kit/exports.ts';
import { faultOf } from '../kit/failures.ts';
import type { FormFault } from '../kit/form.ts';
import { accountPath } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import { texts } from '../texts/index.ts';
import { registerAccounting } from './accounting.ts';
import { detailPage } from './detail.ts';
import { registerPaymentList } from './list-routes.ts';
import { PartForm } from './parts.ts';
import { wordUntaken } from './unmatched/reason.ts';
import { readReturn } from './unmatched/remedy.ts';

const PATH = '/merchants/:accountId/payments';

const params = Type.Object({ paymentId: Uuid('ID of the payment.') });
/** Which cases there are depends on the payment. */
const SimulateForm = Type.Object({ case: Type.String() });

type PaymentRequest = FastifyRequest & { params: Static<typeof params> };

/**
 * The payments of a merchant: their list and its file, a payment with its timeline, returns of parts, and simulation.
 */
export function registerPayments(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  const { clock, db, keyring, panelUrl, publicUrl, rates, reports, simulation } = deps;

  registerPaymentList(app, deps, exports);
  registerAccounting(app, deps, exports);

  const reading = withPermission('merchant', 'payments.read', { params });
  app.get(`${PATH}/:paymentId`, reading, async request =>
    show(request, await requirePayment(request), null),
  );

  const proving = withPermission('merchant', 'payments.evidence', { params });
  app.get(`${PATH}/:paymentId/evidence.json`, proving, async (request, reply) => {
    requireOwnPage(request);
    const payment = await requirePayment(request);
    return exports.sendSigned(request, reply, {
      name: `evidence-${payment.id}.json`,
      action: 'payment.evidence',
      objectId: payment.id,
      sign: () => makeEvidence({ db, keyring, clock, publicUrl }, payment),
    });
  });

  const simulating = withPermission('merchant', 'payments.simulate', {
    params,
    body: SimulateForm,
  });
  app.post(`${PATH}/:paymentId/simulate`, simulating, async request => {
    if (!simulation) throw new ApiError('E3001');
    const payment = await requirePayment(request);
    const [name] = casesOf(payment).find(([each]) => each === request.body.case) ?? [];
    if (name === undefined) {
      const message = texts.payments.simulation.unknownCase(request.body.case);
      return show(request, payment, { field: 'case', message });
    }
    let untaken: readonly Deposit[];
    try {
      untaken = await play(payment, name);
    } catch (error) {
      const isRefused = isConflict(error);
      const fault = isRefused ? { field: null, message: error.message } : faultOf(error, request);
      return show(request, payment, fault);
    }
    await audited(operatorOf(request, deps), 'payment.simulate', async () => ({
      result: undefined,
      objectId: payment.id,
      detail: { case: name },
    }));
    if (untaken.length === 0) {
      return redirectTo(`${accountPath(membershipOf(request))}/payments/${payment.id}`);
    }
    const page = await show(request, await requirePayment(request), {
      field: null,
      message: wordUntaken(texts, untaken),
    });
    return { ...page, status: 200 };
  });

  const returning = withPermission('merchant', 'deposits.settle', { params, body: PartForm });
  app.post(`${PATH}/:paymentId/return`, returning, async request => {
    const payment = await requirePayment(request);
    const { body } = request;
    const deposit = await findDepositById(db, body.deposit);
    if (deposit?.payment_id !== payment.id) throw new ApiError('E3001');
    const given = readReturn(body);
    if ('field' in given) return show(request, payment, given, body);
    try {
      await recordReturn(operatorOf(request, deps), deposit.id, given);
    } catch (error) {
      return show(request, payment, faultOf(error, request), body);
    }
    return redirectTo(`${accountPath(membershipOf(request))}/payments/${payment.id}`);
  });

  async function requirePayment(request: PaymentRequest): Promise<PaymentWithAsset> {
    const { accountId } = membershipOf(request);
    const payment = await findOwnPayment(db, accountId, request.params.paymentId);
    if (payment === undefined) throw new ApiError('E3001');
    return payment;
  }

  async function show(
    request: FastifyRequest,
    payment: PaymentWithAsset,
    fault: FormFault | null,
    returned?: Static<typeof PartForm>,
  ): Promise<PanelPage> {
    const membership = membershipOf(request);
    const accountUrl = basePathOf(panelUrl) + accountPath(membership);
    const [transfers, facts] = await Promise.all([
      listMerchantTransfers(reports, payment.id),
      readHistory(reports, payment),
    ]);
    return detailPage({
      partForm: { fields: returned, maySettle: isChangeAllowed(membership, 'deposits.settle') },
      transfers: {
        transfers: countTransfers(payment, transfers),
        merchantId: membership.accountId,
        accountUrl,
      },
      url: `${accountUrl}/payments/${payment.id}`,
      payment,
      facts,
      cases: simulation && isChangeAllowed(membership, 'payments.simulate') ? casesOf(payment) : [],
      fault,
    });
  }

  /** @returns The transfers of the case that the payment did not take, if it still waits. */
  async function play(payment: Payment, name: SimulationCase): Promise<readonly Deposit[]> {
    if (payment.flow === 'crypto') {
      return listUntaken(await simulate({ db, rates }, payment.id, name, new Date(clock())));
    }
    const sandbox = createSandboxProcessor(keyring, publicUrl);
    await simulateRegulated({ db, clock }, sandbox, payment, name);
    return [];
  }
}

function casesOf({ flow }: Payment): [SimulationCase, string][] {
  const cases = Object.entries(SIMULATION_CASES) as [SimulationCase, string][];
  return flow === 'crypto' ? cases : cases.filter(([name]) => REGULATED_CASES.includes(name));
}

/** Whether the payment has moved on, or its network cannot be offered just now. */
function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && ['E1040', 'E5002'].includes(error.errorCode);
}
