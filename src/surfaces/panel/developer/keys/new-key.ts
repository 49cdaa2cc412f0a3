import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { ownerOf } from '#accounts/access/key-holders.ts';
import { parseName } from '#accounts/input.ts';
import { createKey } from '#accounts/keys/manage-keys.ts';
import { MERCHANT_SCOPES, type Scope } from '#accounts/keys/scopes.ts';
import type { TypedApp } from '#http/typed-app.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { parseDateBound } from '#time/date-bound.ts';
import { html } from '../../../pages/html.ts';
import { membershipOf, withPermission } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, FormRefused, renderField, renderSelect } from '../../kit/form.ts';
import { registerForm } from '../../kit/form-route.ts';
import { ownUrl } from '../../kit/navigation.ts';
import { PLACES } from '../../kit/places.ts';
import { issueOnce } from '../../kit/secrets.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { type KeyForm, MerchantKeyForm, PartnerKeyForm } from './forms.ts';
import { keysOf } from './paths.ts';
import { issuedKeyPage } from './views.ts';

/** When a new key expires, as the form offers it. */
const EXPIRIES = ['never', '90', '365', 'date'] as const;
const DAY_MS = 24 * 60 * 60_000;

/** What a form holds; its intent is new whenever it is shown. */
type NewKey = Omit<KeyForm, 'intent'>;

/** What the form begins with. */
const EMPTY_FORM: NewKey = {
  name: '',
  expiry: 'never',
  date: '',
  'payment_prompts:write': 'on',
  'payment_prompts:read': 'on',
  'blockchains:read': 'on',
};

/** The form that makes a key. */
export function registerNewKey(
  kind: Membership['kind'],
  app: TypedApp,
  deps: PanelDependencies,
): void {
  const { clock, keyring } = deps;
  const rule = { for: kind, permission: 'keys.manage' } as const;
  const path = `/${kind}s/:accountId${PLACES[kind].developer}/keys/new`;

  app.get(path, withPermission(kind, rule.permission), request => show(request, EMPTY_FORM, null));

  registerForm(app, deps, path, {
    rule,
    body: kind === 'merchant' ? MerchantKeyForm : PartnerKeyForm,
    change: async request => {
      const form: KeyForm = request.body;
      const scopes = tickedScopes(form);
      const key = {
        owner: ownerOf(membershipOf(request)),
        name: form.name,
        // Without a ticked scope the key gets all of them, as the specification says.
        ...(scopes.length > 0 ? { scopes } : {}),
        expiresAt: expiryOf(texts(request), form, new Date(clock())),
      };
      return issueOnce(request, deps, form.intent, operator => createKey(operator, keyring, key));
    },
    again: (request, fault) => show(request, request.body, fault),
    done: (request, issued) =>
      issuedKeyPage(request, deps, texts(request).keys.issued.created, issued),
  });

  /** The form has a new ID each time: the key is made once, however often it is sent. */
  function show(request: FastifyRequest, form: NewKey, fault: FormFault | null): PanelPage {
    const { form: text, scopes } = texts(request).keys;
    const expiries = EXPIRIES.map(expiry => [expiry, text.expiries[expiry]] as const);
    const ticked = tickedScopes(form);
    return {
      title: text.title,
      fault,
      content: html`<form method="post" action="${ownUrl(request, keysOf(request))}/new" class="stack">
<input type="hidden" name="intent" value="${randomUUID()}">
${renderField({ name: 'name', label: text.name, value: form.name, hint: text.nameHint, maxlength: 200 }, fault)}
${
  // A partner key's scopes follow from the role of its member.
  kind === 'merchant' &&
  html`<fieldset><legend>${text.scopes}</legend>${MERCHANT_SCOPES.map(
    scope =>
      html`<p class="check"><input type="checkbox" id="${scope}" name="${scope}" value="on"${ticked.includes(scope) && html` checked`}><label for="${scope}">${scopes[scope]} <code>${scope}</code></label></p>`,
  )}<p class="hint">${text.scopesHint}</p></fieldset>`
}
${renderSelect('expiry', text.expiry, expiries, form.expiry)}
${renderField({ name: 'date', label: text.date, type: 'date', value: form.date, required: false }, fault)}
<button>${text.submit}</button>
</form>`,
    };
  }
}

/** The scopes that are ticked. */
function tickedScopes(form: NewKey): Scope[] {
  return MERCHANT_SCOPES.filter(scope => form[scope] === 'on');
}

/**
 * When a new key expires; undefined for one that does not.
 * @throws FormRefused for a form that makes no key.
 */
function expiryOf(
  { keys: { form } }: PanelTexts,
  { name, expiry, date }: NewKey,
  now: Date,
): Date | undefined {
  const { faults } = form;
  if (parseName(name) === undefined) throw new FormRefused('name', faults.name);
  if (!EXPIRIES.some(each => each === expiry)) throw new FormRefused('expiry', faults.expiry);
  if (expiry === 'never') return undefined;
  if (expiry !== 'date') return new Date(now.getTime() + Number(expiry) * DAY_MS);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) throw new FormRefused('date', faults.date);
  const at = parseDateBound(date);
  if (at === undefined || at <= now) throw new FormRefused('date', faults.pastDate);
  return at;
}
