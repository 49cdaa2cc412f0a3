import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { isChangeAllowed } from '#accounts/access/permissions.ts';
import { makeTestTwin } from '#accounts/test-twins.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { StringEnum } from '#schemas/scalars.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import { findMerchant, findTestTwin } from '#storage/repositories/accounts/merchants.ts';
import { findMembership } from '#storage/repositories/people/memberships.ts';
import { hasAdmin } from '#storage/repositories/people/team.ts';
import { type Html, html } from '../../pages/html.ts';
import { membershipOf, sessionOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import { type FormFault, FormRefused } from '../kit/form.ts';
import { registerForm } from '../kit/form-route.ts';
import { accountPath, ownUrl } from '../kit/navigation.ts';
import { redirectTo } from '../kit/pages.ts';
import type { PanelTexts } from '../texts/panel-texts.ts';

const PATH = '/merchants/:accountId/settings/test-twin';
const TwinForm = Type.Object({ twin: StringEnum(['make'], 'What is done.') });

type ShowBusiness = (request: FastifyRequest, fault: FormFault | null) => Promise<PanelPage>;

/**
 * Lets admins of a live merchant make its test twin.
 * @param show The page that has the form.
 * @returns What that page says of twins.
 */
export function registerTestTwins(app: TypedApp, deps: PanelDependencies, show: ShowBusiness) {
  const { db } = deps;

  registerForm(app, deps, PATH, {
    rule: { for: 'merchant', permission: 'test-twin.make' },
    body: TwinForm,
    change: async (request, operator) => {
      const twin = await makeTestTwin(operator, membershipOf(request).accountId);
      const own = await membershipIn(request, twin.id);
      if (own === undefined) throw new FormRefused(null, texts(request).settings.twin.foreign);
      return own;
    },
    again: show,
    done: (request, own) =>
      redirectTo(accountPath(own), texts(request).settings.twin.entered(own.name)),
  });

  function membershipIn(request: FastifyRequest, merchantId: string) {
    return findMembership(db, sessionOf(request).person.id, 'merchant', merchantId);
  }

  /** The name of the other twin, as a link for people who are members of it too. */
  async function nameOf(request: FastifyRequest, { id, name }: Merchant): Promise<Html> {
    const own = await membershipIn(request, id);
    return own === undefined
      ? html`${name}`
      : html`<a href="${request.basePath}${accountPath(own)}">${name}</a>`;
  }

  async function renderFor(request: FastifyRequest, merchant: Merchant): Promise<Html | null> {
    const words = texts(request);
    const { twin: own } = words.settings;
    const { test_of: liveId } = merchant;
    if (liveId !== null) {
      const live = await findMerchant(db, liveId);
      return live === undefined ? null : section(words, own.of(await nameOf(request, live)));
    }
    if (merchant.environment === 'test') return null;
    const twin = await findTestTwin(db, merchant.id);
    const mayMake = isChangeAllowed(membershipOf(request), 'test-twin.make');
    if (twin === undefined) {
      return mayMake ? section(words, own.lead, renderButtonFor(request, own.make)) : null;
    }
    const present = own.present(await nameOf(request, twin));
    if (!mayMake || (await hasAdmin(db, 'merchant', twin.id))) return section(words, present);
    const enter = renderButtonFor(request, own.enter);
    return section(words, html`${present} ${own.abandoned}`, enter);
  }

  function renderButtonFor(request: FastifyRequest, text: string): Html {
    const action = ownUrl(request, '/settings/test-twin');
    return html`<form method="post" action="${action}"><button name="twin" value="make">${text}</button></form>`;
  }

  return renderFor;
}

function section(
  { settings: { twin } }: PanelTexts,
  text: Html | string,
  form: Html | null = null,
): Html {
  return html`<section aria-labelledby="twin"><h2 id="twin">${twin.title}</h2>
<p>${text}</p>
${form}</section>`;
}
