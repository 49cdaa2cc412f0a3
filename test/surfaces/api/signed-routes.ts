import type { Account, SignedRoute } from '../../http/authentication/subject.ts';

const V1 = '/external/v1';
const PARTNER = '/external/partner';

function merchantRead(
  url: string,
  scope: SignedRoute['scope'],
  path: (account: Account) => string = () => url,
): SignedRoute {
  return {
    method: 'GET',
    url,
    scope,
    principals: ['merchant'],
    success: 200,
    request: account => ({ path: path(account) }),
  };
}

function partnerRead(
  url: string,
  scope: SignedRoute['scope'],
  path?: (account: Account) => string,
): SignedRoute {
  return { ...merchantRead(url, scope, path), principals: ['partner'] };
}

function testWrite(what: 'simulate' | 'clock', bodyOf: (isUs: boolean) => object): SignedRoute {
  return {
    method: 'POST',
    url: `${V1}/test/payments/:id/${what}`,
    scope: 'payment_prompts:write',
    principals: ['merchant'],
    testOnly: true,
    success: 200,
    request: ({ merchant, payment }) => ({
      path: `${V1}/test/payments/${payment.id}/${what}`,
      body: JSON.stringify(bodyOf(merchant.account_kind === 'us')),
    }),
  };
}

/** Every authenticated route; a test compares this list with the registered routes. */
export const SIGNED_ROUTES: readonly SignedRoute[] = [
  {
    method: 'POST',
    url: `${V1}/payments/prompt`,
    scope: 'payment_prompts:write',
    principals: ['merchant', 'partner'],
    success: 201,
    request: ({ kind, merchant }) => ({
      path: `${V1}/payments/prompt`,
      body: JSON.stringify({
        amount: 5000,
        ...(kind === 'partner' ? { merchantId: merchant.id } : {}),
      }),
    }),
  },
  merchantRead(
    `${V1}/payments/:id`,
    'payment_prompts:read',
    ({ payment }) => `${V1}/payments/${payment.id}`,
  ),
  merchantRead(`${V1}/payments`, 'payment_prompts:read'),
  merchantRead(
    `${V1}/events/:id`,
    'payment_prompts:read',
    ({ eventId }) => `${V1}/events/${eventId}`,
  ),
  merchantRead(`${V1}/events`, 'payment_prompts:read'),
  merchantRead(`${V1}/blockchains/active`, 'blockchains:read'),
  // A transfer that the chain undoes can be repeated; the sandbox of US accounts has none.
  testWrite('simulate', isUs => (isUs ? { case: 'confirm' } : { case: 'reorg' })),
  testWrite('clock', () => ({ seconds: 1 })),
  partnerRead(`${PARTNER}/overview`, 'partner_overview:read'),
  partnerRead(`${PARTNER}/merchants`, 'partner_merchants:read'),
  partnerRead(
    `${PARTNER}/merchants/:merchantId`,
    'partner_merchants:read',
    ({ merchant }) => `${PARTNER}/merchants/${merchant.id}`,
  ),
  partnerRead(`${PARTNER}/payments`, 'partner_payments:read'),
  partnerRead(`${PARTNER}/payment-filters`, 'partner_payments:read'),
  partnerRead(
    `${PARTNER}/payments/:paymentId`,
    'partner_payments:read',
    ({ payment }) => `${PARTNER}/payments/${payment.id}`,
  ),
  partnerRead(`${PARTNER}/team`, 'partner_team:read'),
];
