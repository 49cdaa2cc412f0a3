import { Type } from '@sinclair/typebox';
import { approveChange, cancelChange } from '#accounts/apply-changes.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { Uuid } from '#schemas/scalars.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { FormFault } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { ownPath } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import { type ChangeRequest, changePage, requireChange } from './change-views.ts';

const PATH = '/merchants/:accountId/settings/changes/:changeId';
const params = Type.Object({ changeId: Uuid('ID of the change.') });

/** A form whose one field is the code; the demo's has none. */
export const FactorForm = Type.Object({ code: Type.String({ default: '' }) });

/** Changes of where money goes: shows, approves and cancels them. */
export function registerChanges(app: TypedApp, deps: PanelDependencies): void {
  const pathOf = (request: ChangeRequest) =>
    ownPath(request, `/settings/changes/${request.params.changeId}`);
  const again = (request: ChangeRequest, fault: FormFault | null) =>
    changePage(request, deps, fault);

  app.get(PATH, withPermission('merchant', 'settings.read', { params }), request =>
    changePage(request, deps, null),
  );

  registerForm(app, deps, `${PATH}/cancel`, {
    rule: { for: 'merchant', permission: 'money.cancel' },
    params,
    change: (request, operator) =>
      cancelChange(operator, membershipOf(request).accountId, request.params.changeId),
    again,
    done: request => redirectTo(pathOf(request), texts(request).changes.done.cancelled),
  });

  registerForm(app, deps, `${PATH}/approve`, {
    rule: { for: 'merchant', permission: 'money.change' },
    params,
    body: FactorForm,
    check: request => requireChange(request, deps),
    code: request => request.body.code,
    change: (request, operator) => {
      const { accountId } = membershipOf(request);
      return approveChange(operator, accountId, request.params.changeId, deps.addressDelayMs);
    },
    again,
    done: request => redirectTo(pathOf(request), texts(request).changes.done.approved),
  });
}
