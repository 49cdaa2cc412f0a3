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
import { membershipOf, operatorOf, sessionOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import type { PanelPage } from '../kit/document.ts';
import { faultOf } from '../kit/failures.ts';
import { type FormFault, renderField } from '../kit/form.ts';
import { dateTime } from '../kit/format.ts';
import { changeWithFactor, renderFactor } from '../kit/fresh-factor.ts';
import { accountPath } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import { pageAfter, renderNext, renderNoneFurther } from '../kit/table.ts';
import { texts } from '../texts/index.ts';
import { renderComparison, renderWaiting } from './change-views.ts';
import { FactorForm } from './changes.ts';
import { renderDelay } from './delay.ts';

const PATH = '/merchants/:accountId/settings/branches';
const PAGE_SIZE = 25;

const params = Type.Object({ branchId: Uuid('ID of the branch.') });
/** Where a page of the list begins. */
const BranchesQuery = Type.Object({
  after: Type.Optional(Uuid('ID of the one before the page.')),
});
const BranchForm = Type.Object({ name: Type.String() });

/** A merchant's branches: adding one, and making one the main branch, which waits before it takes effect. */
export function registerBranches(app: TypedApp, deps: PanelDependencies): void {
  const { addressDelayMs, db, panelUrl } = deps;
  const words = texts.settings.branches;
  const settingsOf = (request: FastifyRequest) => `${accountPath(membershipOf(request))}/settings`;
  const urlOf = (request: FastifyRequest) => basePathOf(panelUrl) + settingsOf(request);

  const listing = withPermission('merchant', 'settings.read', { querystring: BranchesQuery });
  app.get(PATH, listing, request => list(request, null, { after: request.query.after }));

  app.post(
    PATH,
    withPermission('merchant', 'branches.add', { body: BranchForm }),
    async request => {
      const { name } = request.body;
      if (parseName(name) === undefined) {
        return list(request, { field: 'name', message: words.fault }, { name });
      }
      const { accountId: merchantId } = membershipOf(request);
      try {
        // Never as the main branch: that change has to wait.
        await createBranch(operatorOf(request, deps), { merchantId, name, main: false });
      } catch (error) {
        return list(request, { ...faultOf(error, request), field: 'name' }, { name });
      }
      return redirectTo(`${settingsOf(request)}/branches`);
    },
  );

  const opening = withPermission('merchant', 'money.change', { params });
  app.get(`${PATH}/:branchId/main`, opening, request =>
    showMain(request, request.params.branchId, null),
  );

  const proposing = withPermission('merchant', 'money.change', { params, body: FactorForm });
  app.post(`${PATH}/:branchId/main`, proposing, async request => {
    const { accountId: merchantId } = membershipOf(request);
    const { branchId } = request.params;
    requireBranch(await listBranches(db, merchantId), branchId);
    try {
      const change = await changeWithFactor(request, deps, request.body.code, operator =>
        proposeMainBranch(operator, { merchantId, branchId }, addressDelayMs),
      );
      const isOpen = change.outcome === null;
      return redirectTo(`${settingsOf(request)}/${isOpen ? `changes/${change.id}` : 'branches'}`);
    } catch (error) {
      return showMain(request, branchId, faultOf(error, request));
    }
  });

  async function list(
    request: FastifyRequest,
    fault: FormFault | null,
    { after, name = '' }: { readonly after?: string | undefined; readonly name?: string },
  ): Promise<PanelPage> {
    const membership = membershipOf(request);
    const { accountId } = membership;
    const [branches, open] = await Promise.all([
      listBranches(db, accountId),
      listOpenChanges(db, accountId),
    ]);
    const url = urlOf(request);
    const mayChange = isChangeAllowed(membership, 'money.change');
    const { shown, last } = pageAfter(branches, after, PAGE_SIZE);
    const mains = open.filter(({ kind }) => kind === 'branch.main');
    return {
      title: words.title,
      lead: words.lead,
      fault,
      content: html`${renderWaiting(`${url}/changes`, mains, isChangeAllowed(membership, 'money.cancel'))}
${!branches.some(({ is_main }) => is_main) && html`<p class="notice">${words.none}</p>`}
${after !== undefined && shown.length === 0 && renderNoneFurther(texts, `${url}/branches`)}
${
  shown.length > 0 &&
  html`<ul class="rows">${shown.map(
    ({ id, name: own, is_main: isMain, created_at: at }) =>
      html`<li><div><strong>${own}</strong>${isMain && html` <span class="tag good">${words.main}</span>`}<br>
<span class="quiet">${words.added} ${dateTime(texts, at)}</span></div>
<div class="buttons"><a href="${url}/addresses?branch=${id}">${words.addresses}<span class="visually-hidden"> (${own})</span></a>${
        mayChange &&
        !isMain &&
        mains.length === 0 &&
        html` <a href="${url}/branches/${id}/main">${words.makeMain}<span class="visually-hidden"> (${own})</span></a>`
      }</div></li>`,
  )}</ul>`
}
${renderNext(texts, `${url}/branches`, last)}
${
  isChangeAllowed(membership, 'branches.add') &&
  html`<section aria-labelledby="add"><h2 id="add">${words.add}</h2>
<form method="post" action="${url}/branches" class="stack">
${renderField({ name: 'name', label: words.name, value: name, maxlength: 200, autocomplete: 'off' }, fault)}
<button>${words.add}</button>
</form></section>`
}`,
    };
  }

  async function showMain(
    request: FastifyRequest,
    branchId: string,
    fault: FormFault | null,
  ): Promise<PanelPage> {
    const { accountId } = membershipOf(request);
    const [branches, delay] = await Promise.all([
      listBranches(db, accountId),
      readDelay(db, accountId, addressDelayMs),
    ]);
    const { name } = requireBranch(branches, branchId);
    const former = branches.filter(({ is_main }) => is_main).map(({ id }) => id);
    const nameOf = (id: string) => branches.find(branch => branch.id === id)?.name ?? id;
    const comparison = { kind: 'branch.main', former, address: null, branchName: name } as const;
    return {
      title: words.makeMainTitle(name),
      lead: words.lead,
      fault,
      content: html`${renderComparison(comparison, nameOf)}
<p>${renderDelay(delay)}</p>
<form method="post" action="${urlOf(request)}/branches/${branchId}/main" class="stack">
${renderFactor(texts, sessionOf(request).person.is_demo, fault)}
<button>${texts.changes.propose}</button>
</form>
<p><a href="${urlOf(request)}/branches">${texts.settings.addresses.back}</a></p>`,
    };
  }
}

function requireBranch(branches: readonly Branch[], id: string): Branch {
  const found = branches.find(branch => branch.id === id);
  if (found === undefined) throw new ApiError('E3001');
  return found;
}
