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
import { html } from '../../pages/html.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { isUs } from '../kit/environment.ts';
import { type FormFault, renderField } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { ownPath, ownUrl } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';

const DOMAINS = '/settings/domains';
const PATH = `/merchants/:accountId${DOMAINS}`;
const DomainForm = Type.Object({ domain: Type.String() });

/** Domains that a merchant's customers may be redirected to. */
export function registerDomains(app: TypedApp, deps: PanelDependencies): void {
  const { allowsLoopback, db } = deps;
  const rule = { for: 'merchant', permission: 'domains.manage' } as const;

  app.get(PATH, withPermission('merchant', 'settings.read'), request => show(request, '', null));

  registerForm(app, deps, `${PATH}/add`, {
    rule,
    body: DomainForm,
    change: (request, operator) => {
      const domain = parseDomain(request.body.domain.trim(), allowsLoopback);
      return addDomain(operator, membershipOf(request).accountId, domain);
    },
    again: (request, fault) =>
      show(request, request.body.domain.trim(), { ...fault, field: 'domain' }),
    done: (request, { domain }) =>
      redirectTo(ownPath(request, DOMAINS), texts(request).settings.domains.added(domain)),
  });

  registerForm(app, deps, `${PATH}/remove`, {
    rule,
    body: DomainForm,
    ask: async request => {
      const { removal } = texts(request).settings.domains;
      const { domain } = request.body;
      const present = await listRedirectDomains(db, membershipOf(request).accountId);
      const remains = present.some(other => other !== domain);
      return {
        title: removal.title(domain),
        content: html`<p>${removal.consequence(remains ? 'E1012' : 'E1010')}</p>`,
        submit: removal.submit,
        back: ownPath(request, DOMAINS),
      };
    },
    change: (request, operator) =>
      removeDomain(operator, membershipOf(request).accountId, request.body.domain),
    again: (request, fault) => show(request, '', { ...fault, field: 'domain' }),
    done: (request, { domain }) =>
      redirectTo(ownPath(request, DOMAINS), texts(request).settings.domains.removed(domain)),
  });

  async function show(
    request: FastifyRequest,
    text: string,
    fault: FormFault | null,
  ): Promise<PanelPage> {
    const words = texts(request).settings.domains;
    const membership = membershipOf(request);
    const { accountId } = membership;
    const domains = await listRedirectDomains(db, accountId);
    const url = ownUrl(request, DOMAINS);
    const left = REDIRECT_DOMAINS_MAXIMUM - domains.length;
    const mayManage = isChangeAllowed(membership, 'domains.manage');
    return {
      title: words.title,
      lead: isUs(membership) ? words.usAccount : words.lead,
      fault,
      content: html`${
        domains.length === 0
          ? !isUs(membership) && html`<p class="notice">${words.none}</p>`
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
