import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import {
  addDomain,
  parseDomain,
  REDIRECT_DOMAINS_MAXIMUM,
  removeDomain,
} from '#accounts/redirect-domains.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { listRedirectDomains } from '#storage/repositories/accounts/redirect-domains.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, operatorOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import type { PanelPage } from '../kit/document.ts';
import { faultOf } from '../kit/failures.ts';
import { type FormFault, renderField } from '../kit/form.ts';
import { accountPath } from '../kit/navigation.ts';
import { type PageOrRedirect, redirectTo } from '../kit/pages.ts';
import { texts } from '../texts/index.ts';

const PATH = '/merchants/:accountId/settings/domains';
const DomainForm = Type.Object({ domain: Type.String() });

/** Domains that a merchant's customers may be redirected to. */
export function registerDomains(app: TypedApp, deps: PanelDependencies): void {
  const { allowsLoopback, db, panelUrl } = deps;
  const words = texts.settings.domains;
  const pathOf = (request: FastifyRequest) =>
    `${accountPath(membershipOf(request))}/settings/domains`;
  const managing = withPermission('merchant', 'domains.manage', { body: DomainForm });

  app.get(PATH, withPermission('merchant', 'settings.read'), request => show(request, '', null));

  app.post(`${PATH}/add`, managing, request => {
    const text = request.body.domain.trim();
    return change(request, text, merchantId =>
      addDomain(operatorOf(request, deps), merchantId, parseDomain(text, allowsLoopback)),
    );
  });

  app.post(`${PATH}/remove`, managing, request =>
    change(request, '', merchantId =>
      removeDomain(operatorOf(request, deps), merchantId, request.body.domain),
    ),
  );

  async function change(
    request: FastifyRequest,
    text: string,
    perform: (merchantId: string) => Promise<unknown>,
  ): Promise<PageOrRedirect> {
    try {
      await perform(membershipOf(request).accountId);
    } catch (error) {
      return show(request, text, { ...faultOf(error, request), field: 'domain' });
    }
    return redirectTo(pathOf(request));
  }

  async function show(
    request: FastifyRequest,
    text: string,
    fault: FormFault | null,
  ): Promise<PanelPage> {
    const membership = membershipOf(request);
    const { accountId } = membership;
    const domains = await listRedirectDomains(db, accountId);
    const url = basePathOf(panelUrl) + pathOf(request);
    const left = REDIRECT_DOMAINS_MAXIMUM - domains.length;
    const mayManage = isChangeAllowed(membership, 'domains.manage');
    return {
      title: words.title,
      lead: words.lead,
      fault,
      content: html`${
        domains.length === 0
          ? html`<p class="notice">${words.none}</p>`
          : html`<ul class="rows">${domains.map(
              domain =>
                html`<li><code>${domain}</code>${
                  mayManage &&
                  html`<form method="post" action="${url}/remove"><input type="hidden" name="domain" value="${domain}"><button class="plain">${words.remove}<span class="visually-hidden"> ${domain}</span></button></form>`
                }</li>`,
            )}</ul>`
      }
${mayManage && html`<p class="quiet">${left > 0 ? words.left(left) : words.full}</p>`}
${
  mayManage &&
  left > 0 &&
  html`<form method="post" action="${url}/add" class="stack">
${renderField({ name: 'domain', label: words.domain, value: text, placeholder: words.example, autocomplete: 'off', maxlength: 253 }, fault)}
<button>${words.add}</button>
</form>`
}`,
    };
  }
}
