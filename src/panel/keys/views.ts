import { formerPairUntil } from '../../keys/former-pair.ts';
import type { IssuedKey } from '../../keys/manage-keys.ts';
import { MERCHANT_SCOPES, type Scope, scopesOf } from '../../keys/scopes.ts';
import { type Html, html } from '../../pages/html.ts';
import type { KeyWithUse } from '../../repositories/keys/api-keys.ts';
import { type FormFault, renderField, renderSelect } from '../form.ts';
import { dateTime } from '../format.ts';
import type { PanelPage } from '../layout.ts';
import { renderFacts, renderTable } from '../table.ts';

/** What each scope of a merchant's key allows. */
const SCOPE_TEXTS: Readonly<Record<(typeof MERCHANT_SCOPES)[number], string>> = {
  'payment_prompts:write': 'create payments',
  'payment_prompts:read': 'read payments',
  'blockchains:read': 'list networks',
};

/** When a new key expires, as the form offers it. */
export const EXPIRIES = [
  ['never', 'Never'],
  ['90', 'In 90 days'],
  ['365', 'In a year'],
  ['date', 'On a date'],
] as const;

interface KeysFrame {
  /** The page's address, with the base path. */
  readonly url: string;
  readonly publicUrl: string;
  readonly now: Date;
  readonly mayManage: boolean;
}

export function keysPage(
  keys: readonly KeyWithUse[],
  { url, publicUrl, now, mayManage }: KeysFrame,
): PanelPage {
  return {
    title: 'API keys',
    lead: html`A key signs the requests of your server. How, the <a href="${publicUrl}/docs/quickstart">quickstart</a> shows.`,
    content: html`${mayManage && html`<p><a class="button" href="${url}/new">Create a key</a></p>`}
${
  keys.length === 0
    ? html`<p>No key yet. Each consists of an ID, a secret and a passphrase, which are shown once.</p>`
    : renderTable<KeyWithUse>(
        'API keys',
        [
          { title: 'Name', cell: ({ id, name }) => html`<a href="${url}/${id}">${name}</a>` },
          { title: 'State', cell: key => renderState(key, now) },
          {
            title: 'Last used',
            cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : dateTime(lastUsedAt)),
          },
          { title: 'Key ID', cell: ({ id }) => html`<code>${id}</code>`, secondary: true },
          {
            title: 'Whose',
            cell: ({ memberName }) => memberName ?? 'the merchant',
            secondary: true,
          },
        ],
        keys,
      )
}`,
  };
}

/** The state of a key in a word. */
function renderState(key: KeyWithUse, now: Date): Html {
  if (key.revoked_at !== null) return html`<span class="tag bad">revoked</span>`;
  if (key.expires_at !== null && key.expires_at <= now)
    return html`<span class="tag bad">expired</span>`;
  if (formerPairUntil(key, now) !== null) return html`<span class="tag">rotating</span>`;
  return html`<span class="tag good">active</span>`;
}

export interface NewKeyForm {
  readonly name: string;
  readonly expiry: string;
  readonly date: string;
  /** Those that are ticked. */
  readonly scopes: readonly string[];
}

export const EMPTY_FORM: NewKeyForm = {
  name: '',
  expiry: 'never',
  date: '',
  scopes: MERCHANT_SCOPES,
};

interface NewKeyFrame {
  readonly url: string;
  /** ID under which the key is made once, however often the form is sent. */
  readonly intent: string;
  /** A partner key's scopes follow from the role of its member. */
  readonly withScopes: boolean;
}

export function newKeyPage(
  form: NewKeyForm,
  fault: FormFault | null,
  { url, intent, withScopes }: NewKeyFrame,
): PanelPage {
  return {
    title: 'Create an API key',
    fault,
    content: html`<form method="post" action="${url}/new" class="stack">
<input type="hidden" name="intent" value="${intent}">
${renderField({ name: 'name', label: 'Name', value: form.name, hint: 'What uses it, for example: shop server.', maxlength: 200 }, fault)}
${
  withScopes &&
  html`<fieldset><legend>What it may do</legend>${MERCHANT_SCOPES.map(
    scope =>
      html`<p class="check"><input type="checkbox" id="${scope}" name="${scope}" value="on"${form.scopes.includes(scope) && html` checked`}><label for="${scope}">${SCOPE_TEXTS[scope]} <code>${scope}</code></label></p>`,
  )}${fault?.field === 'scopes' && html`<p class="fault" id="scopes">${fault.message}</p>`}</fieldset>`
}
${renderSelect('expiry', 'Expires', EXPIRIES, form.expiry)}
${renderField({ name: 'date', label: 'Date, where you chose one', type: 'date', value: form.date, required: false }, fault)}
<button>Create</button>
</form>`,
  };
}

