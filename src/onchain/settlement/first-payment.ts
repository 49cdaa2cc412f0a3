import { OperationRefused } from '#accounts/audit/audited-change.ts';
import type { Connection } from '#storage/database/connection.ts';
import {
  type AccountSetup,
  findFirstPaymentSetup,
} from '#storage/repositories/payments/first-payment.ts';
import { checkNetworks } from './network-steps.ts';
import {
  advised,
  done,
  missing,
  type Result,
  type ServiceSetup,
  type Step,
} from './setup-steps.ts';

export interface FirstPayment {
  readonly merchantName: string;
  /** Whether nothing is missing. */
  readonly canSettle: boolean;
  /** Whether a payment of the merchant has ever been successful. */
  readonly hasSettled: boolean;
  readonly steps: readonly Step[];
}

/**
 * Checks all that has to be set up until a first payment of a merchant can settle.
 * @throws OperationRefused for an unknown merchant.
 */
export async function checkFirstPayment(
  db: Connection,
  merchantId: string,
  service: ServiceSetup,
  now: Date,
): Promise<FirstPayment> {
  const found = await findFirstPaymentSetup(db, merchantId, now);
  if (found === undefined) throw new OperationRefused('merchant-unknown', { merchantId });
  const { setup } = found;
  const steps: Step[] = [
    { name: 'account', ...accountResult(setup, merchantId) },
    ...(setup.account_kind === 'us'
      ? [{ name: 'processor' as const, ...processorResult(setup, service) }]
      : checkNetworks(found, merchantId, service, now)),
    // Customers of US accounts end on the processor's page: a redirect URL is stored, and not followed.
    ...(setup.account_kind === 'us'
      ? []
      : [{ name: 'domain' as const, ...domainResult(setup, merchantId) }]),
    { name: 'key', ...keyResult(setup, merchantId) },
    { name: 'webhook', ...webhookResult(setup, merchantId) },
    { name: 'person', ...personResult(setup, merchantId, service) },
    ...(service.mayLoseUnnoticed === true
      ? [{ name: 'database' as const, ...UNNOTICED_LOSS }]
      : []),
  ];
  return {
    merchantName: setup.name,
    canSettle: steps.every(({ state }) => state !== 'missing'),
    hasSettled: setup.has_settled,
    steps,
  };
}

const UNNOTICED_LOSS = advised(
  ['loss-unnoticed'],
  'DATABASE_DURABILITY=replicated with a synchronous standby, or REDIS_URL, in the environment of API, worker and mp',
);

function accountResult(setup: AccountSetup, id: string): Result {
  if (setup.status !== 'active') {
    return missing(['account-inactive'], `mp merchant set ${id} --status active`);
  }
  if (setup.account_kind === 'us' && setup.onboarding_status !== 'approved') {
    return missing(
      ['account-not-approved', { status: setup.onboarding_status }],
      `mp merchant set ${id} --onboarding approved`,
    );
  }
  if (!setup.has_main_branch) {
    return missing(['main-branch-missing'], `mp branch create --merchant ${id} --name Main --main`);
  }
  return done(['account-ready']);
}

function processorResult({ environment }: AccountSetup, { hasProcessor }: ServiceSetup): Result {
  if (environment === 'test') return done(['processor-sandbox']);
  return hasProcessor
    ? done(['processor-ready'])
    : missing(
        ['processor-missing'],
        'PROCESSOR=stripe, with its keys, in the environment of API and worker',
      );
}

function domainResult({ has_domain: hasDomain }: AccountSetup, id: string): Result {
  return hasDomain
    ? done(['domain-ready'])
    : advised(['domain-missing'], `mp domain add --merchant ${id} --domain DOMAIN`);
}

function keyResult(setup: AccountSetup, id: string): Result {
  if (setup.has_partner_key) return done(['key-of-partner']);
  const mayUseOwn = setup.partner_status === null || setup.partner_status === 'active';
  if (setup.self_service === false || !mayUseOwn) {
    return missing(['key-switched-off'], 'mp partner set PARTNER --self-service on');
  }
  if (setup.has_own_key) return done(['key-ready']);
  return missing(['key-missing'], `mp key create --merchant ${id} --name NAME`);
}

function webhookResult({ has_endpoint: hasEndpoint }: AccountSetup, id: string): Result {
  return hasEndpoint
    ? done(['webhook-ready'])
    : advised(['webhook-missing'], `mp webhook create --merchant ${id} --url URL`);
}

function personResult(
  { has_person: hasPerson }: AccountSetup,
  id: string,
  { hasPanel }: ServiceSetup,
): Result {
  if (!hasPanel) {
    return advised(['panel-missing'], 'PANEL_URL in the environment of the API');
  }
  if (hasPerson) return done(['person-ready']);
  return advised(
    ['person-missing'],
    `mp user create --merchant ${id} --name NAME --email EMAIL --role admin --invite`,
  );
}
