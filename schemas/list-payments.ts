import { type Static, Type } from '@sinclair/typebox';
import { CUSTOMER_REFERENCE_MAXIMUM } from './create-payment.ts';
import { PaymentSchema, PaymentStatusSchema } from './payment.ts';
import { Closed, DateBound, Uuid } from './scalars.ts';

export const PAGE_SIZE_DEFAULT = 10;
export const PAGE_SIZE_MAXIMUM = 100;

export const ListPaymentsQuerySchema = Closed({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_SIZE_MAXIMUM,
      default: PAGE_SIZE_DEFAULT,
      description: 'Payments per page.',
    }),
  ),
  startingAfter: Type.Optional(Uuid('Cursor: payments created before this one.')),
  endingBefore: Type.Optional(Uuid('Cursor: payments created after this one.')),
  status: Type.Optional(PaymentStatusSchema),
  customerReferenceId: Type.Optional(
    Type.String({ maxLength: CUSTOMER_REFERENCE_MAXIMUM, description: 'Exact match.' }),
  ),
  createdAfter: Type.Optional(DateBound('Only payments created after this instant.')),
  createdBefore: Type.Optional(DateBound('Only payments created before this instant.')),
});

export const PaymentListSchema = Closed({
  object: Type.Literal('list'),
  data: Type.Array(PaymentSchema, {
    description: 'Newest first, with either cursor.',
  }),
  hasMore: Type.Boolean({
    description: 'Whether there are more payments in the requested direction.',
  }),
});

export const PaymentParamsSchema = Closed({ id: Uuid('ID of the payment.') });

export const EmptyQuerySchema = Closed({});

export type ListPaymentsQuery = Static<typeof ListPaymentsQuerySchema>;
export type PaymentList = Static<typeof PaymentListSchema>;
