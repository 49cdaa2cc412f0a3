import { CUSTOMER_REFERENCE_MAXIMUM } from '#schemas/create-payment.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAXIMUM } from '#schemas/list-payments.ts';
import { PARTNER_PAGE_DEFAULT, PARTNER_PAGE_MAXIMUM } from '#schemas/partner-reports.ts';
import { PAYMENT_STATUSES } from '#schemas/payment.ts';
import { PAYMENT_ID } from '../../routes/v1/examples.ts';
import { block, code, error, type Guide, table } from './guide.ts';

export const PAGING: Guide = {
  slug: 'paging',
  title: 'Lists and paging',
  description: 'Read payments page by page without missing one or reading one twice.',
  markdown: () => `## Payments: cursors

${code('GET /external/v1/payments')} answers newest first, ${PAGE_SIZE_DEFAULT} a page unless ${code('limit')} (1 to ${PAGE_SIZE_MAXIMUM}) says otherwise:

${block('json', '{ "object": "list", "data": [ … ], "hasMore": true }')}

- **Older payments**: pass the last ${code('id')} of ${code('data')} as ${code('startingAfter')}, while ${code('hasMore')} is ${code('true')}.
- **Newer payments**: pass the first ${code('id')} as ${code('endingBefore')}. The page is still newest first.

${block('http', `GET /external/v1/payments?limit=${PAGE_SIZE_MAXIMUM}&startingAfter=${PAYMENT_ID}`)}

The cursor itself is not repeated. ${code('hasMore')} speaks of the direction you asked for. Payments that are created meanwhile do not move the pages. Both cursors at once are ${error('E1001')}; one that is no payment of the account is ${error('E3001')}.

## Filters

${table(
  ['parameter', 'keeps'],
  [
    [code('status'), PAYMENT_STATUSES.map(code).join(', ')],
    [
      code('customerReferenceId'),
      `exactly this reference, at most ${CUSTOMER_REFERENCE_MAXIMUM} characters`,
    ],
    [code('createdAfter'), 'created after this instant, which is not included'],
    [code('createdBefore'), 'created before this instant, which is not included'],
  ],
)}

An instant is an RFC 3339 date-time, or a date alone, which is its midnight in UTC. Write ${code('+')} as ${code('%2B')}: in a query a plus is a space. Timestamps have milliseconds, and one that you were given is exact as a bound.

Filters go with both cursors; use the same ones on every page. A parameter that is not listed is ${error('E1002')}, one that is empty or sent twice ${error('E1001')}.

## Partner reports: pages

The [partner lists](/docs/partners) take ${code('page')} (from 1) and ${code('limit')} (1 to ${PARTNER_PAGE_MAXIMUM}, ${PARTNER_PAGE_DEFAULT} unless you say otherwise), and answer with the exact ${code('total')}:

${block('json', `{ "data": [ … ], "total": 42, "page": 1, "limit": ${PARTNER_PAGE_DEFAULT} }`)}`,
};
