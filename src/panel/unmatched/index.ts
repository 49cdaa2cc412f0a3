import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Uuid } from '#schemas/scalars.ts';
import { OperationRefused } from '../../audit/audited-change.ts';
import type { Deposit } from '../../database/deposit-tables.ts';
import type { Payment } from '../../database/payment-tables.ts';
import { ApiError } from '../../errors/api-error.ts';
import type { TypedApp } from '../../http/typed-app.ts';
import { basePathOf } from '../../pages/base-path.ts';
import {
  countSharedUnmatched,
  findOwnUnmatched,
  findOwnUnmatchedOf,
  listOwnUnmatched,
} from '../../repositories/deposits/account-deposits.ts';
import { findAskedAssignment } from '../../repositories/deposits/asked-assignments.ts';
import { findDepositContexts } from '../../repositories/deposits/context.ts';
import { findMeantPayments } from '../../repositories/deposits/deviations.ts';
import { findOwnPayment } from '../../repositories/payments/payments.ts';
import { ConsentNeeded } from '../../settlement/assignment.ts';
import {
  askToAssign,
  assignDeposit,
  dismissDeposit,
  dismissDeposits,
} from '../../settlement/inbox.ts';
import { isAllowed } from '../access/permissions.ts';
import type { PanelDependencies } from '../dependencies.ts';
import { membershipOf, operatorOf, sessionOf } from '../hooks/access.ts';
import { accountPath } from '../navigation.ts';
import { leadTo, sendPage } from '../pages.ts';
import { AskForm, AssignForm, type DepositParts } from './deposit-parts.ts';
import {
  type InboxParts,
  InboxQuery,
  type InboxRequest,
  inboxPage,
  inboxUrl,
  readInboxRequest,
} from './inbox.ts';
import { RemedyForm, readRemedy } from './remedy.ts';
import { depositPage } from './views.ts';

const PATH = '/merchants/:accountId/unmatched';
const PAGE_SIZE = 25;
/** Hidden deposits are counted up to this. */
const HIDDEN_MAXIMUM = 100;

const params = Type.Object({ depositId: Uuid('ID of the deposit.') });
/** Dismisses those that are ticked on a page of the inbox. */
const DismissForm = Type.Object({
  deposit: Type.Array(Uuid('ID of the deposit.'), { maxItems: PAGE_SIZE }),
  ...RemedyForm.properties,
});

type DepositRequest = FastifyRequest & { params: Static<typeof params> };

/** What a deposit's page shows beside the deposit. */
type Shown = Partial<Pick<DepositParts, 'fault' | 'fields' | 'wanted'>>;

