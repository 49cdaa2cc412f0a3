import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { TypedApp } from '#http/typed-app.ts';
import { ALL_TYPES, createEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import { DEPOSIT_EVENT_TYPES, type EventType } from '#schemas/event.ts';
import { breakable, html } from '../../../pages/html.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, FormRefused, renderField } from '../../kit/form.ts';
import { registerForm } from '../../kit/form-route.ts';
import { ownUrl } from '../../kit/navigation.ts';
import { issueOnce } from '../../kit/secrets.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { WEBHOOKS, WEBHOOKS_PATH } from './endpoint.ts';
import { type EndpointFields, NewEndpointForm, TYPE_CHOICES } from './forms.ts';
import { issuedPage } from './list.ts';

const PATH = `${WEBHOOKS_PATH}/new`;
const RULE = { for: 'merchant', permission: 'webhooks.manage' } as const;

/** The form that adds an endpoint. */
export function registerNewEndpoint(app: TypedApp, deps: PanelDependencies): void {
  const { allowsLoopback, keyring } = deps;

  app.get(PATH, withPermission(RULE.for, RULE.permission), request =>
    show(request, { url: '', type: [ALL_TYPES] }, null),
  );

  registerForm(app, deps, PATH, {
    rule: RULE,
    body: NewEndpointForm,
    change: async request => {
      const { intent, url, type: types } = request.body;
      requireTypes(texts(request), types);
      const { accountId: merchantId } = membershipOf(request);
      const endpoint = {
        merchantId,
        url: url.trim(),
        types,
        allowPrivateAddresses: allowsLoopback,
      };
      return issueOnce(request, deps, intent, operator =>
        createEndpoint(operator, keyring, endpoint),
      );
    },
    again: (request, fault) => {
      const { url, type } = request.body;
      // What is refused later is about the URL.
      return show(request, { url: url.trim(), type }, { ...fault, field: fault.field ?? 'url' });
    },
    done: (request, issued) => {
      const { created, lead } = texts(request).webhooks.issued;
      return issuedPage(request, issued, created, lead);
    },
  });

  /** The form has a new ID each time: the endpoint is made once, however often it is sent. */
  function show(
    request: FastifyRequest,
    { url: value, type: ticked }: EndpointFields,
    fault: FormFault | null,
  ): PanelPage {
    const { everyType, form, ...words } = texts(request).webhooks;
    /** What each type of event reports. */
    const types: Readonly<Record<EventType, string>> = words.types;
    const hint = form.urlHint(allowsLoopback);
    return {
      title: form.title,
      fault,
      content: html`<form method="post" action="${ownUrl(request, WEBHOOKS)}/new" class="stack">
<input type="hidden" name="intent" value="${randomUUID()}">
${renderField({ name: 'url', label: form.url, type: 'url', value, hint, autocomplete: 'off', maxlength: 2048, placeholder: form.urlExample }, fault)}
<fieldset id="types"><legend>${form.types}</legend>${
        fault?.field === 'types' && html`<p class="fault">${fault.message}</p>`
      }${TYPE_CHOICES.map(
        type =>
          html`<p class="check"><input type="checkbox" id="${type}" name="type" value="${type}"${ticked.includes(type) && html` checked`}><label for="${type}">${type === ALL_TYPES ? everyType : html`${types[type]} <code>${breakable(type)}</code>`}</label></p>`,
      )}</fieldset>
<button>${form.submit}</button>
</form>`,
    };
  }
}

/**
 * Refuses a form that says nothing of what the endpoint receives, or two things. Events of deposits are not among
 * every event of a payment.
 * @throws FormRefused
 */
function requireTypes({ webhooks: { form } }: PanelTexts, types: EndpointFields['type']): void {
  if (types.length === 0) throw new FormRefused('types', form.noType);
  const others: readonly string[] = [ALL_TYPES, ...DEPOSIT_EVENT_TYPES];
  if (types.includes(ALL_TYPES) && types.some(type => !others.includes(type))) {
    throw new FormRefused('types', form.everyAndSome);
  }
}
