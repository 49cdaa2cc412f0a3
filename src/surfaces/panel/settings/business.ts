import type { FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { findMerchant } from '#storage/repositories/accounts/merchants.ts';
import { findPartner } from '#storage/repositories/accounts/partners.ts';
import { html } from '../../pages/html.ts';
import { membershipOf, withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import type { PanelPage } from '../kit/document.ts';
import type { FormFault } from '../kit/form.ts';
import { dateTime, percent } from '../kit/format.ts';
import { renderFacts } from '../kit/table.ts';
import { texts } from '../texts/index.ts';
import { registerTestTwins } from './test-twins.ts';

const PATH = '/merchants/:accountId/settings/business';

/** What an operator has agreed with a merchant, which is read only, and the merchant's test twin. */
export function registerBusiness(app: TypedApp, deps: PanelDependencies): void {
  const { reports } = deps;
  const { askOperator, business: words } = texts.settings;
  const twins = registerTestTwins(app, deps, show);

  app.get(PATH, withPermission('merchant', 'settings.read'), request => show(request, null));

  async function show(request: FastifyRequest, fault: FormFault | null): Promise<PanelPage> {
    const merchant = await findMerchant(reports, membershipOf(request).accountId);
    if (merchant === undefined) throw new ApiError('E3001');
    const { partner_id: partnerId } = merchant;
    const partner = partnerId === null ? undefined : await findPartner(reports, partnerId);
    return {
      title: words.title,
      lead: askOperator,
      fault,
      content: html`${renderFacts([
        [words.name, merchant.name],
        [words.email, merchant.email],
        [words.status, words.statuses[merchant.status]],
        [words.environment, words.environments[merchant.environment]],
        [words.kind, words.kinds[merchant.account_kind]],
        [words.onboarding, texts.shell.onboardingStatuses[merchant.onboarding_status]],
        [words.settlement, words.settlements[merchant.settlement_model]],
        [
          words.commission,
          `${percent(merchant.commission_bps)}, ${words.payer[merchant.commission_payer]}`,
        ],
        [words.tolerance, percent(merchant.underpayment_tolerance_bps)],
        [words.partner, partner?.name ?? words.noPartner],
        [words.created, dateTime(texts, merchant.created_at)],
        [words.id, html`<code>${merchant.id}</code>`],
      ])}
${await twins(request, merchant)}`,
    };
  }
}