/** Deposits that no payment took: an inbox to assign or dismiss them. */
export function registerUnmatched(app: TypedApp, deps: PanelDependencies): void {
  const { clock, db, panelUrl, reports } = deps;
  const rule = (permission: 'deposits.read' | 'deposits.settle') => ({
    config: { panel: { for: 'merchant' as const, permission } },
  });
  const settling = <T extends TObject>(body: T) => ({
    ...rule('deposits.settle'),
    schema: { params, body },
  });
  const listed = { querystring: InboxQuery };
  const pathOf = (request: FastifyRequest) => `${accountPath(membershipOf(request))}/unmatched`;
  const operatorFor = (request: FastifyRequest) => operatorOf(request, db, clock);

  app.get(PATH, { ...rule('deposits.read'), schema: listed }, (request, reply) =>
    list(request, reply, readInboxRequest(request.query), null),
  );

  const reading = { ...rule('deposits.read'), schema: { params } };
  app.get(`${PATH}/:depositId`, reading, async (request, reply) =>
    show(request, reply, await requireDeposit(request)),
  );

  app.post(`${PATH}/:depositId/assign`, settling(AssignForm), async (request, reply) => {
    const deposit = await requireDeposit(request);
    const { payment: id, ...fields } = request.body;
    const payment = await requireOwnPayment(request, id);
    const { sure, arrived, due } = fields;
    const isTyped = arrived !== '' && due !== '';
    return settle(request, reply, deposit, { payment, fields }, () =>
      assignDeposit(operatorFor(request), deposit.id, payment.id, {
        otherOrder: sure === 'yes',
        amounts: isTyped ? { arrived, due } : undefined,
      }),
    );
  });

  app.post(`${PATH}/:depositId/ask`, settling(AskForm), async (request, reply) => {
    const deposit = await requireDeposit(request);
    const payment = await requireOwnPayment(request, request.body.payment);
    const operator = { ...operatorFor(request), personId: sessionOf(request).person.id };
    return settle(request, reply, deposit, null, async () => {
      await askToAssign(operator, deposit.id, payment.id);
      return `/${deposit.id}`;
    });
  });

  app.post(`${PATH}/:depositId/dismiss`, settling(RemedyForm), async (request, reply) => {
    const deposit = await requireDeposit(request);
    const fields = request.body;
    const remedy = readRemedy(fields);
    if ('field' in remedy) return show(request, reply, deposit, { fault: remedy, fields });
    return settle(request, reply, deposit, null, () =>
      dismissDeposit(operatorFor(request), deposit.id, remedy),
    );
  });

  const dismissing = { ...rule('deposits.settle'), schema: { ...listed, body: DismissForm } };
  app.post(`${PATH}/dismiss`, dismissing, async (request, reply) => {
    const { deposit: chosen, ...fields } = request.body;
    const remedy = readRemedy(fields);
    const asked = { ...readInboxRequest(request.query), after: undefined };
    const refuse = (fault: NonNullable<InboxParts['refused']>['fault']) =>
      list(request, reply, asked, { fault, chosen, fields });
    if ('field' in remedy) return refuse(remedy);
    const own = await findOwnUnmatchedOf(db, membershipOf(request).accountId, chosen);
    if (own.length === 0) return refuse({ field: null, message: 'Tick the deposits first.' });
    if (own.length < new Set(chosen).size) {
      return refuse({ field: null, message: 'Some of them wait no more. Nothing was changed.' });
    }
    try {
      await dismissDeposits(operatorFor(request), chosen, remedy);
    } catch (error) {
      if (!(error instanceof OperationRefused)) throw error;
      return refuse({ field: null, message: `${error.message} Nothing was changed.` });
    }
    return leadTo(reply, panelUrl, inboxUrl(pathOf(request), asked));
  });

  async function list(
    request: FastifyRequest,
    reply: FastifyReply,
    asked: InboxRequest,
    refused: InboxParts['refused'],
  ): Promise<FastifyReply> {
    const { accountId, role } = membershipOf(request);
    const [deposits, hidden] = await Promise.all([
      listOwnUnmatched(reports, accountId, asked, { after: asked.after, limit: PAGE_SIZE + 1 }),
      countSharedUnmatched(reports, accountId, HIDDEN_MAXIMUM),
    ]);
    const shown = deposits.slice(0, PAGE_SIZE);
    const page = inboxPage({
      ...{ request: asked, refused, hidden, hiddenMaximum: HIDDEN_MAXIMUM },
      url: basePathOf(panelUrl) + pathOf(request),
      deposits: shown,
      contexts: await findDepositContexts(reports, shown),
      hasMore: deposits.length > PAGE_SIZE,
      maySettle: isAllowed(role, 'deposits.settle'),
    });
    return sendPage(request, reply, deps, page, refused === null ? 200 : 422);
  }

  async function requireDeposit(request: DepositRequest): Promise<Deposit> {
    const { accountId } = membershipOf(request);
    const deposit = await findOwnUnmatched(db, accountId, request.params.depositId);
    if (deposit === undefined) throw new ApiError('E3001');
    return deposit;
  }

  async function requireOwnPayment(request: FastifyRequest, id: string): Promise<Payment> {
    const { accountId } = membershipOf(request);
    const payment = await findOwnPayment(db, accountId, id);
    if (payment === undefined) throw new ApiError('E3001');
    return payment;
  }

  /** Makes a change, and leads to the inbox, or to where the change says below it. */
  async function settle(
    request: FastifyRequest,
    reply: FastifyReply,
    deposit: Deposit,
    wanted: Omit<NonNullable<DepositParts['wanted']>, 'refusal'> | null,
    change: () => Promise<Deposit | string>,
  ): Promise<FastifyReply> {
    try {
      const result = await change();
      const below = typeof result === 'string' ? result : '';
      return leadTo(reply, panelUrl, pathOf(request) + below);
    } catch (error) {
      if (!(error instanceof OperationRefused)) throw error;
      const fault = { field: null, message: error.message };
      const refusal = error instanceof ConsentNeeded ? error : null;
      return show(request, reply, deposit, {
        fault,
        wanted: wanted !== null && refusal !== null ? { ...wanted, refusal } : null,
      });
    }
  }

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    deposit: Deposit,
    { fault = null, fields, wanted = null }: Shown = {},
  ): Promise<FastifyReply> {
    const membership = membershipOf(request);
    const { accountId } = membership;
    const [contexts, meant, asked] = await Promise.all([
      findDepositContexts(db, [deposit]),
      findMeantPayments(db, [deposit.id]),
      findAskedAssignment(db, deposit.id),
    ]);
    const context = contexts.get(deposit.id);
    if (context === undefined) throw new ApiError('E3001');
    const own = meant.get(deposit.id);
    const askedFor =
      asked === undefined ? undefined : await findOwnPayment(db, accountId, asked.paymentId);
    const fits = context.fits.filter(({ merchantId }) => merchantId === accountId);
    const payments = await Promise.all(
      fits.map(async ({ paymentId, tokenAmount }) => ({
        tokenAmount,
        payment: await findOwnPayment(db, accountId, paymentId),
      })),
    );
    const page = depositPage({
      url: `${basePathOf(panelUrl)}${pathOf(request)}/${deposit.id}`,
      paymentsUrl: `${basePathOf(panelUrl)}${accountPath(membership)}/payments`,
      ...{ deposit, context, fault, fields, wanted },
      asked: asked && askedFor && { ...asked, payment: askedFor },
      meant: own?.merchant_id === accountId ? own : undefined,
      fits: payments.flatMap(({ payment, tokenAmount }) =>
        payment === undefined ? [] : [{ payment, tokenAmount }],
      ),
      personId: sessionOf(request).person.id,
      maySettle: isAllowed(membership.role, 'deposits.settle'),
    });
    return sendPage(request, reply, deps, page, fault === null ? 200 : 422);
  }
}
