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
import { html } from '../../pages/html.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { isUs } from '../kit/environment.ts';
import { type FormFault, FormRefused, renderField } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { dateTime } from '../kit/format.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { pageAfter, renderList } from '../kit/list.ts';
import { ownPath, ownUrl } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import { renderComparison, renderWaiting } from './change-views.ts';
import { FactorForm } from './changes.ts';
import { isAtOnce, renderDelay } from './delay.ts';
import { readLacking, renderLacking } from './missing-addresses.ts';

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
  const { addressDelayMs, db } = deps;

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
      const path = ownPath(request, `/settings/addresses?branch=${id}`);
      const text = branches.done.added(name);
      const notice = { text, link: { path, text: addresses.title } };
      return redirectTo(
        ownPath(request, '/settings/branches'),
        isUs(membershipOf(request)) ? text : notice,
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
        return redirectTo(ownPath(request, `/settings/changes/${id}`), changes.done.proposed);
      }
      const { branch } = await requireBranch(request);
      return redirectTo(
        ownPath(request, '/settings/branches'),
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
    const url = ownUrl(request, '/settings');
    const mains = open.filter(({ kind }) => kind === 'branch.main');
    const mayMakeMain = isChangeAllowed(membership, 'money.change') && mains.length === 0;
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
      content: html`${renderWaiting(request, mains)}
${branches.length > 0 && branches.every(({ is_main }) => !is_main) && html`<p class="notice">${own.none}</p>`}
${renderList(words, {
  url: `${url}/branches`,
  query,
  page: pageAfter(branches, query.after, PAGE_SIZE),
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
    const url = ownUrl(request, '/settings/branches');
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
<form method="post" action="${url}/${branch.id}/main" class="stack">
${renderFactor(request, fault)}
<button>${isAtOnce(delay) ? makeMainTitle(branchName) : proposeMain(branchName)}</button>
</form>
<p><a href="${url}">${words.settings.addresses.back}</a></p>`,
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
