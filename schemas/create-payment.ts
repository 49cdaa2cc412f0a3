import { type Static, Type } from '@sinclair/typebox';
import { BLOCKCHAIN_IDS, BlockchainIdSchema } from './blockchain.ts';
import { PaymentSchema } from './payment.ts';
import { Uuid } from './scalars.ts';

/** Least and most a payment may be, in USD cents. */
export const AMOUNT_MINIMUM_CENTS = 50;
export const AMOUNT_MAXIMUM_CENTS = 100_000_000;
/** Longest text fields, in characters. */
export const NOTE_MAXIMUM = 500;
export const REDIRECT_URL_MAXIMUM = 2048;
export const CUSTOMER_REFERENCE_MAXIMUM = 255;

export const CreatePaymentBodySchema = Type.Object(
  {
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
          'Networks to offer; left out, every active network with a configured address is.',
      }),
    ),
    note: Type.Optional(
      Type.String({
        maxLength: NOTE_MAXIMUM,
        description:
          'Kept with the payment and told in partner reports; a payer on a US account sees it.',
      }),
    ),
    redirectUrl: Type.Optional(
      Type.String({
        maxLength: REDIRECT_URL_MAXIMUM,
        description: "Where the checkout leads back to; the hostname must be the merchant's.",
      }),
    ),
    customerReferenceId: Type.Optional(
      Type.String({
        maxLength: CUSTOMER_REFERENCE_MAXIMUM,
        description: 'Your reference; echoed unchanged and usable as a list filter.',
      }),
    ),
    merchantId: Type.Optional(
      Uuid('The merchant to create for: required for partner keys, forbidden for merchant keys.'),
    ),
  },
  { additionalProperties: false },
);

export const CreatePaymentResponseSchema = Type.Object(
  {
    prompt: PaymentSchema,
    checkoutUrl: Type.String({ description: 'Send the customer here; opaque, never build it.' }),
  },
  { additionalProperties: false },
);

export type CreatePaymentBody = Static<typeof CreatePaymentBodySchema>;
export type CreatePaymentResponse = Static<typeof CreatePaymentResponseSchema>;
