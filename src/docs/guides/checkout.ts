import { BLOCKCHAIN_IDS } from '#schemas/blockchain.ts';
import { REDIRECT_URL_MAXIMUM } from '#schemas/create-payment.ts';
import { PAYMENT_STATUSES } from '#schemas/payment.ts';
import { LOOPBACK_HOSTS, REDIRECT_DOMAINS_MAXIMUM } from '../../accounts/redirect-domains.ts';
import { RETURNED } from '../../checkout/checkout.ts';
import { PAYMENT_ID } from '../../routes/v1/examples.ts';
import { OVERPAYMENT_PER_MILLE } from '../../settlement/match-transfer.ts';
import { block, code, error, type Guide, table } from './guide.ts';

const ENDINGS: Readonly<Record<(typeof PAYMENT_STATUSES)[number], string>> = {
  pending: 'Not paid yet, or paid and not final yet. The only status that is left again.',
  successful: 'The funds are final. Deliver.',
  unsuccessful: 'The transaction failed, or the time passed with too little paid.',
  expired: 'The time passed without any payment.',
  cancelled: 'The customer or the system cancelled before any funds were seen.',
};

const isTest = (id: string) => /-(test|dev)$/.test(id);
const [query1, query2] = RETURNED;

export const CHECKOUT: Guide = {
  slug: 'checkout',
  title: 'Checkout and redirects',
  description: 'What the customer sees, how they come back, and what a payment can become.',
  markdown: () => `## The checkout page

Send the customer to ${code('checkoutUrl')} exactly as you got it: it is opaque, and whoever has it can open the page. The page needs no account and no script; it shows amount, network, address, QR code and time left, and follows the payment by itself.

The customer chooses among the networks that are active, that the merchant has an address for and that have an agreed price. Choosing fixes the price, and sets ${code('expiresAt')} anew: read that field and assume no duration.

Each payment is asked for in an amount that no other open payment at the address has, so that one address serves many. The exact amount settles, and so does up to ${Number(OVERPAYMENT_PER_MILLE) / 10} % more where only one payment is open at the address. Too little leaves the payment open, with ${code('lastError.code')} ${code('amount_underpaid')}; parts are never added up.

## Statuses

${table(
  ['status', 'means'],
  PAYMENT_STATUSES.map(status => [code(status), ENDINGS[status]]),
)}

All but ${code('pending')} are final: there is no way out of them, and no refund through the API. ${code('sessionStatus')} becomes ${code('completed')} as soon as enough funds are seen. From then on the payment neither expires nor can be cancelled; it waits until the funds are final or undone.

## Coming back

With a ${code('redirectUrl')} the customer gets back to you from the end of the checkout:

${block('text', `https://shop.example.com/thanks?${query1}=${PAYMENT_ID}&${query2}=successful`)}

${RETURNED.map(code).join(' and ')} are appended to what your URL had. **They prove nothing**: anybody can type them. Read the payment, or wait for the [webhook](/docs/webhooks). Some customers never come back at all.

What a ${code('redirectUrl')} has to be:

${table(
  ['rule', 'otherwise'],
  [
    [
      `the merchant has allowed domains, at most ${REDIRECT_DOMAINS_MAXIMUM}: full hostnames, without path, port or wildcard`,
      error('E1010'),
    ],
    [
      `an absolute https URL of at most ${REDIRECT_URL_MAXIMUM} characters, without user or password; plain http only outside production, and only to ${LOOPBACK_HOSTS.map(code).join(', ')} where allowed`,
      error('E1011'),
    ],
    ['its hostname is exactly one of the allowed domains; subdomains are others', error('E1012')],
  ],
)}

Too long a URL is ${error('E1001')}. On [US accounts](/docs/us-accounts) customers are not led back.

## Networks

There are ${BLOCKCHAIN_IDS.length} IDs. Which are active now is what ${code('GET /external/v1/blockchains/active')} tells; how long a payment on one may take is in ${code('expiresAt')}.

- **Production**: ${BLOCKCHAIN_IDS.filter(id => !isTest(id))
    .map(code)
    .join(', ')}
- **Test**: ${BLOCKCHAIN_IDS.filter(isTest).map(code).join(', ')}

Without ${code('blockchainIds')} a payment offers every active network that the merchant has an address for. An explicit list needs an address for each entry, or it is ${error('E1020')}; what is not active when the customer pays is simply not offered.`,
};
