import { formerPairUntil } from '#accounts/keys/former-pair.ts';
import { type IssuedKey, ROTATION_GRACE_MS } from '#accounts/keys/manage-keys.ts';
import { type Scope, scopesOf } from '#accounts/keys/scopes.ts';
import type { KeyWithUse } from '#storage/repositories/keys/api-keys.ts';
import { type Html, html } from '../../../pages/html.ts';
import type { Question } from '../../kit/confirmation.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, renderField } from '../../kit/form.ts';
import { dateTime } from '../../kit/format.ts';
import { alreadyDonePage, renderSecret } from '../../kit/secrets.ts';
import { type Column, renderFacts, renderTable } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';

/** Most requests of the last hour that are counted of a key. */
export const RECENT_COUNTED = 1_000;

interface KeysFrame {
  /** The list's address, with the base path. */
  readonly url: string;
  readonly now: Date;
  /** A merchant's keys belong to no person. */
  readonly withOwner: boolean;
}

export function renderKeys(
  words: PanelTexts,
  keys: readonly KeyWithUse[],
  { url, now, withOwner }: KeysFrame,
): Html {
  const { title, columns, never } = words.keys;
  const owner: Column<KeyWithUse> = {
    title: columns.owner,
    secondary: true,
    cell: key => key.member_name,
  };
  return renderTable<KeyWithUse>(
    title,
    [
      { title: columns.name, cell: ({ id, name }) => html`<a href="${url}/${id}">${name}</a>` },
      { title: columns.state, cell: key => renderState(words, key, now) },
      {
        title: columns.lastUse,
        cell: ({ last_used_at: at }) => (at === null ? never : dateTime(words, at)),
      },
      { title: columns.id, cell: ({ id }) => html`<code>${id}</code>`, secondary: true },
      ...(withOwner ? [owner] : []),
    ],
    keys,
  );
}

/** The state of a key in a word. */
function renderState({ keys: { states } }: PanelTexts, key: KeyWithUse, now: Date): Html {
  if (key.revoked_at !== null) return html`<span class="tag bad">${states.revoked}</span>`;
  if (isOver(key, now)) return html`<span class="tag bad">${states.expired}</span>`;
  if (formerPairUntil(key, now) !== null) return html`<span class="tag">${states.rotating}</span>`;
  return html`<span class="tag good">${states.active}</span>`;
}

/** Whether a key is revoked or has expired. */
export function isOver({ revoked_at: revoked, expires_at: expires }: KeyWithUse, now: Date) {
  return revoked !== null || (expires !== null && expires <= now);
}

/**
 * ID, secret and passphrase, shown once.
 * @param key undefined if its form was sent before: then the page says so.
 */
export function issuedKeyPage(
  words: PanelTexts,
  title: string,
  key: IssuedKey | undefined,
  { listUrl, publicUrl }: { readonly listUrl: string; readonly publicUrl: string },
): PanelPage {
  const { issued, done, title: listTitle } = words.keys;
  if (key === undefined) return alreadyDonePage(done, { url: listUrl, text: listTitle });
  const lines = `MP_URL=${publicUrl}\nMP_KEY_ID=${key.keyId}\nMP_SECRET=${key.secret}\nMP_PASSPHRASE=${key.passphrase}`;
  return {
    title,
    lead: issued.lead,
    content: html`${renderSecret(words, 'key-id', issued.id, key.keyId)}${renderSecret(words, 'key-secret', issued.secret, key.secret)}${renderSecret(words, 'key-passphrase', issued.passphrase, key.passphrase)}${renderSecret(words, 'key-lines', issued.environment, lines)}
<p><a class="button" href="${listUrl}">${words.shell.kept}</a></p>`,
  };
}

interface KeyFrame {
  readonly url: string;
  /** ID under which a secret is made once, however often the form is sent. */
  readonly intent: string;
  readonly now: Date;
  readonly mayRotate: boolean;
  readonly mayRevoke: boolean;
  /** How many requests were made with it in the last hour, at most one more than RECENT_COUNTED. */
  readonly recent: number;
  /** What the key was used for. */
  readonly activity: Html;
}

