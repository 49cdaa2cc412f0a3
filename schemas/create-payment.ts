import { type Static, Type } from '@sinclair/typebox';
import { BLOCKCHAIN_IDS, BlockchainIdSchema } from './blockchain.ts';
import { PaymentSchema } from './payment.ts';
import { Closed, Uuid } from './scalars.ts';

/** Smallest and largest amount of a payment, in USD cents. */
export const AMOUNT_MINIMUM_CENTS = 50;
export const AMOUNT_MAXIMUM_CENTS = 100_000_000;
/** Maximum lengths of text fields, in characters. */
export const NOTE_MAXIMUM = 500;
export const REDIRECT_URL_MAXIMUM = 2048;
export const CUSTOMER_REFERENCE_MAXIMUM = 255;

export const CreatePaymentBodySchema = Closed({
  amount: Type.Integer({
    minimum: AMOUNT_MINIMUM_CENTS,
    maximum: AMOUNT_MAXIMUM_CENTS,
    description: 'USD cents.',
  }),
  blockchainIds: Type.Optional(
    Type.Array(BlockchainIdSchema, {
      minItems: 1,
      maxItems: BLOCKCHAIN_IDS.length,
      description:
        'Networks to offer. Default: every offered network that the merchant has a deposit address for.',
    }),
  ),
  note: Type.Optional(
    Type.String({
      maxLength: NOTE_MAXIMUM,
      description:
        'Stored with the payment and shown in partner reports. On US accounts the payer sees it too.',
    }),
  ),
  redirectUrl: Type.Optional(
    Type.String({
      maxLength: REDIRECT_URL_MAXIMUM,
      description:
        "Where the checkout sends the customer back to. The hostname must be one of the merchant's redirect domains.",
    }),
  ),
  customerReferenceId: Type.Optional(
    Type.String({
      maxLength: CUSTOMER_REFERENCE_MAXIMUM,
      description:
        'Your own reference. Returned unchanged, and a filter of the list. Customers see it on the checkout as the number of their order.',
    }),
  ),
  merchantId: Type.Optional(
    Uuid(
      'The merchant to create the payment for. Required with partner keys, not allowed with merchant keys.',
    ),
  ),
});

export const CreatePaymentResponseSchema = Closed({
  prompt: PaymentSchema,
  checkoutUrl: Type.String({
    description: 'URL to send the customer to. Use it as it is; do not build it yourself.',
  }),
});

export type CreatePaymentBody = Static<typeof CreatePaymentBodySchema>;
export type CreatePaymentResponse = Static<typeof CreatePaymentResponseSchema>;
