import { type Static, Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import { Uuid } from '#schemas/scalars.ts';
import { findOwnPayment, type PaymentOnNetwork } from '#storage/repositories/payments/payments.ts';
import { membershipOf } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { ownPath } from '../kit/navigation.ts';

export const PAYMENT_PATH = '/merchants/:accountId/payments/:paymentId';
export const PaymentParams = Type.Object({ paymentId: Uuid('ID of the payment.') });

export type PaymentRequest = FastifyRequest & { params: Static<typeof PaymentParams> };

/** @throws ApiError E3001 for a payment of another merchant. */
export async function requirePayment(
  request: PaymentRequest,
  { db }: PanelDependencies,
): Promise<PaymentOnNetwork> {
  const { accountId } = membershipOf(request);
  const payment = await findOwnPayment(db, accountId, request.params.paymentId);
  if (payment === undefined) throw new ApiError('E3001');
  return payment;
}

/** The path of a payment's page, without the base path. */
export function paymentPath(request: PaymentRequest): string {
  return ownPath(request, `/payments/${request.params.paymentId}`);
}
