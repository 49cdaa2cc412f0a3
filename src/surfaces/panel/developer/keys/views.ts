import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { type IssuedKey, ROTATION_GRACE_MS } from '#accounts/keys/manage-keys.ts';
import { formerPairUntil } from '#accounts/keys/rotation-grace.ts';
import { type Scope, scopesOf } from '#accounts/keys/scopes.ts';
import type { KeyWithUse } from '#storage/repositories/keys/api-keys.ts';
import { countRequests } from '#storage/repositories/keys/request-log.ts';
import { type Html, html } from '../../../pages/html.ts';
import { membershipOf } from '../../hooks/access.ts';
import type { PanelDependencies } from '../../hooks/dependencies.ts';
import { texts } from '../../hooks/language.ts';
import type { Question } from '../../kit/confirmation.ts';
import type { PanelPage } from '../../kit/document.ts';
import { type FormFault, renderField } from '../../kit/form.ts';
import { dateTime } from '../../kit/format.ts';
import { ownPath, ownUrl } from '../../kit/navigation.ts';
import { alreadyDonePage, renderSecret } from '../../kit/secrets.ts';
import { type Column, renderFacts, renderTable } from '../../kit/table.ts';
import type { PanelTexts } from '../../texts/panel-texts.ts';
import { renderKeyRequests } from '../requests/key-requests.ts';
import { keysOf } from './paths.ts';

/** Most requests of the last hour that are counted of a key. */
const RECENT_COUNTED = 1_000;

const HOUR_MS = 60 * 60_000;

/** @param url Of the list, with the base path. */
export function renderKeys(
  request: FastifyRequest,
  { clock }: PanelDependencies,
  url: string,
  keys: readonly KeyWithUse[],
): Html {
  const words = texts(request);
  const now = new Date(clock());
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
        secondary: true,
      },
      { title: columns.id, cell: ({ id }) => html`<code>${id}</code>`, secondary: true },
      // A merchant's keys belong to no person.
      ...(membershipOf(request).kind === 'partner' ? [owner] : []),
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
  request: FastifyRequest,
  deps: PanelDependencies,
  title: string,
  key: IssuedKey | undefined,
): PanelPage {
  const words = texts(request);
  const { issued, done, title: text } = words.keys;
  const url = ownUrl(request, keysOf(request));
  if (key === undefined) return alreadyDonePage(done, { url, text });
  const lines = `MP_URL=${deps.publicUrl}\nMP_KEY_ID=${key.keyId}\nMP_SECRET=${key.secret}\nMP_PASSPHRASE=${key.passphrase}`;
  return {
    title,
    lead: issued.lead,
    content: html`${renderSecret(words, 'key-id', issued.id, key.keyId)}${renderSecret(words, 'key-secret', issued.secret, key.secret)}${renderSecret(words, 'key-passphrase', issued.passphrase, key.passphrase)}${renderSecret(words, 'key-lines', issued.environment, lines)}
<p><a class="button" href="${url}">${words.shell.kept}</a></p>`,
  };
}

export async function keyPage(
  request: FastifyRequest,
  deps: PanelDependencies,
  key: KeyWithUse,
  fault: FormFault | null,
): Promise<PanelPage> {
  const words = texts(request);
  const membership = membershipOf(request);
  const mayManage = isChangeAllowed(membership, 'keys.manage');
  const isOwn = membership.kind === 'merchant' || key.partner_member_id === membership.memberId;
  const [use, activity] = await Promise.all([
    renderUse(request, deps, key),
    renderKeyRequests(request, deps, key.id),
  ]);
  const url = `${ownUrl(request, keysOf(request))}/${key.id}`;
  const now = new Date(deps.clock());
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
${!isOver(key, now) && mayManage && isOwn && renderRotation(words, url)}
${
  key.revoked_at === null &&
  mayManage &&
  html`<section aria-labelledby="revoke"><h2 id="revoke">${revocation.title}</h2>
<p>${revocation.text}</p>
${use}
<form method="post" action="${url}/revoke" class="stack">
${renderField({ name: 'name', label: revocation.name(key.name), maxlength: 200, autocomplete: 'off' }, fault)}
<button class="danger">${revocation.submit}</button>
</form></section>`
}`,
  };
}

/** What is asked before a key gets another secret. */
export async function rotationQuestion(
  request: FastifyRequest,
  deps: PanelDependencies,
  key: KeyWithUse,
  isAtOnce: boolean,
): Promise<Question> {
  const words = texts(request);
  const { atOnce, endsAt, endsAtOnce, question, withGrace } = words.keys.rotation;
  const until = dateTime(words, new Date(deps.clock() + ROTATION_GRACE_MS));
  return {
    title: question(key.name),
    content: html`<p>${isAtOnce ? endsAtOnce : endsAt(until)}</p>
${await renderUse(request, deps, key)}`,
    submit: isAtOnce ? atOnce : withGrace,
    back: `${ownPath(request, keysOf(request))}/${key.id}`,
  };
}

/** What stops when a key does. */
async function renderUse(
  request: FastifyRequest,
  { clock, reports }: PanelDependencies,
  { id, last_used_at: at }: KeyWithUse,
): Promise<Html> {
  const words = texts(request);
  const { neverUsed, lastUsed, lastHour } = words.keys.use;
  if (at === null) return html`<p>${neverUsed}</p>`;
  const { accountId } = membershipOf(request);
  const lately = { since: new Date(clock() - HOUR_MS), limit: RECENT_COUNTED + 1 };
  const recent = await countRequests(reports, accountId, id, lately);
  return html`<p>${lastUsed(dateTime(words, at))}${recent > 0 && ` ${lastHour(recent, RECENT_COUNTED)}`}</p>`;
}

function renderRotation({ keys: { rotation } }: PanelTexts, url: string): Html {
  return html`<section aria-labelledby="rotate"><h2 id="rotate">${rotation.title}</h2>
<p>${rotation.text}</p>
<form method="post" action="${url}/rotate" class="buttons">
<input type="hidden" name="intent" value="${randomUUID()}">
<button name="grace" value="yes">${rotation.withGrace}</button>
<button name="grace" value="no" class="danger">${rotation.atOnce}</button>
</form></section>`;
}
