import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { approveChange, cancelChange } from '#accounts/apply-changes.ts';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { Uuid } from '#schemas/scalars.ts';
import { findNamedChange } from '#storage/repositories/accounts/address-changes.ts';
import { listBranches } from '#storage/repositories/accounts/merchants.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { membershipOf, sessionOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import type { FormFault } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { accountPath } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import { changePage } from './change-views.ts';
import { readLacking } from './lacking.ts';

const PATH = '/merchants/:accountId/settings/changes/:changeId';
const params = Type.Object({ changeId: Uuid('ID of the change.') });

/** A form whose one field is the code; the demo's has none. */
export const FactorForm = Type.Object({ code: Type.String({ default: '' }) });

type ChangeRequest = FastifyRequest & { params: { readonly changeId: string } };

/** Changes of where money goes: shows, approves and cancels them. */
export function registerChanges(app: TypedApp, deps: PanelDependencies): void {
  const { addressDelayMs, db, panelUrl } = deps;
  const pathOf = (request: ChangeRequest) =>
    `${accountPath(membershipOf(request))}/settings/changes/${request.params.changeId}`;

  app.get(PATH, withPermission('merchant', 'settings.read', { params }), request =>
    show(request, null),
  );

  registerForm(app, deps, `${PATH}/cancel`, {
    rule: { for: 'merchant', permission: 'money.cancel' },
    params,
    change: (request, operator) =>
      cancelChange(operator, membershipOf(request).accountId, request.params.changeId),
    again: show,
    done: request => redirectTo(pathOf(request), texts(request).changes.done.cancelled),
  });

  registerForm(app, deps, `${PATH}/approve`, {
    rule: { for: 'merchant', permission: 'money.change' },
    params,
    body: FactorForm,
    check: requireChange,
    code: request => request.body.code,
    change: (request, operator) => {
      const { accountId } = membershipOf(request);
      return approveChange(operator, accountId, request.params.changeId, addressDelayMs);
    },
    again: show,
    done: request => redirectTo(pathOf(request), texts(request).changes.done.approved),
  });

  async function requireChange(request: ChangeRequest) {
    const { accountId } = membershipOf(request);
    const change = await findNamedChange(db, accountId, request.params.changeId);
    if (change === undefined) throw new ApiError('E3001');
    return change;
  }

  async function show(request: ChangeRequest, fault: FormFault | null): Promise<PanelPage> {
    const membership = membershipOf(request);
    const { accountId } = membership;
    const [change, branches] = await Promise.all([
      requireChange(request),
      listBranches(db, accountId),
    ]);
    const { kind, outcome, branch_id: branchId } = change;
    const isMain = kind === 'branch.main' && outcome === null && branchId !== null;
    const { person } = sessionOf(request);
    return changePage(texts(request), {
      change,
      branches,
      lacking: isMain ? await readLacking(db, membership, branches, branchId) : [],
      fault,
      url: basePathOf(panelUrl) + pathOf(request),
      viewer: {
        personId: person.id,
        isDemo: person.is_demo,
        mayChange: isChangeAllowed(membership, 'money.change'),
      },
    });
  }
}
