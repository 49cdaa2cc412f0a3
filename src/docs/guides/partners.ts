import {
  PARTNER_PAGE_DEFAULT,
  PARTNER_PAGE_MAXIMUM,
  PARTNER_TEXT_MAXIMUM,
} from '#schemas/partner-reports.ts';
import { PARTNER_DEVELOPER_SCOPES, PARTNER_OWNER_SCOPES } from '../../keys/scopes.ts';
import { RECENT_PAYMENTS } from '../../partners/merchant-reports.ts';
import { WHOLE_TEXT_MINIMUM } from '../../partners/search.ts';
import { MERCHANT_ID } from '../../routes/partner/examples.ts';
import { PARTNER_PREFIX } from '../../routes/partner/index.ts';
import { TREND_DAYS } from '../../time/days.ts';
import { block, code, error, type Guide, json, table } from './guide.ts';

export const PARTNERS: Guide = {
  slug: 'partners',
  title: 'Partner API',
  description: 'Create payments for your merchants, and read reports over all of them.',
  markdown: () => `## Keys

A partner has members, and a key belongs to one of them. The role decides what it may do, whatever is stored with it:

${table(
  ['role', 'scopes'],
  [
    ['owner', PARTNER_OWNER_SCOPES.map(code).join(', ')],
    ['developer', PARTNER_DEVELOPER_SCOPES.map(code).join(', ')],
  ],
)}

Requests are [signed](/docs/signing) like any other; the signed path begins with ${code(PARTNER_PREFIX)}. A partner key on a route for merchants is ${error('E2008')}, and so is a merchant key here.

## Creating for a merchant

The route is the merchants' own, with ${code('merchantId')}:

${block('http', 'POST /external/v1/payments/prompt')}

${json({ amount: 5000, merchantId: MERCHANT_ID, customerReferenceId: 'order-1001' })}

The merchant's main branch, addresses, redirect domains and onboarding apply. A merchant that is not yours is ${error('E3001')}, an inactive one ${error('E2008')}, a US merchant that is not approved ${error('E2102')}; without ${code('merchantId')} it is ${error('E1001')}. Idempotency keys are the partner's: one key serves one payment, whichever merchant it is for.

A linked merchant may use keys of its own only while the partner has self-service switched on; otherwise it gets ${error('E2103')}.

## Reports

${table(
  ['route', 'reads'],
  [
    [
      code(`GET ${PARTNER_PREFIX}/overview`),
      `figures, what needs attention, and the volume of the last ${TREND_DAYS} UTC days`,
    ],
    [
      code(`GET ${PARTNER_PREFIX}/merchants`),
      `merchants with their figures; ${code('search')}, ${code('actionRequired=true')}`,
    ],
    [
      code(`GET ${PARTNER_PREFIX}/merchants/{merchantId}`),
      `one merchant: branches, figures, its ${RECENT_PAYMENTS} latest payments`,
    ],
    [code(`GET ${PARTNER_PREFIX}/payments`), 'payments of all merchants, with filters'],
    [code(`GET ${PARTNER_PREFIX}/payments/{paymentId}`), 'one payment'],
    [code(`GET ${PARTNER_PREFIX}/payment-filters`), 'merchants and networks to filter by'],
    [code(`GET ${PARTNER_PREFIX}/team`), 'members'],
  ],
)}

- **Amounts and volumes are dollars** here, as numbers; in the payment API they are cents.
- Lists take ${code('page')} and ${code('limit')} (1 to ${PARTNER_PAGE_MAXIMUM}, ${PARTNER_PAGE_DEFAULT} unless you say otherwise) and tell the exact ${code('total')}.
- Texts to filter by have at most ${PARTNER_TEXT_MAXIMUM} characters; case is ignored. A ${code('search')} of ${WHOLE_TEXT_MINIMUM} or more characters that is exactly a name, an ID, an address, a hash or a reference is taken as whole.
- ${code('startDate')} and ${code('endDate')} are both included.
- A payment belongs to the partner its merchant was assigned to when it was created, for good.
- Figures are exact at once: each change of a payment records its effect in its own transaction.

An ID that is not yours is ${error('E3001')}, one that is no UUID ${error('E1001')}. The [reference](/docs/reference#partner-reports) has every field.`,
};
