import type { FastifyRequest } from 'fastify';
import { proposeOneAdmin, requireSecondAdmin } from '#accounts/address-changes.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import type { FormFault } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { renderFactor } from '../kit/fresh-factor.ts';
import { ownPath, ownUrl } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import { FactorForm } from './changes.ts';
import { renderDelay } from './delay.ts';

const PATH = '/merchants/:accountId/settings/second-admin';

/** Whether changes of where money goes always need a second admin. */
export function registerSecondAdmin(app: TypedApp, deps: PanelDependencies): void {
  const { addressDelayMs } = deps;
  const delayFor = (request: FastifyRequest) =>
    renderDelay(texts(request), { waitsMs: addressDelayMs, needsApproval: false });

  registerForm(app, deps, PATH, {
    rule: { for: 'merchant', permission: 'money.protect' },
    ask: async request => {
      const { requiring } = texts(request).settings.secondAdmin;
      return {
        title: requiring.title,
        content: html`<p>${requiring.consequence}</p>
<p>${requiring.back} ${delayFor(request)}</p>`,
        submit: requiring.submit,
        back: ownPath(request, '/settings/addresses'),
      };
    },
    change: (request, operator) => requireSecondAdmin(operator, membershipOf(request).accountId),
    again: (request, fault) => show(request, fault, null),
    done: request => {
      const { requiring } = texts(request).settings.secondAdmin;
      return redirectTo(ownPath(request, '/settings/addresses'), requiring.done);
    },
  });

  app.get(`${PATH}/relax`, withPermission('merchant', 'money.change'), request =>
    showRelax(request, null),
  );

  registerForm(app, deps, `${PATH}/relax`, {
    rule: { for: 'merchant', permission: 'money.change' },
    body: FactorForm,
    code: request => request.body.code,
    change: (request, operator) =>
      proposeOneAdmin(operator, membershipOf(request).accountId, addressDelayMs),
    again: showRelax,
    done: (request, { id, outcome }) => {
      const { proposed, approved } = texts(request).changes.done;
      const notice = outcome === null ? proposed : approved;
      return redirectTo(ownPath(request, `/settings/changes/${id}`), notice);
    },
  });

  function showRelax(request: FastifyRequest, fault: FormFault | null): PanelPage {
    const words = texts(request);
    const url = ownUrl(request, '/settings/second-admin/relax');
    const form = html`<form method="post" action="${url}" class="stack">
<p>${delayFor(request)}</p>
${renderFactor(request, fault)}
<button>${words.settings.secondAdmin.relax}</button>
</form>`;
    return { ...show(request, fault, form), lead: words.changes.kinds['merchant.one-admin'] };
  }

  function show(request: FastifyRequest, fault: FormFault | null, form: Html | null): PanelPage {
    const { addresses, secondAdmin } = texts(request).settings;
    const url = ownUrl(request, '/settings/addresses');
    const content = html`${form}
<p><a href="${url}">${addresses.back}</a></p>`;
    return { title: secondAdmin.title, fault, content };
  }
}
