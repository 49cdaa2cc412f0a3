import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed, type Permission } from '#accounts/access/permissions.ts';
import { putAside, showAgain } from '#accounts/people/attention-put-aside.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { StringEnum } from '#schemas/scalars.ts';
import type { Membership } from '#storage/repositories/people/memberships.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf, sessionOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import { registerForm } from '../kit/form-route.ts';
import { ownPath, ownUrl } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';

/** Something that needs a person's attention, and where to look at it. */
export interface Attention {
  /**
   * Its kind, object, and what makes it news: a person who has put it aside is shown it again when this changes. At
   * most 200 characters.
   */
  readonly key: string;
  readonly text: Html | string;
  /** Without the base path; null for a person who may not see the page. */
  readonly href: string | null;
}

/** Who sees the first page of an account sees what needs attention there, and may put it aside. */
const PERMISSIONS = {
  merchant: 'home.read',
  partner: 'overview.read',
} as const satisfies Record<Membership['kind'], Permission>;

const PutAsideForm = Type.Object({
  item: Type.String({ pattern: '^[\\w:.-]{1,200}$' }),
  to: StringEnum(['aside', 'shown'], 'Whether it is put aside, or shown again.'),
});

/** The form by which a person puts aside what needs attention, for themselves alone. */
export function registerPutAside(app: TypedApp, deps: PanelDependencies): void {
  for (const kind of ['merchant', 'partner'] as const) {
    registerForm(app, deps, `/${kind}s/:accountId/attention`, {
      rule: { for: kind, permission: PERMISSIONS[kind] },
      body: PutAsideForm,
      change: (request, { db }) => {
        const { item, to } = request.body;
        const { accountId } = membershipOf(request);
        const seen = { personId: sessionOf(request).person.id, accountId, item };
        return to === 'aside' ? putAside(db, seen, new Date(deps.clock())) : showAgain(db, seen);
      },
      again: request => redirectTo(ownPath(request)),
      done: request => {
        const { home, shell } = texts(request);
        const { item, to } = request.body;
        const path = ownPath(request);
        if (to === 'shown') return redirectTo(path, home.attention.isShown);
        const fields = { item, to: 'shown' };
        return redirectTo(path, {
          text: home.attention.isAside,
          undo: { path: `${path}/attention`, text: shell.undo, fields },
        });
      },
    });
  }
}

/** What needs attention, each with a button that puts it aside. */
export function renderAttention(request: FastifyRequest, items: readonly Attention[]): Html | null {
  if (items.length === 0) return null;
  const { attention: words } = texts(request).home;
  const membership = membershipOf(request);
  const mayPutAside = isChangeAllowed(membership, PERMISSIONS[membership.kind]);
  const renderButton = (key: string, id: string) =>
    html`<button class="plain" name="item" value="${key}" aria-describedby="${id}">${words.putAside}</button>`;
  const list = html`<ul class="rows">${items.map(({ key, text, href }, index) => {
    const id = `attention-${index}`;
    const shown =
      href === null
        ? html`<span id="${id}">${text}</span>`
        : html`<a id="${id}" href="${request.basePath}${href}">${text}</a>`;
    return html`<li>${shown}${mayPutAside && renderButton(key, id)}</li>`;
  })}</ul>`;
  return html`<section aria-labelledby="attention"><h2 id="attention">${words.title}</h2>
${
  mayPutAside
    ? html`<form method="post" action="${ownUrl(request, '/attention')}"><input type="hidden" name="to" value="aside">${list}</form>`
    : list
}</section>`;
}
