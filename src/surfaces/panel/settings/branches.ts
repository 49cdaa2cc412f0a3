import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { proposeMainBranch, readDelay } from '#accounts/address-changes.ts';
import { createBranch } from '#accounts/branches.ts';
import { parseName } from '#accounts/input.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { Uuid } from '#schemas/scalars.ts';
import type { Branch } from '#storage/database/account-tables.ts';
import { listOpenChanges } from '#storage/repositories/accounts/address-changes.ts';
import { listBranches } from '#storage/repositories/accounts/merchants.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, sessionOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { isUs } from '../kit/environment.ts';
import { type FormFault, FormRefused, renderField } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { dateTime } from '../kit/format.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { renderList } from '../kit/list.ts';
import { accountPath } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import { pageAfter } from '../kit/table.ts';
import { renderComparison, renderWaiting } from './change-views.ts';
import { FactorForm } from './changes.ts';
import { isAtOnce, renderDelay } from './delay.ts';
import { readLacking, renderLacking } from './lacking.ts';

const PATH = '/merchants/:accountId/settings/branches';
const PAGE_SIZE = 25;

const params = Type.Object({ branchId: Uuid('ID of the branch.') });
/** Where a page of the list begins. */
const BranchesQuery = Type.Object({
  after: Type.Optional(Uuid('ID of the one before the page.')),
});
const BranchForm = Type.Object({ name: Type.String() });

type BranchRequest = FastifyRequest & { params: { readonly branchId: string } };

