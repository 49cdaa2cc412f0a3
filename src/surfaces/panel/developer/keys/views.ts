import { formerPairUntil } from '#accounts/keys/former-pair.ts';
import type { IssuedKey } from '#accounts/keys/manage-keys.ts';
import { MERCHANT_SCOPES, type Scope, scopesOf } from '#accounts/keys/scopes.ts';
import type { KeyWithUse } from '#storage/repositories/keys/api-keys.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, renderField, renderSelect } from '../../kit/form.ts';
import { dateTime } from '../../kit/format.ts';
import { renderSecret } from '../../kit/secrets.ts';
import {
  type Column,
  pageAfter,
  renderFacts,
  renderNext,
  renderNoneFurther,
  renderTable,
} from '../../kit/table.ts';
import { texts } from '../../texts/index.ts';

const { keys: keyTexts, shell } = texts;

/** What each scope allows. */
const SCOPES: Readonly<Record<Scope, string> & Partial<Record<string, string>>> = keyTexts.scopes;

/** When a new key expires, as the form offers it. */
export const EXPIRIES = ['never', '90', '365', 'date'] as const;

const PAGE_SIZE = 25;

interface KeysFrame {
  /** ID of the last key of the previous page; undefined on the first page. */
  readonly after: string | undefined;
  /** The page's address, with the base path. */
  readonly url: string;
  readonly publicUrl: string;
  readonly now: Date;
  readonly mayManage: boolean;
}

export function keysPage(
  keys: readonly KeyWithUse[],
  { after, url, publicUrl, now, mayManage }: KeysFrame,
): PanelPage {
  const { shown, last } = pageAfter(keys, after, PAGE_SIZE);
  const none = after === undefined ? html`<p>${keyTexts.none}</p>` : renderNoneFurther(texts, url);
  // A merchant's keys belong to no person.
  const owner: Column<KeyWithUse> = {
    title: keyTexts.columns.owner,
    secondary: true,
    cell: key => key.member_name,
  };
  return {
    title: keyTexts.title,
    lead: keyTexts.lead(`${publicUrl}/docs/quickstart`),
    content: html`${mayManage && html`<p><a class="button" href="${url}/new">${keyTexts.create}</a></p>`}
${
  shown.length === 0
    ? none
    : renderTable<KeyWithUse>(
        keyTexts.title,
        [
          {
            title: keyTexts.columns.name,
            cell: ({ id, name }) => html`<a href="${url}/${id}">${name}</a>`,
          },
          { title: keyTexts.columns.state, cell: key => renderState(key, now) },
          {
            title: keyTexts.columns.lastUse,
            cell: ({ last_used_at: lastUsedAt }) =>
              lastUsedAt === null ? keyTexts.never : dateTime(texts, lastUsedAt),
          },
          {
            title: keyTexts.columns.id,
            cell: ({ id }) => html`<code>${id}</code>`,
            secondary: true,
          },
          ...(keys.some(key => key.member_name !== null) ? [owner] : []),
        ],
        shown,
      )
}
${renderNext(texts, url, last)}`,
  };
}

