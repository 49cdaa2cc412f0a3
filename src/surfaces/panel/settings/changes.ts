import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { proposeOneAdmin, requireSecondAdmin } from '#accounts/address-changes.ts';
import { approveChange, cancelChange } from '#accounts/apply-changes.ts';
import { ApiError } from '#errors/api-error.ts';
import { EmptyForm } from '#http/page-validation.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { Uuid } from '#schemas/scalars.ts';
import { findNamedChange } from '#storage/repositories/accounts/address-changes.ts';
import { listBranches } from '#storage/repositories/accounts/merchants.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, operatorOf, sessionOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import type { PanelPage } from '../kit/document.ts';
import { faultOf } from '../kit/failures.ts';
import type { FormFault } from '../kit/form.ts';
import { changeWithFactor, renderFactor } from '../kit/fresh-factor.ts';
import { accountPath } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import { texts } from '../texts/index.ts';
import { changePage } from './change-views.ts';
import { renderDelay } from './delay.ts';

const SETTINGS = '/merchants/:accountId/settings';
const params = Type.Object({ changeId: Uuid('ID of the change.') });

/** A form whose one field is the code; the demo's has none. */
export const FactorForm = Type.Object({ code: Type.String({ default: '' }) });

/**
 * Changes of where money goes that wait: shows, approves and cancels them. Also sets whether they need a second
 * admin.
 */
export function registerChanges(app: TypedApp, deps: PanelDependencies): void {
  const { addressDelayMs, db, panelUrl } = deps;
  const settingsOf = (request: FastifyRequest) => `${accountPath(membershipOf(request))}/settings`;

  const reading = withPermission('merchant', 'settings.read', { params });
  app.get(`${SETTINGS}/changes/:changeId`, reading, request =>
    show(request, request.params.changeId, null),
  );

  const cancelling = withPermission('merchant', 'money.cancel', { params, body: EmptyForm });
  app.post(`${SETTINGS}/changes/:changeId/cancel`, cancelling, async request => {
    const { changeId } = request.params;
    const { accountId } = membershipOf(request);
    await requireChange(accountId, changeId);
    try {
      await cancelChange(operatorOf(request, deps), accountId, changeId);
    } catch (error) {
      return show(request, changeId, faultOf(error, request));
    }
    return redirectTo(`${settingsOf(request)}/changes/${changeId}`);
  });

  const approving = withPermission('merchant', 'money.change', { params, body: FactorForm });
  app.post(`${SETTINGS}/changes/:changeId/approve`, approving, async request => {
    const { changeId } = request.params;
    const { accountId } = membershipOf(request);
    await requireChange(accountId, changeId);
    try {
      await changeWithFactor(request, deps, request.body.code, operator =>
        approveChange(operator, accountId, changeId, addressDelayMs),
      );
    } catch (error) {
      return show(request, changeId, faultOf(error, request));
    }
    return redirectTo(`${settingsOf(request)}/changes/${changeId}`);
  });

  const protecting = withPermission('merchant', 'money.protect', { body: EmptyForm });
  app.post(`${SETTINGS}/second-admin`, protecting, async request => {
    try {
      await requireSecondAdmin(operatorOf(request, deps), membershipOf(request).accountId);
    } catch (error) {
      return relaxPage(request, faultOf(error, request));
    }
    return redirectTo(`${settingsOf(request)}/addresses`);
  });

  app.get(`${SETTINGS}/second-admin/relax`, withPermission('merchant', 'money.change'), request =>
    relaxPage(request, null),
  );

  const relaxing = withPermission('merchant', 'money.change', { body: FactorForm });
  app.post(`${SETTINGS}/second-admin/relax`, relaxing, async request => {
    const { accountId } = membershipOf(request);
    try {
      const { id } = await changeWithFactor(request, deps, request.body.code, operator =>
        proposeOneAdmin(operator, accountId, addressDelayMs),
      );
      return redirectTo(`${settingsOf(request)}/changes/${id}`);
    } catch (error) {
      return relaxPage(request, faultOf(error, request));
    }
  });

  async function requireChange(merchantId: string, id: string) {
    const change = await findNamedChange(db, merchantId, id);
    if (change === undefined) throw new ApiError('E3001');
    return change;
  }

  async function show(
    request: FastifyRequest,
    id: string,
    fault: FormFault | null,
  ): Promise<PanelPage> {
    const membership = membershipOf(request);
    const { accountId } = membership;
    const [change, branches] = await Promise.all([
      requireChange(accountId, id),
      listBranches(db, accountId),
    ]);
    const { person } = sessionOf(request);
    return changePage({
      change,
      branches,
      fault,
      url: `${basePathOf(panelUrl)}${settingsOf(request)}/changes/${id}`,
      viewer: {
        personId: person.id,
        isDemo: person.is_demo,
        mayChange: isChangeAllowed(membership, 'money.change'),
      },
    });
  }

  function relaxPage(request: FastifyRequest, fault: FormFault | null): PanelPage {
    const { changes, settings } = texts;
    const url = `${basePathOf(panelUrl)}${settingsOf(request)}/second-admin/relax`;
    return {
      title: settings.secondAdmin.title,
      fault,
      content: html`<form method="post" action="${url}" class="stack">
<p>${renderDelay({ waitsMs: addressDelayMs, needsApproval: false })}</p>
${renderFactor(texts, sessionOf(request).person.is_demo, fault)}
<button>${settings.secondAdmin.relax}</button>
</form>
<p><a href="${basePathOf(panelUrl)}${settingsOf(request)}/addresses">${settings.addresses.back}</a></p>`,
      lead: changes.kinds['merchant.one-admin'],
    };
  }
}