/** A merchant's branches: adding one, and making one the main branch, which waits before it takes effect. */
export function registerBranches(app: TypedApp, deps: PanelDependencies): void {
  const { addressDelayMs, db, panelUrl } = deps;
  const settingsOf = (request: FastifyRequest) => `${accountPath(membershipOf(request))}/settings`;
  const urlOf = (request: FastifyRequest) => basePathOf(panelUrl) + settingsOf(request);

  const listing = withPermission('merchant', 'settings.read', { querystring: BranchesQuery });
  app.get(PATH, listing, request => list(request, request.query, null));

  registerForm(app, deps, PATH, {
    rule: { for: 'merchant', permission: 'branches.add' },
    body: BranchForm,
    change: (request, operator) => {
      const { name } = request.body;
      if (parseName(name) === undefined) {
        throw new FormRefused('name', texts(request).settings.branches.fault);
      }
      const { accountId: merchantId } = membershipOf(request);
      // Never as the main branch: that change has to wait.
      return createBranch(operator, { merchantId, name, main: false });
    },
    again: (request, fault) => list(request, {}, fault, request.body.name),
    done: (request, { id, name }) => {
      const { branches, addresses } = texts(request).settings;
      const link = {
        path: `${settingsOf(request)}/addresses?branch=${id}`,
        text: addresses.title,
      };
      const text = branches.done.added(name);
      return redirectTo(
        `${settingsOf(request)}/branches`,
        isUs(membershipOf(request)) ? text : { text, link },
      );
    },
  });

  app.get(
    `${PATH}/:branchId/main`,
    withPermission('merchant', 'money.change', { params }),
    request => showMain(request, null),
  );

  registerForm(app, deps, `${PATH}/:branchId/main`, {
    rule: { for: 'merchant', permission: 'money.change' },
    params,
    body: FactorForm,
    check: requireBranch,
    code: request => request.body.code,
    change: (request, operator) => {
      const { accountId: merchantId } = membershipOf(request);
      const { branchId } = request.params;
      return proposeMainBranch(operator, { merchantId, branchId }, addressDelayMs);
    },
    again: showMain,
    done: async (request, { id, outcome }) => {
      const { changes, settings } = texts(request);
      if (outcome === null) {
        return redirectTo(`${settingsOf(request)}/changes/${id}`, changes.done.proposed);
      }
      const { branch } = await requireBranch(request);
      return redirectTo(
        `${settingsOf(request)}/branches`,
        settings.branches.done.main(branch.name),
      );
    },
  });

  async function list(
    request: FastifyRequest,
    query: { readonly after?: string | undefined },
    fault: FormFault | null,
    typed = '',
  ): Promise<PanelPage> {
    const words = texts(request);
    const own = words.settings.branches;
    const membership = membershipOf(request);
    const { accountId } = membership;
    const [branches, open] = await Promise.all([
      listBranches(db, accountId),
      listOpenChanges(db, accountId),
    ]);
    const url = urlOf(request);
    const mains = open.filter(({ kind }) => kind === 'branch.main');
    const mayCancel = isChangeAllowed(membership, 'money.cancel');
    const mayMakeMain = isChangeAllowed(membership, 'money.change') && mains.length === 0;
    const { shown, last } = pageAfter(branches, query.after, PAGE_SIZE);
    const renderBranch = ({ id, name, is_main: isMain, created_at: at }: Branch) =>
      html`<li><div><strong>${name}</strong>${isMain && html` <span class="tag good">${own.main}</span>`}<br>
<span class="quiet">${own.added} ${dateTime(words, at)}</span></div>
<div class="buttons"><a href="${url}/addresses?branch=${id}">${own.addresses}<span class="visually-hidden"> (${name})</span></a>${
        mayMakeMain &&
        !isMain &&
        html` <a href="${url}/branches/${id}/main">${own.makeMain}<span class="visually-hidden"> (${name})</span></a>`
      }</div></li>`;
    return {
      title: own.title,
      lead: leadFor(request),
      fault,
      content: html`${renderWaiting(words, `${url}/changes`, mains, mayCancel)}
${branches.length > 0 && branches.every(({ is_main }) => !is_main) && html`<p class="notice">${own.none}</p>`}
${renderList(words, {
  url: `${url}/branches`,
  query,
  page: { rows: shown, newer: null, older: last === undefined ? null : { after: last } },
  more: words.lists.pages.next,
  render: rows => html`<ul class="rows">${rows.map(renderBranch)}</ul>`,
  none: own.none,
})}
${
  isChangeAllowed(membership, 'branches.add') &&
  html`<section aria-labelledby="add"><h2 id="add">${own.add}</h2>
<form method="post" action="${url}/branches" class="stack">
${renderField({ name: 'name', label: own.name, value: typed, maxlength: 200, autocomplete: 'off' }, fault)}
<button>${own.add}</button>
</form></section>`
}`,
    };
  }

  /** What making a branch the main one does, and the form that proposes it with a code. */
  async function showMain(request: BranchRequest, fault: FormFault | null): Promise<PanelPage> {
    const words = texts(request);
    const membership = membershipOf(request);
    const { branch, branches } = await requireBranch(request);
    const [delay, lacking] = await Promise.all([
      readDelay(db, membership.accountId, addressDelayMs),
      readLacking(db, membership, branches, branch.id),
    ]);
    const { name: branchName } = branch;
    const { makeMainTitle, proposeMain } = words.settings.branches;
    const former = branches.filter(({ is_main }) => is_main).map(({ id }) => id);
    const comparison = { kind: 'branch.main', former, address: null, branchName } as const;
    return {
      title: makeMainTitle(branchName),
      lead: leadFor(request),
      fault,
      content: html`${renderComparison(words, comparison, branches)}
${renderLacking(words, branchName, lacking)}
<p>${renderDelay(words, delay)}</p>
<form method="post" action="${urlOf(request)}/branches/${branch.id}/main" class="stack">
${renderFactor(words, sessionOf(request).person.is_demo, fault)}
<button>${isAtOnce(delay) ? makeMainTitle(branchName) : proposeMain(branchName)}</button>
</form>
<p><a href="${urlOf(request)}/branches">${words.settings.addresses.back}</a></p>`,
    };
  }

  function leadFor(request: FastifyRequest): string {
    const { lead, leadUs } = texts(request).settings.branches;
    return isUs(membershipOf(request)) ? leadUs : lead;
  }

  async function requireBranch(request: BranchRequest) {
    const branches = await listBranches(db, membershipOf(request).accountId);
    const branch = branches.find(({ id }) => id === request.params.branchId);
    if (branch === undefined) throw new ApiError('E3001');
    return { branch, branches };
  }
}