/** The state of a key in a word. */
function renderState(key: KeyWithUse, now: Date): Html {
  if (key.revoked_at !== null) return html`<span class="tag bad">${keyTexts.states.revoked}</span>`;
  if (key.expires_at !== null && key.expires_at <= now)
    return html`<span class="tag bad">${keyTexts.states.expired}</span>`;
  if (formerPairUntil(key, now) !== null)
    return html`<span class="tag">${keyTexts.states.rotating}</span>`;
  return html`<span class="tag good">${keyTexts.states.active}</span>`;
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
  const expiries = EXPIRIES.map(expiry => [expiry, keyTexts.form.expiries[expiry]] as const);
  return {
    title: keyTexts.form.title,
    fault,
    content: html`<form method="post" action="${url}/new" class="stack">
<input type="hidden" name="intent" value="${intent}">
${renderField({ name: 'name', label: keyTexts.form.name, value: form.name, hint: keyTexts.form.nameHint, maxlength: 200 }, fault)}
${
  withScopes &&
  html`<fieldset><legend>${keyTexts.form.scopes}</legend>${MERCHANT_SCOPES.map(
    scope =>
      html`<p class="check"><input type="checkbox" id="${scope}" name="${scope}" value="on"${form.scopes.includes(scope) && html` checked`}><label for="${scope}">${keyTexts.scopes[scope]} <code>${scope}</code></label></p>`,
  )}<p class="hint">${keyTexts.form.scopesHint}</p></fieldset>`
}
${renderSelect('expiry', keyTexts.form.expiry, expiries, form.expiry)}
${renderField({ name: 'date', label: keyTexts.form.date, type: 'date', value: form.date, required: false }, fault)}
<button>${keyTexts.form.submit}</button>
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
  return {
    title,
    lead: keyTexts.issued.lead,
    content: html`${renderSecret(texts, 'key-id', keyTexts.issued.id, key.keyId)}${renderSecret(texts, 'key-secret', keyTexts.issued.secret, key.secret)}${renderSecret(texts, 'key-passphrase', keyTexts.issued.passphrase, key.passphrase)}${renderSecret(texts, 'key-lines', keyTexts.issued.environment, lines)}
<p><a class="button" href="${listUrl}">${shell.kept}</a></p>`,
  };
}

interface KeyFrame {
  readonly url: string;
  readonly intent: string;
  readonly now: Date;
  readonly mayRotate: boolean;
  readonly mayRevoke: boolean;
  /** What the key was used for. */
  readonly activity: Html;
}

export function keyPage(
  key: KeyWithUse,
  fault: FormFault | null,
  { url, intent, now, mayRotate, mayRevoke, activity }: KeyFrame,
): PanelPage {
  const isOver = key.revoked_at !== null || (key.expires_at !== null && key.expires_at <= now);
  const time = (date: Date | null) => (date === null ? null : dateTime(texts, date));
  return {
    title: key.name,
    lead: html`${renderState(key, now)} <code>${key.id}</code>`,
    fault,
    content: html`${renderFacts([
      [
        keyTexts.facts.scopes,
        scopesOf(key.scopes, key.member_role)
          .map(scope => SCOPES[scope] ?? scope)
          .join(', '),
      ],
      [keyTexts.facts.owner, key.member_name],
      [keyTexts.facts.created, dateTime(texts, key.created_at)],
      [
        keyTexts.facts.expires,
        key.expires_at === null ? keyTexts.never : dateTime(texts, key.expires_at),
      ],
      [keyTexts.facts.rotated, time(key.rotated_at)],
      [keyTexts.facts.formerSecret, time(formerPairUntil(key, now))],
      [keyTexts.facts.revoked, time(key.revoked_at)],
      [
        keyTexts.facts.lastUse,
        key.last_used_at === null
          ? keyTexts.never
          : keyTexts.usedFrom(dateTime(texts, key.last_used_at), key.last_address),
      ],
      [
        keyTexts.facts.lastError,
        key.last_error_at === null
          ? null
          : html`<code>${key.last_error}</code> ${dateTime(texts, key.last_error_at)}`,
      ],
    ])}
${activity}
${!isOver && mayRotate && renderRotation(url, intent)}
${
  key.revoked_at === null &&
  mayRevoke &&
  html`<section aria-labelledby="revoke"><h2 id="revoke">${keyTexts.revocation.title}</h2>
<p>${keyTexts.revocation.text}</p>
<form method="post" action="${url}/revoke" class="stack">
${renderField({ name: 'name', label: keyTexts.revocation.name(key.name), maxlength: 200, autocomplete: 'off' }, fault)}
<button class="danger">${keyTexts.revocation.submit}</button>
</form></section>`
}`,
  };
}

function renderRotation(url: string, intent: string): Html {
  return html`<section aria-labelledby="rotate"><h2 id="rotate">${keyTexts.rotation.title}</h2>
<p>${keyTexts.rotation.text}</p>
<form method="post" action="${url}/rotate" class="buttons">
<input type="hidden" name="intent" value="${intent}">
<button name="grace" value="yes">${keyTexts.rotation.withGrace}</button>
<button name="grace" value="no" class="danger">${keyTexts.rotation.atOnce}</button>
</form></section>`;
}
