import { CreatePaymentBodySchema, CreatePaymentResponseSchema } from '#schemas/create-payment.ts';
import { EmptyQuerySchema } from '#schemas/list-payments.ts';
import { principalOf } from '../../http/authentication.ts';
import { readIdempotentRequest, sendOutcome } from '../../http/idempotency.ts';
import { createOnce } from '../../payments/create-once.ts';
import { createPayment, decideCreation, toResponse } from '../../payments/create-payment.ts';
import { checkMerchantId } from '../../payments/payee.ts';
import type { SignedApp } from '../signed-app.ts';
import type { V1Dependencies } from './dependencies.ts';
import { CREATE_PAYMENT } from './operations.ts';

/** POST /external/v1/payments/prompt */
export function registerCreatePayment(app: SignedApp, deps: V1Dependencies): void {
  const { db, clock, payments, onExecutionFailure } = deps;
  app.post(
    '/payments/prompt',
    {
      config: {
        access: { principals: ['merchant', 'partner'], scope: 'payment_prompts:write' },
        operation: CREATE_PAYMENT,
      },
      schema: {
        querystring: EmptyQuerySchema,
        body: CreatePaymentBodySchema,
        response: { 201: CreatePaymentResponseSchema },
      },
      // A repeated request is answered before anything is found wrong with it.
      attachValidation: true,
    },
    async (request, reply) => {
      const { body, trace } = request;
      const principal = principalOf(request);
      const check = () => {
        if (request.validationError !== undefined) throw request.validationError;
        checkMerchantId(principal, body.merchantId);
      };
      const idempotent = readIdempotentRequest(request);
      if (idempotent === undefined) {
        check();
        return reply
          .status(201)
          .send(await createPayment(db, payments, { principal, body, trace }));
      }
      const serialize = reply.getSerializationFunction('201') ?? JSON.stringify;
      const outcome = await createOnce(db, idempotent, new Date(clock()), {
        check,
        decide: () => decideCreation(payments, { principal, body, trace }),
        answer: draft => ({ status: 201, body: Buffer.from(String(serialize(toResponse(draft)))) }),
        onFailure: error => onExecutionFailure(request, error),
      });
      return sendOutcome(reply, outcome);
    },
  );
}
