import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { ConsentNeeded } from '#onchain/settlement/assignment.ts';
import {
  askToAssign,
  assignDeposit,
  dismissDeposit,
  dismissDeposits,
} from '#onchain/settlement/inbox.ts';
import { Uuid } from '#schemas/scalars.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { listSharedAddresses } from '#storage/repositories/accounts/address-holders.ts';
import {
  countSharedUnmatched,
  findOwnUnmatched,
  findOwnUnmatchedOf,
  listOwnUnmatched,
} from '#storage/repositories/deposits/account-deposits.ts';
import { findAskedAssignment } from '#storage/repositories/deposits/asked-assignments.ts';
import { findDepositContexts } from '#storage/repositories/deposits/context.ts';
import { findMeantPayments } from '#storage/repositories/deposits/deviations.ts';
import { findOwnPayment } from '#storage/repositories/payments/payments.ts';
import { basePathOf } from '../../../pages/base-path.ts';
import { membershipOf, operatorOf, sessionOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import type { PanelPage } from '../../kit/document.ts';
import { faultOf } from '../../kit/failures.ts';
import type { FormFault } from '../../kit/form.ts';
import { accountPath } from '../../kit/navigation.ts';
import { redirectTo } from '../../kit/pages.ts';
import { texts } from '../../texts/index.ts';
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

const { faults } = texts.unmatched.dismissal;

const PATH = '/merchants/:accountId/unmatched';
const PAGE_SIZE = 25;
/** Hidden deposits are counted up to this. */
const HIDDEN_MAXIMUM = 100;

const params = Type.Object({ depositId: Uuid('ID of the deposit.') });
/** Dismisses the deposits that are ticked on a page of the inbox. */
const DismissForm = Type.Object({
  deposit: Type.Array(Uuid('ID of the deposit.'), { maxItems: PAGE_SIZE }),
  ...RemedyForm.properties,
});

type DepositRequest = FastifyRequest & { params: Static<typeof params> };

/** What a deposit's page shows beside the deposit. */
type Extra = Partial<Pick<DepositParts, 'fault' | 'fields' | 'wanted'>>;

/** Deposits that no payment took: an inbox to assign or dismiss them. */
export function registerUnmatched(app: TypedApp, deps: PanelDependencies): void {
  const { addressDelayMs, db, panelUrl, reports } = deps;
  const pathOf = (request: FastifyRequest) => `${accountPath(membershipOf(request))}/unmatched`;
  const settling = <T extends TObject>(body: T) =>
    withPermission('merchant', 'deposits.settle', { params, body });

  const listed = { querystring: InboxQuery };
  app.get(PATH, withPermission('merchant', 'deposits.read', listed), request =>
    list(request, readInboxRequest(request.query), null),
  );

  const reading = withPermission('merchant', 'deposits.read', { params });
  app.get(`${PATH}/:depositId`, reading, async request =>
    show(request, await requireDeposit(request)),
  );

  app.post(`${PATH}/:depositId/assign`, settling(AssignForm), async request => {
    const deposit = await requireDeposit(request);
    const { payment: id, ...fields } = request.body;
    const payment = await requireOwnPayment(request, id);
    const { sure, arrived, due } = fields;
    const isTyped = arrived !== '' && due !== '';
    const consent = {
      otherOrder: sure === 'yes',
      amounts: isTyped ? { arrived, due } : undefined,
    };
    try {
      const operator = operatorOf(request, deps);
      await assignDeposit(operator, deposit.id, payment.id, consent, addressDelayMs);
    } catch (error) {
      const fault = faultOf(error, request);
      const wanted = error instanceof ConsentNeeded ? { payment, fields, refusal: error } : null;
      return show(request, deposit, { fault, wanted });
    }
    return redirectTo(pathOf(request));
  });

  app.post(`${PATH}/:depositId/ask`, settling(AskForm), async request => {
    const deposit = await requireDeposit(request);
    const payment = await requireOwnPayment(request, request.body.payment);
    const operator = { ...operatorOf(request, deps), personId: sessionOf(request).person.id };
    try {
      await askToAssign(operator, deposit.id, payment.id, addressDelayMs);
    } catch (error) {
      return show(request, deposit, { fault: faultOf(error, request) });
    }
    return redirectTo(`${pathOf(request)}/${deposit.id}`);
  });

  app.post(`${PATH}/:depositId/dismiss`, settling(RemedyForm), async request => {
    const deposit = await requireDeposit(request);
    const fields = request.body;
    const remedy = readRemedy(fields);
    if ('field' in remedy) return show(request, deposit, { fault: remedy, fields });
    try {
      await dismissDeposit(operatorOf(request, deps), deposit.id, remedy);
    } catch (error) {
      return show(request, deposit, { fault: faultOf(error, request) });
    }
    return redirectTo(pathOf(request));
  });

  const dismissing = { ...listed, body: DismissForm };
  const permitted = withPermission('merchant', 'deposits.settle', dismissing);
  app.post(`${PATH}/dismiss`, permitted, async request => {
    const { deposit: chosen, ...fields } = request.body;
    const remedy = readRemedy(fields);
    const asked = { ...readInboxRequest(request.query), after: undefined };
    const refuse = (fault: FormFault) => list(request, asked, { fault, chosen, fields });
    if ('field' in remedy) return refuse(remedy);
    const own = await findOwnUnmatchedOf(db, membershipOf(request).accountId, chosen);
    if (own.length === 0) return refuse({ field: null, message: faults.noneTicked });
    if (own.length < new Set(chosen).size) {
      return refuse({ field: null, message: faults.someGone });
    }
    try {
      await dismissDeposits(operatorOf(request, deps), chosen, remedy);
    } catch (error) {
      const { message } = faultOf(error, request);
      return refuse({ field: null, message: faults.refused(message) });
    }
    return redirectTo(inboxUrl(pathOf(request), asked));
  });

  async function list(
    request: FastifyRequest,
    asked: InboxRequest,
    refused: InboxParts['refused'],
  ): Promise<PanelPage> {
    const membership = membershipOf(request);
    const { accountId } = membership;
    const [deposits, hidden, sharedAddresses] = await Promise.all([
      listOwnUnmatched(reports, accountId, asked, { after: asked.after, limit: PAGE_SIZE + 1 }),
      countSharedUnmatched(reports, accountId, HIDDEN_MAXIMUM),
      listSharedAddresses(reports, accountId),
    ]);
    const shown = deposits.slice(0, PAGE_SIZE);
    return inboxPage({
      request: asked,
      refused,
      hidden,
      hiddenMaximum: HIDDEN_MAXIMUM,
      sharedAddresses,
      url: basePathOf(panelUrl) + pathOf(request),
      deposits: shown,
      contexts: await findDepositContexts(reports, shown),
      hasMore: deposits.length > PAGE_SIZE,
      maySettle: isChangeAllowed(membership, 'deposits.settle'),
    });
  }

  async function requireDeposit(request: DepositRequest): Promise<Deposit> {
    const { accountId } = membershipOf(request);
    const deposit = await findOwnUnmatched(db, accountId, request.params.depositId);
    if (deposit === undefined) throw new ApiError('E3001');
    return deposit;
  }

  async function requireOwnPayment(request: FastifyRequest, id: string): Promise<Payment> {
    const payment = await findOwnPayment(db, membershipOf(request).accountId, id);
    if (payment === undefined) throw new ApiError('E3001');
    return payment;
  }

  async function show(
    request: FastifyRequest,
    deposit: Deposit,
    { fault = null, fields, wanted = null }: Extra = {},
  ): Promise<PanelPage> {
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
    const askedFor = asked && (await findOwnPayment(db, accountId, asked.paymentId));
    const fits = context.fits.filter(({ merchantId }) => merchantId === accountId);
    const payments = await Promise.all(
      fits.map(async ({ paymentId, tokenAmount }) => ({
        tokenAmount,
        payment: await findOwnPayment(db, accountId, paymentId),
      })),
    );
    return depositPage({
      url: `${basePathOf(panelUrl)}${pathOf(request)}/${deposit.id}`,
      paymentsUrl: `${basePathOf(panelUrl)}${accountPath(membership)}/payments`,
      deposit,
      context,
      fault,
      fields,
      wanted,
      asked: asked && askedFor && { ...asked, payment: askedFor },
      meant: own?.merchant_id === accountId ? own : undefined,
      fits: payments.flatMap(({ payment, tokenAmount }) =>
        payment === undefined ? [] : [{ payment, tokenAmount }],
      ),
      personId: sessionOf(request).person.id,
      maySettle: isChangeAllowed(membership, 'deposits.settle'),
    });
  }
}
