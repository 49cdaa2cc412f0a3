import { answerFailure } from '#errors/handler.ts';
import { principalOf } from '#http/authentication.ts';
import { readIdempotentRequest, sendOutcome } from '#http/idempotency-key.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { createPayment, createPaymentOnce } from '#payments/create-payment.ts';
import { checkMerchantId } from '#payments/payee.ts';
import { ProcessorUnavailable } from '#payments/processor.ts';
import { CreatePaymentBodySchema, CreatePaymentResponseSchema } from '#schemas/create-payment.ts';
import { EmptyQuerySchema } from '#schemas/list-payments.ts';
import type { V1Dependencies } from './dependencies.ts';
import { CREATE_PAYMENT } from './operations.ts';

/**
 * A stored failure is E5002 only if the processor is down; any other is stored as E5001, since E5002 invites a retry
 * under the same key, which would only replay the stored failure.
 */
const isProcessorUnavailable = (error: unknown) => error instanceof ProcessorUnavailable;

/** POST /external/v1/payments/prompt */
export function registerCreatePayment(app: TypedApp, deps: V1Dependencies): void {
  const { db, clock, payments, publicUrl } = deps;
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
      // A repeated request gets its stored response, even if validation would refuse it now.
      attachValidation: true,
    },
    async (request, reply) => {
      const { body, trace } = request;
      const principal = principalOf(request);
      const check = () => {
        if (request.validationError !== undefined) throw request.validationError;
        checkMerchantId(principal, body.merchantId);
      };
      const creation = { principal, body, trace };
      const claim = readIdempotentRequest(request, new Date(clock()));
      if (claim === undefined) {
        check();
        const created = await createPayment(db, payments, creation);
        request.paymentId = created.prompt.id;
        return reply.status(201).send(created);
      }
      const serialize = reply.getSerializationFunction('201') ?? JSON.stringify;
      let paymentId: string | null = null;
      const outcome = await createPaymentOnce(db, payments, creation, {
        claim,
        check,
        respond: created => {
          paymentId = created.prompt.id;
          return { status: 201, body: Buffer.from(String(serialize(created))) };
        },
        onFailure: error => {
          const failures = { publicUrl, isUnavailable: isProcessorUnavailable };
          const { status, envelope } = answerFailure(error, request, failures);
          return { status, body: Buffer.from(JSON.stringify(envelope)) };
        },
      });
      if (outcome.status === 201) request.paymentId = paymentId;
      return sendOutcome(reply, outcome);
    },
  );
}
