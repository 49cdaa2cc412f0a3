import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UUID } from '#schemas/uuid.ts';
import { isAllowed } from '../../../access/permissions.ts';
import { OperationRefused } from '../../../accounts/audited-change.ts';
import { parseName } from '../../../accounts/input.ts';
import type { Deposit } from '../../../database/deposit-tables.ts';
import { ApiError } from '../../../errors/api-error.ts';
import { readFields } from '../../../http/form-body.ts';
import { membershipOf, operatorOf } from '../../../http/panel-access.ts';
import { findOwnUnmatched, listOwnUnmatched } from '../../../repositories/account-deposits.ts';
import { findDepositContexts } from '../../../repositories/deposit-context.ts';
import { findOwnPayment } from '../../../repositories/payments.ts';
import { assignDeposit, dismissDeposit } from '../../../settlement/inbox.ts';
import { basePathOf } from '../../pages/base-path.ts';
import type { PanelDependencies } from '../dependencies.ts';
import type { FormFault } from '../form.ts';
import { accountPath } from '../navigation.ts';
import { leadTo, sendPage } from '../pages.ts';
import { depositPage, inboxPage } from './views.ts';

const PATH = '/merchants/:accountId/unmatched';
const PAGE_SIZE = 25;

/** Deposits that no payment took: an inbox to assign or dismiss them. */
export function registerUnmatched(app: FastifyInstance, deps: PanelDependencies): void {
  const { clock, db, panelUrl, reports } = deps;
  const rule = (permission: 'deposits.read' | 'deposits.settle') => ({
    config: { panel: { for: 'merchant' as const, permission } },
  });
  const pathOf = (request: FastifyRequest) => `${accountPath(membershipOf(request))}/unmatched`;

  app.get(PATH, rule('deposits.read'), async (request, reply) => {
    const { after } = request.query as { after?: unknown };
    const { accountId } = membershipOf(request);
    const deposits = await listOwnUnmatched(reports, accountId, {
      after: typeof after === 'string' && UUID.test(after) ? after : undefined,
      limit: PAGE_SIZE + 1,
    });
    const contexts = await findDepositContexts(reports, deposits);
    const page = inboxPage({
      url: basePathOf(panelUrl) + pathOf(request),
      deposits: deposits.slice(0, PAGE_SIZE),
      contexts,
      hasMore: deposits.length > PAGE_SIZE,
    });
    return sendPage(request, reply, deps, page);
  });

  app.get(`${PATH}/:depositId`, rule('deposits.read'), async (request, reply) =>
    show(request, reply, await requireDeposit(request), null),
  );

  app.post(`${PATH}/:depositId/assign`, rule('deposits.settle'), async (request, reply) => {
    const deposit = await requireDeposit(request);
    const { payment: paymentId } = readFields(request, ['payment']);
    const { accountId } = membershipOf(request);
    const payment = UUID.test(paymentId)
      ? await findOwnPayment(db, accountId, paymentId)
      : undefined;
    if (payment === undefined) throw new ApiError('E3001');
    return settle(request, reply, deposit, () =>
      assignDeposit(operatorOf(request, db, clock), deposit.id, paymentId),
    );
  });

  app.post(`${PATH}/:depositId/dismiss`, rule('deposits.settle'), async (request, reply) => {
    const deposit = await requireDeposit(request);
    const note = parseName(readFields(request, ['note']).note);
    if (note === undefined) {
      const message = 'Say in 1 to 200 characters how it was settled with the customer.';
      return show(request, reply, deposit, { field: 'note', message });
    }
    return settle(request, reply, deposit, () =>
      dismissDeposit(operatorOf(request, db, clock), deposit.id, note),
    );
  });

  async function requireDeposit(request: FastifyRequest): Promise<Deposit> {
    const { depositId } = request.params as { depositId: string };
    const { accountId } = membershipOf(request);
    const deposit = UUID.test(depositId)
      ? await findOwnUnmatched(db, accountId, depositId)
      : undefined;
    if (deposit === undefined) throw new ApiError('E3001');
    return deposit;
  }

  async function settle(
    request: FastifyRequest,
    reply: FastifyReply,
    deposit: Deposit,
    change: () => Promise<Deposit>,
  ): Promise<FastifyReply> {
    try {
      await change();
    } catch (error) {
      if (!(error instanceof OperationRefused)) throw error;
      return show(request, reply, deposit, { field: null, message: error.message });
    }
    return leadTo(reply, panelUrl, pathOf(request));
  }

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    deposit: Deposit,
    fault: FormFault | null,
  ): Promise<FastifyReply> {
    const membership = membershipOf(request);
    const context = (await findDepositContexts(db, [deposit])).get(deposit.id);
    if (context === undefined) throw new ApiError('E3001');
    const fits = context.fits.filter(({ merchantId }) => merchantId === membership.accountId);
    const payments = await Promise.all(
      fits.map(async ({ paymentId, tokenAmount }) => ({
        tokenAmount,
        payment: await findOwnPayment(db, membership.accountId, paymentId),
      })),
    );
    const page = depositPage({
      url: `${basePathOf(panelUrl)}${pathOf(request)}/${deposit.id}`,
      paymentsUrl: `${basePathOf(panelUrl)}${accountPath(membership)}/payments`,
      ...{ deposit, context, fault },
      fits: payments.flatMap(({ payment, tokenAmount }) =>
        payment === undefined ? [] : [{ payment, tokenAmount }],
      ),
      maySettle: isAllowed(membership.role, 'deposits.settle'),
    });
    return sendPage(request, reply, deps, page, fault === null ? 200 : 422);
  }
}
