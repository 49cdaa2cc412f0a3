import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { OperationRefused } from '#accounts/audit/audited-change.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { dismissDeposit, dismissDeposits, type RemedyOf } from '#onchain/settlement/inbox.ts';
import { Uuid } from '#schemas/scalars.ts';
import type { Deposit } from '#storage/database/deposit-tables.ts';
import { findOwnUnmatchedOf } from '#storage/repositories/deposits/account-deposits.ts';
import { html } from '../../../pages/html.ts';
import { membershipOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { Question } from '../../kit/confirmation.ts';
import { FormRefused } from '../../kit/form.ts';
import { registerForm } from '../../kit/form-route.ts';
import { dollars } from '../../kit/format.ts';
import { filtersIn } from '../../kit/list.ts';
import { ownPath } from '../../kit/navigation.ts';
import { type NamedNetworks, nameAmount, rememberNetworks } from '../../kit/networks.ts';
import { addressOf } from '../../kit/page-address.ts';
import { redirectTo } from '../../kit/pages.ts';
import { renderFacts } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { remedyOf } from '../transfers.ts';
import { DEPOSIT_PATH, DepositParams, INBOX_PATH, requireDeposit } from './deposit-parts.ts';
import { INBOX_PAGE_SIZE, InboxQuery, inboxPage } from './inbox.ts';
import { RemedyForm, readRemedy } from './remedy.ts';
import { depositPage } from './views.ts';

/** Dismisses the deposits that are ticked on a page of the inbox. */
const DismissForm = Type.Object({
  deposit: Type.Array(Uuid('ID of the deposit.'), { maxItems: INBOX_PAGE_SIZE }),
  ...RemedyForm.properties,
});

/** The forms that dismiss one deposit, or those that are ticked in the inbox. */
export function registerDismissals(app: TypedApp, deps: PanelDependencies): void {
  const { db, reports } = deps;
  const readNetworks = rememberNetworks(reports);
  const rule = { for: 'merchant', permission: 'deposits.settle' } as const;

  registerForm(app, deps, `${DEPOSIT_PATH}/dismiss`, {
    rule,
    params: DepositParams,
    body: RemedyForm,
    ask: async request => {
      const { id } = await requireDeposit(request, deps);
      const words = texts(request);
      const remedy = readRemedy(words, request.body);
      const waiting = await findOwnUnmatchedOf(db, membershipOf(request).accountId, [id]);
      if (waiting.length === 0) return null;
      const back = ownPath(request, `/unmatched/${id}`);
      return dismissalQuestion(words, await readNetworks(), waiting, remedy, back);
    },
    change: async (request, operator) => {
      const deposit = await requireDeposit(request, deps);
      await dismissDeposit(operator, deposit.id, readRemedy(texts(request), request.body));
      return [deposit];
    },
    again: (request, fault) => depositPage(request, deps, { fault, fields: request.body }),
    done: (request, deposits) =>
      redirectTo(ownPath(request, '/unmatched'), describeDismissed(texts(request), deposits)),
  });

  registerForm(app, deps, `${INBOX_PATH}/dismiss`, {
    rule,
    query: InboxQuery,
    body: DismissForm,
    ask: async request => {
      const words = texts(request);
      const remedy = readRemedy(words, request.body);
      const deposits = await requireWaiting(request, request.body.deposit);
      const back = addressOf(ownPath(request, '/unmatched'), filtersIn(request.query));
      return dismissalQuestion(words, await readNetworks(), deposits, remedy, back);
    },
    change: async (request, operator) => {
      const { deposit: chosen, ...fields } = request.body;
      const words = texts(request);
      const remedy = readRemedy(words, fields);
      const deposits = await requireWaiting(request, chosen);
      try {
        await dismissDeposits(operator, chosen, remedy);
      } catch (error) {
        if (!(error instanceof OperationRefused)) throw error;
        throw new FormRefused(null, words.unmatched.dismissal.faults.refused(error.message));
      }
      return deposits;
    },
    again: async (request, fault) => {
      const { deposit: chosen, ...fields } = request.body;
      const { after: _, ...filters } = request.query;
      const refused = { fault, chosen, fields };
      return inboxPage(request, deps, await readNetworks(), filters, refused);
    },
    done: (request, deposits) =>
      redirectTo(
        addressOf(ownPath(request, '/unmatched'), filtersIn(request.query)),
        describeDismissed(texts(request), deposits),
      ),
  });

  /** @throws FormRefused unless all of them wait and are the merchant's. */
  async function requireWaiting(
    request: FastifyRequest,
    chosen: readonly string[],
  ): Promise<Deposit[]> {
    const { faults } = texts(request).unmatched.dismissal;
    const own = await findOwnUnmatchedOf(db, membershipOf(request).accountId, chosen);
    if (own.length === 0) throw new FormRefused(null, faults.noneTicked);
    if (own.length < new Set(chosen).size) throw new FormRefused(null, faults.someGone);
    return own;
  }
}

/** Asks before deposits are dismissed, with their amounts and what they are worth. */
function dismissalQuestion(
  words: PanelTexts,
  networks: NamedNetworks,
  deposits: readonly Deposit[],
  remedy: RemedyOf,
  back: string,
): Question {
  const { dismissal, facts } = words.unmatched;
  const returned = remedy.remedy === 'returned' ? remedy : undefined;
  const amounts = deposits.map(({ blockchain_id: id, token_amount: units }) =>
    nameAmount(networks, id, units),
  );
  return {
    title: dismissal.question(deposits.length),
    content: html`${renderFacts([
      [dismissal.amounts, amounts.join(', ')],
      [facts.worth, worthOf(words, deposits)],
      [
        dismissal.remedy,
        remedyOf(words, {
          remedy: remedy.remedy,
          remedy_to: returned?.to ?? null,
          remedy_hash: returned?.hash ?? null,
          remedy_note: remedy.note ?? null,
        }),
      ],
    ])}
<p>${dismissal.consequence(deposits.length)}</p>`,
    submit: dismissal.submit,
    back,
  };
}

function describeDismissed(words: PanelTexts, deposits: readonly Deposit[]): string {
  return words.unmatched.dismissal.done(deposits.length, worthOf(words, deposits));
}

/** What deposits are worth together, as far as it is known. */
function worthOf({ unmatched }: PanelTexts, deposits: readonly Deposit[]): string {
  const { worth, worthUnknown } = unmatched.dismissal;
  const known = deposits.flatMap(({ value_cents: cents }) => cents ?? []);
  if (known.length === 0) return worthUnknown;
  const sum = known.reduce((total, cents) => total + cents, 0);
  return worth(dollars(sum), deposits.length - known.length);
}