/** ID, secret and passphrase, shown once. */
export function issuedKeyPage(
  title: string,
  key: IssuedKey,
  { listUrl, publicUrl }: { readonly listUrl: string; readonly publicUrl: string },
): PanelPage {
  const lines = `MP_URL=${publicUrl}\nMP_KEY_ID=${key.keyId}\nMP_SECRET=${key.secret}\nMP_PASSPHRASE=${key.passphrase}`;
  const secret = (id: string, name: string, value: string) =>
    html`<h2>${name}</h2><div class="secret"><pre><code id="${id}">${value}</code></pre>
<button type="button" class="plain copy" data-copy="${id}" hidden>Copy</button></div>`;
  return {
    title,
    lead: 'Secret and passphrase are shown only now. Keep them where your server reads its secrets.',
    content: html`${secret('key-id', 'Key ID', key.keyId)}${secret('key-secret', 'Secret', key.secret)}${secret('key-passphrase', 'Passphrase', key.passphrase)}${secret('key-lines', 'As environment variables', lines)}
<p><a class="button" href="${listUrl}">I have kept them</a></p>`,
  };
}

/** The form was sent before: the key exists, and its secret cannot be shown again. */
export function alreadyDonePage(listUrl: string): PanelPage {
  return {
    title: 'This was done already',
    content: html`<p>The form was sent before. Its secret was shown then, and cannot be shown any more: if nobody kept it, revoke the key and create another one.</p>
<p><a class="button" href="${listUrl}">API keys</a></p>`,
    status: 409,
  };
}

interface KeyFrame {
  readonly url: string;
  readonly intent: string;
  readonly now: Date;
  readonly mayRotate: boolean;
  readonly mayRevoke: boolean;
}

export function keyPage(
  key: KeyWithUse,
  fault: FormFault | null,
  { url, intent, now, mayRotate, mayRevoke }: KeyFrame,
): PanelPage {
  const isOver = key.revoked_at !== null || (key.expires_at !== null && key.expires_at <= now);
  const time = (date: Date | null) => (date === null ? null : dateTime(date));
  return {
    title: key.name,
    lead: html`${renderState(key, now)} <code>${key.id}</code>`,
    fault,
    content: html`${renderFacts([
      ['May', scopesOf(key.scopes, key.memberRole).map(describeScope).join(', ')],
      ['Whose', key.memberName],
      ['Created', dateTime(key.created_at)],
      ['Expires', key.expires_at === null ? 'never' : dateTime(key.expires_at)],
      ['Rotated', time(key.rotated_at)],
      ['Former secret works until', time(formerPairUntil(key, now))],
      ['Revoked', time(key.revoked_at)],
      [
        'Last used',
        key.lastUsedAt === null
          ? 'never'
          : html`${dateTime(key.lastUsedAt)} from ${key.lastAddress}`,
      ],
      [
        'Last error',
        key.lastErrorAt === null
          ? null
          : html`<code>${key.lastError}</code> ${dateTime(key.lastErrorAt)}`,
      ],
    ])}
${!isOver && mayRotate && renderRotation(url, intent)}
${
  key.revoked_at === null &&
  mayRevoke &&
  html`<section aria-labelledby="revoke"><h2 id="revoke">Revoke</h2>
<p>Requests with this key are refused from then on. That cannot be undone.</p>
<form method="post" action="${url}/revoke" class="stack">
${renderField({ name: 'name', label: `Type the key's name to revoke it: ${key.name}`, maxlength: 200, autocomplete: 'off' }, fault)}
<button class="danger">Revoke</button>
</form></section>`
}`,
  };
}

function renderRotation(url: string, intent: string): Html {
  return html`<section aria-labelledby="rotate"><h2 id="rotate">Rotate</h2>
<p>A new secret and passphrase under the same key ID. With grace the former ones work for another 24 hours, while you put the new ones in place.</p>
<form method="post" action="${url}/rotate" class="buttons">
<input type="hidden" name="intent" value="${intent}">
<button name="grace" value="yes">Rotate with grace</button>
<button name="grace" value="no" class="danger">Rotate at once</button>
</form></section>`;
}

function describeScope(scope: string): string {
  const texts: Partial<Record<Scope | string, string>> = SCOPE_TEXTS;
  return texts[scope] ?? scope;
}
