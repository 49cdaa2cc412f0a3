import type { FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { findMerchant } from '#storage/repositories/accounts/merchants.ts';
import { findPartner } from '#storage/repositories/accounts/partners.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { texts } from '../hooks/language.ts';
import type { PanelPage } from '../kit/document.ts';
import type { FormFault } from '../kit/form.ts';
import { dateTime, percent } from '../kit/format.ts';
import { renderFacts } from '../kit/table.ts';
import { registerTestTwins } from './test-twins.ts';

const PATH = '/merchants/:accountId/settings/business';

/** What an operator has agreed with a merchant, which is read only, and the merchant's test twin. */
export function registerBusiness(app: TypedApp, deps: PanelDependencies): void {
  const { reports } = deps;
  const twins = registerTestTwins(app, deps, show);

  app.get(PATH, withPermission('merchant', 'settings.read'), request => show(request, null));

  async function show(request: FastifyRequest, fault: FormFault | null): Promise<PanelPage> {
    const words = texts(request);
    const { askOperator, business: own } = words.settings;
    const merchant = await findMerchant(reports, membershipOf(request).accountId);
    if (merchant === undefined) throw new ApiError('E3001');
    const { partner_id: partnerId } = merchant;
    const partner = partnerId === null ? undefined : await findPartner(reports, partnerId);
    return {
      title: own.title,
      lead: askOperator,
      fault,
      content: html`${renderFacts([
        [own.name, merchant.name],
        [own.email, merchant.email],
        [own.status, own.statuses[merchant.status]],
        [own.environment, own.environments[merchant.environment]],
        [own.kind, own.kinds[merchant.account_kind]],
        [own.onboarding, words.shell.onboardingStatuses[merchant.onboarding_status]],
        [own.settlement, own.settlements[merchant.settlement_model]],
        [
          own.commission,
          `${percent(merchant.commission_bps)}, ${own.payer[merchant.commission_payer]}`,
        ],
        [own.tolerance, percent(merchant.underpayment_tolerance_bps)],
        [own.partner, partner?.name ?? own.noPartner],
        [own.created, dateTime(words, merchant.created_at)],
        [own.id, html`<code>${merchant.id}</code>`],
      ])}
${await twins(request, merchant)}`,
    };
  }
}
