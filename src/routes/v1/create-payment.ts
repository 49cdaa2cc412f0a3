import { CreatePaymentBodySchema, CreatePaymentResponseSchema } from '#schemas/create-payment.ts';
import { EmptyQuerySchema } from '#schemas/list-payments.ts';
import { createPayment } from '../../payments/create-payment.ts';
import { checkMerchantId } from '../../payments/payee.ts';
import { principalOf } from '../../plugins/authentication.ts';
import type { SignedApp } from '../signed-app.ts';
import type { V1Dependencies } from './dependencies.ts';

/** POST /external/v1/payments/prompt */
export function registerCreatePayment(app: SignedApp, deps: V1Dependencies): void {
  app.post(
    '/payments/prompt',
    {
      config: {
        access: { principals: ['merchant', 'partner'], scope: 'payment_prompts:write' },
      },
      schema: {
        querystring: EmptyQuerySchema,
        body: CreatePaymentBodySchema,
        response: { 201: CreatePaymentResponseSchema },
      },
      preValidation: deps.idempotency.replay,
    },
    async (request, reply) => {
      const principal = principalOf(request);
      checkMerchantId(principal, request.body.merchantId);
      await deps.idempotency.execute(request, reply, async tx => {
        const created = await createPayment(
          tx,
          { principal, body: request.body, clock: deps.clock },
          deps.payments,
        );
        const serialize = reply.getSerializationFunction('201') ?? JSON.stringify;
        return { status: 201, body: Buffer.from(String(serialize(created))) };
      });
      return reply;
    },
  );
}
