import { Readable } from 'node:stream';
import { type Static, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Uuid } from '#schemas/scalars.ts';
import { audited, OperationRefused } from '../../audit/audited-change.ts';
import type { Payment } from '../../database/payment-tables.ts';
import { ApiError } from '../../errors/api-error.ts';
import { makeEvidence } from '../../evidence/document.ts';
import type { TypedApp } from '../../http/typed-app.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { readHistory } from '../../payments/history.ts';
import { createSandboxProcessor } from '../../processors/sandbox-processor.ts';
import { REGULATED_CASES, simulateRegulated } from '../../processors/simulate-regulated.ts';
import { findNetwork } from '../../repositories/chains/networks.ts';
import { findOwnUnmatchedOf } from '../../repositories/deposits/account-deposits.ts';
import { listStrayDeposits } from '../../repositories/deposits/deviations.ts';
import { findOwnPayment } from '../../repositories/payments/payments.ts';
import { SIMULATION_CASES, type SimulationCase, simulate } from '../../settlement/simulate.ts';
import { whyItWaits } from '../../settlement/untaken.ts';
import type { Permission } from '../access/permissions.ts';
import type { PanelDependencies } from '../dependencies.ts';
import type { Exports } from '../exports.ts';
import type { FormFault } from '../form.ts';
import { membershipOf, operatorOf } from '../hooks/access.ts';
import { requireOwnPage } from '../hooks/same-origin.ts';
import { accountPath } from '../navigation.ts';
import { leadTo, sendPage } from '../pages.ts';
import { detailPage } from './detail.ts';
import { registerPaymentList } from './list-routes.ts';

const PATH = '/merchants/:accountId/payments';

const params = Type.Object({ paymentId: Uuid('ID of the payment.') });
/** Which cases there are depends on the payment. */
const SimulateForm = Type.Object({ case: Type.String() });

type PaymentRequest = FastifyRequest & { params: Static<typeof params> };

/** The payments of a merchant: list and file, one with its timeline, simulation. */
export function registerPayments(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  const { clock, db, keyring, panelUrl, publicUrl, rates, reports, simulation } = deps;
  const rule = (permission: Permission) => ({
    config: { panel: { for: 'merchant' as const, permission } },
    schema: { params },
  });
  const pathOf = (request: FastifyRequest) => `${accountPath(membershipOf(request))}/payments`;
  const urlOf = (request: FastifyRequest) => basePathOf(panelUrl) + pathOf(request);

  registerPaymentList(app, deps, exports);

  app.get(`${PATH}/:paymentId`, rule('payments.read'), async (request, reply) =>
    show(request, reply, await requirePayment(request), null),
  );

  app.get(`${PATH}/:paymentId/evidence.json`, rule('payments.evidence'), async (request, reply) => {
    requireOwnPage(request);
    const payment = await requirePayment(request);
    const send = (content: string | Readable) =>
      reply
        .header('content-disposition', `attachment; filename="evidence-${payment.id}.json"`)
        .type('application/json; charset=utf-8')
        .serializer(String)
        .send(content);
    // Nobody is given a document by the headers alone.
    if (request.method === 'HEAD') return send(Readable.from([]));
    const signed = await makeEvidence({ db, keyring, clock, publicUrl }, payment);
    await audited(operatorOf(request, db, clock), 'payment.evidence', async () => ({
      result: undefined,
      objectId: payment.id,
      detail: { keyId: signed.keyId },
    }));
    return send(`${JSON.stringify(signed, null, 2)}\n`);
  });

  const simulating = { ...rule('payments.simulate'), schema: { params, body: SimulateForm } };
  app.post(`${PATH}/:paymentId/simulate`, simulating, async (request, reply) => {
    if (!simulation) throw new ApiError('E3001');
    const payment = await requirePayment(request);
    const [name] = casesOf(payment).find(([each]) => each === request.body.case) ?? [];
    if (name === undefined) {
      const message = `There is no case ${request.body.case} for this payment.`;
      return show(request, reply, payment, { field: 'case', message });
    }
    let waits: string | null;
    try {
      waits = await play(payment, name);
    } catch (error) {
      if (!(error instanceof OperationRefused || isConflict(error))) throw error;
      return show(request, reply, payment, { field: null, message: (error as Error).message });
    }
    await audited(operatorOf(request, db, clock), 'payment.simulate', async () => ({
      result: undefined,
      objectId: payment.id,
      detail: { case: name },
    }));
    if (waits === null) return leadTo(reply, panelUrl, `${pathOf(request)}/${payment.id}`);
    return show(
      request,
      reply,
      await requirePayment(request),
      { field: null, message: waits },
      200,
    );
  });

  async function requirePayment(request: PaymentRequest): Promise<Payment> {
    const { accountId } = membershipOf(request);
    const payment = await findOwnPayment(db, accountId, request.params.paymentId);
    if (payment === undefined) throw new ApiError('E3001');
    return payment;
  }

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    payment: Payment,
    fault: FormFault | null,
    status = fault === null ? 200 : 422,
  ): Promise<FastifyReply> {
    const network =
      payment.blockchain_id === null ? undefined : await findNetwork(db, payment.blockchain_id);
    const { accountId } = membershipOf(request);
    const strays = await listStrayDeposits(reports, payment.id);
    const ids = strays.map(({ id }) => id);
    const waiting = await findOwnUnmatchedOf(reports, accountId, ids);
    const page = detailPage({
      strays: {
        ...{ strays, waiting: new Set(waiting.map(({ id }) => id)), merchantId: accountId },
        accountUrl: basePathOf(panelUrl) + accountPath(membershipOf(request)),
      },
      assetSymbol: network?.asset_symbol ?? null,
      url: `${urlOf(request)}/${payment.id}`,
      payment,
      facts: await readHistory(reports, payment),
      cases: simulation ? casesOf(payment) : [],
      fault,
    });
    return sendPage(request, reply, deps, page, status);
  }

  /** Answers why the payment waits if a transfer of the case did not settle it. */
  async function play(payment: Payment, name: SimulationCase): Promise<string | null> {
    if (payment.flow === 'crypto') {
      return whyItWaits(await simulate({ db, rates }, payment.id, name, new Date(clock())));
    }
    const sandbox = createSandboxProcessor(keyring, publicUrl);
    await simulateRegulated({ db, clock }, sandbox, payment, name);
    return null;
  }
}

function casesOf({ flow }: Payment): [SimulationCase, string][] {
  const cases = Object.entries(SIMULATION_CASES) as [SimulationCase, string][];
  return flow === 'crypto' ? cases : cases.filter(([name]) => REGULATED_CASES.includes(name));
}

/** Whether the payment has moved on, or its network cannot be offered just now. */
function isConflict(error: unknown): boolean {
  return error instanceof ApiError && ['E1040', 'E5002'].includes(error.errorCode);
}