export function keyPage(
  words: PanelTexts,
  key: KeyWithUse,
  fault: FormFault | null,
  { url, intent, now, mayRotate, mayRevoke, recent, activity }: KeyFrame,
): PanelPage {
  const { facts, never, revocation, usedFrom, ...text } = words.keys;
  /** What each scope allows. */
  const scopes: Readonly<Record<Scope, string> & Partial<Record<string, string>>> = text.scopes;
  const time = (date: Date | null) => (date === null ? null : dateTime(words, date));
  return {
    title: key.name,
    lead: html`${renderState(words, key, now)} <code>${key.id}</code>`,
    fault,
    content: html`${renderFacts([
      [
        facts.scopes,
        scopesOf(key.scopes, key.member_role)
          .map(scope => scopes[scope] ?? scope)
          .join(', '),
      ],
      [facts.owner, key.member_name],
      [facts.created, dateTime(words, key.created_at)],
      [facts.expires, time(key.expires_at) ?? never],
      [facts.rotated, time(key.rotated_at)],
      [facts.formerSecret, time(formerPairUntil(key, now))],
      [facts.revoked, time(key.revoked_at)],
      [
        facts.lastUse,
        key.last_used_at === null
          ? never
          : usedFrom(dateTime(words, key.last_used_at), key.last_address),
      ],
      [
        facts.lastError,
        key.last_error_at === null
          ? null
          : html`<code>${key.last_error}</code> ${dateTime(words, key.last_error_at)}`,
      ],
    ])}
${activity}
${!isOver(key, now) && mayRotate && renderRotation(words, url, intent)}
${
  key.revoked_at === null &&
  mayRevoke &&
  html`<section aria-labelledby="revoke"><h2 id="revoke">${revocation.title}</h2>
<p>${revocation.text}</p>
${renderUse(words, key, recent)}
<form method="post" action="${url}/revoke" class="stack">
${renderField({ name: 'name', label: revocation.name(key.name), maxlength: 200, autocomplete: 'off' }, fault)}
<button class="danger">${revocation.submit}</button>
</form></section>`
}`,
  };
}

/** What is asked before a key gets another secret. */
export function rotationQuestion(
  words: PanelTexts,
  key: KeyWithUse,
  {
    isAtOnce,
    now,
    recent,
    back,
  }: {
    readonly isAtOnce: boolean;
    readonly now: Date;
    readonly recent: number;
    readonly back: string;
  },
): Question {
  const { atOnce, endsAt, endsAtOnce, question, withGrace } = words.keys.rotation;
  const until = dateTime(words, new Date(now.getTime() + ROTATION_GRACE_MS));
  return {
    title: question(key.name),
    content: html`<p>${isAtOnce ? endsAtOnce : endsAt(until)}</p>
${renderUse(words, key, recent)}`,
    submit: isAtOnce ? atOnce : withGrace,
    back,
  };
}

/** What stops when a key does. */
function renderUse(words: PanelTexts, key: KeyWithUse, recent: number): Html {
  const { neverUsed, lastUsed, lastHour } = words.keys.use;
  if (key.last_used_at === null) return html`<p>${neverUsed}</p>`;
  return html`<p>${lastUsed(dateTime(words, key.last_used_at))}${recent > 0 && ` ${lastHour(recent, RECENT_COUNTED)}`}</p>`;
}

function renderRotation({ keys: { rotation } }: PanelTexts, url: string, intent: string): Html {
  return html`<section aria-labelledby="rotate"><h2 id="rotate">${rotation.title}</h2>
<p>${rotation.text}</p>
<form method="post" action="${url}/rotate" class="buttons">
<input type="hidden" name="intent" value="${intent}">
<button name="grace" value="yes">${rotation.withGrace}</button>
<button name="grace" value="no" class="danger">${rotation.atOnce}</button>
</form></section>`;
}
