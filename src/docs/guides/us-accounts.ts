import { REGULATED_WINDOW_MINUTES } from '../../payments/regulated-flow.ts';
import { code, duration, error, type Guide, table } from './guide.ts';

export const US_ACCOUNTS: Guide = {
  slug: 'us-accounts',
  title: 'US accounts',
  description: 'The same API over a regulated payment processor, and the few things that differ.',
  markdown:
    () => `How a payment is processed depends on the account, not on the request: endpoints, signing, statuses and webhooks are the same.

${table(
  ['what', 'standard account', 'US account'],
  [
    ['customer pays', 'on our checkout, on chain', "on the processor's page"],
    [code('checkoutUrl'), 'ours', "the processor's own; opaque"],
    [code('blockchainIds'), 'what is offered', 'checked for form, then ignored'],
    [
      `${code('blockchainId')}, ${code('tokenAmount')}, ${code('settlementModel')}`,
      'filled in',
      `always ${code('null')}`,
    ],
    [
      code('transactionHash'),
      'hash on chain, once seen',
      'reference the processor reported, once settled',
    ],
    [code('commissionAmount'), 'known when a network is chosen', 'known at settlement'],
    [`${code('externalId')} of events`, code('null'), "the processor's reference"],
    [code('redirectUrl'), 'customers are led back', 'kept, but customers are not led back'],
    [
      'time to pay',
      'the window of the network',
      `${duration(REGULATED_WINDOW_MINUTES * 60)} from creation`,
    ],
    ['onboarding', 'none', `has to be approved: until then every request is ${error('E2102')}`],
  ],
)}

## What to expect

- Wherever a fee falls to the shopper, the processor asks for amount and fee together; ${code('amount')} stays what you sent.
- Before a payment expires, the processor is asked once more: one that was paid there never ends as ${code('expired')}.
- A creation asks the processor and takes as long as that does. If it is down, the answer is 503 ${error('E5002')}, which is kept under the idempotency key: see [when a creation stays uncertain](/docs/idempotency#when-a-creation-stays-uncertain).
- Where no processor is configured, creations are ${error('E1030')}.

## Trying it

Outside production the processor may be a sandbox that serves a page of its own, with a button for each ending: paid, held, failed, cancelled.`,
};
