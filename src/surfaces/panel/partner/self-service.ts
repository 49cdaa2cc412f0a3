import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { setPartner } from '#accounts/partners.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { StringEnum } from '#schemas/scalars.ts';
import {
  countMerchantsWithKeys,
  countPartnerMerchants,
} from '#storage/repositories/partners/merchants.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import type { FormFault } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { ownPath, ownUrl } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';

const PATH = '/partners/:accountId/settings';
const FIELD = 'self-service';
const SelfServiceForm = Type.Object({
  [FIELD]: StringEnum(['on', 'off'], 'Whether merchants may use keys of their own.'),
});

/** The switch for the API keys of a partner's merchants. */
export function registerSelfService(app: TypedApp, deps: PanelDependencies): void {
  const { clock, db, reports } = deps;

  app.get(PATH, withPermission('partner', 'self-service.read'), request => show(request, null));

  registerForm(app, deps, `${PATH}/self-service`, {
    rule: { for: 'partner', permission: 'self-service.set' },
    body: SelfServiceForm,
    ask: async request => {
      if (request.body[FIELD] === 'on') return null;
      const { question, switchOff } = texts(request).partner.settings;
      const { accountId } = membershipOf(request);
      const merchants = await countMerchantsWithKeys(db, accountId, new Date(clock()));
      return {
        title: question.title,
        content: html`<p>${question.consequence(merchants)}</p>`,
        submit: switchOff,
        back: ownPath(request, '/settings'),
      };
    },
    change: (request, operator) =>
      setPartner(operator, membershipOf(request).accountId, {
        selfService: request.body[FIELD] === 'on',
      }),
    again: show,
    done: (request, { self_service_api_payments: isOn }) => {
      const { partner, shell } = texts(request);
      const { switchedOff, switchedOn } = partner.settings;
      const path = ownPath(request, '/settings');
      const former = { [FIELD]: isOn ? 'off' : 'on' };
      return redirectTo(path, {
        text: isOn ? switchedOn : switchedOff,
        undo: { path: `${path}/self-service`, text: shell.undo, fields: former },
      });
    },
  });

  async function show(request: FastifyRequest, fault: FormFault | null): Promise<PanelPage> {
    const { settings } = texts(request).partner;
    const membership = membershipOf(request);
    const merchants = await countPartnerMerchants(reports, membership.accountId, {});
    const isOn = membership.kind === 'partner' && membership.selfService;
    const url = ownUrl(request, '/settings/self-service');
    return {
      title: settings.title,
      fault,
      content: html`<section aria-labelledby="self-service"><h2 id="self-service">${settings.selfService}</h2>
<p>${isOn ? settings.on(merchants) : settings.off(merchants)}</p>
${
  isChangeAllowed(membership, 'self-service.set') &&
  html`<form method="post" action="${url}">
<button name="${FIELD}" value="${isOn ? 'off' : 'on'}"${isOn && html` class="danger"`}>${isOn ? settings.switchOff : settings.switchOn}</button>
</form>`
}</section>`,
    };
  }
}
