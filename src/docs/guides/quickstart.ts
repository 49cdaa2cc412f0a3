import { AMOUNT_MAXIMUM_CENTS, AMOUNT_MINIMUM_CENTS } from '#schemas/create-payment.ts';
import { KEY_ID_PREFIX, SECRET_PREFIX } from '../../keys/manage-keys.ts';
import { MERCHANT_SCOPES } from '../../keys/scopes.ts';
import { CREATED, SUCCESSFUL_PAYMENT } from '../../routes/v1/examples.ts';
import { readSnippet, SNIPPETS } from '../snippets.ts';
import { block, code, dollars, error, type Guide, json } from './guide.ts';

const [SHELL] = SNIPPETS;

export const QUICKSTART: Guide = {
  slug: 'quickstart',
  title: 'Quickstart',
  description: 'A first payment, from a key to a paid order, in fifteen minutes.',
  markdown: ({ publicUrl, environment }) => `## 1. Have a key

A key has three parts: a key ID (${code(`${KEY_ID_PREFIX}…`)}), a secret (${code(`${SECRET_PREFIX}…`)}) and a passphrase. A Merchant Admin makes one in the merchant panel, an operator on the command line:

${block('sh', "npx mp key create --merchant ID --name 'Web shop'")}

Left alone, a key has every scope of a merchant: ${MERCHANT_SCOPES.map(code).join(', ')}. Secret and passphrase are shown this once. They belong on your server and nowhere else.

${block(
  'sh',
  `export MP_URL=${publicUrl}
export MP_KEY_ID=${KEY_ID_PREFIX}…
export MP_SECRET=${SECRET_PREFIX}…
export MP_PASSPHRASE=…`,
)}
${
  environment === 'production'
    ? ''
    : `
On a machine of your own, ${code('npm ci && npm start')} brings the service up with demo accounts, and ${code(
        'npx mp request',
      )} signs with their keys: ${code(
        `npx mp request POST /external/v1/payments/prompt --body '{"amount":5000}'`,
      )}.
`
}
## 2. Create a payment

Every request is signed. This one is complete, and the same in Node.js, Python and PHP is under [signing](/docs/signing#complete-programs):

${block(SHELL.language, readSnippet(SHELL))}

${code('amount')} is in US cents, from ${code(AMOUNT_MINIMUM_CENTS)} to ${code(AMOUNT_MAXIMUM_CENTS)} (${dollars(AMOUNT_MINIMUM_CENTS)} to ${dollars(AMOUNT_MAXIMUM_CENTS)}). ${code('customerReferenceId')} is your order, and ${code('Idempotency-Key')} makes sure that it is charged once, however often you [repeat the request](/docs/idempotency).

The answer has the payment and the page to send the customer to:

${json({ prompt: { object: 'payment_prompt', id: CREATED.prompt.id, amount: 5000, status: 'pending', '…': '…' }, checkoutUrl: CREATED.checkoutUrl })}

If it says ${error('E2007')} instead, hold your code against the [worked example](/docs/signing#a-worked-example): outside production the message names what the server signed.

## 3. Send the customer there

Redirect to ${code('checkoutUrl')} as it is. The customer chooses a network, sees address, exact amount and QR code, and pays. [Checkout and redirects](/docs/checkout) tells how they come back.

${
  environment === 'production'
    ? ''
    : 'This installation is not in production: the panel at the end of the checkout page plays what happens on the chain, so you can see each ending without a coin.\n\n'
}## 4. Learn how it ended

Read the payment. Nothing else proves it, least of all that the customer came back:

${block('http', `GET /external/v1/payments/${SUCCESSFUL_PAYMENT.id}`)}

${json({ object: 'payment_prompt', id: SUCCESSFUL_PAYMENT.id, status: 'successful', paidAt: SUCCESSFUL_PAYMENT.paidAt, '…': '…' })}

Deliver at ${code('successful')}; it is final and never undone. ${code('unsuccessful')}, ${code('expired')} and ${code('cancelled')} are final too. While it is ${code('pending')}, ask again every few seconds, or have a [webhook](/docs/webhooks) tell you.

## Before you go live

- Retry only where ${code('X-MP-Should-Retry')} is ${code('true')}, signed afresh, with the same idempotency key.
- Decide by ${code('errorCode')}, never by ${code('message')}, and keep ${code('requestId')} in your logs. [All errors](/docs/errors).
- Keep ${code('id')} of the payment with your order before you redirect.
- Let your server's clock be set by NTP.`,
};
