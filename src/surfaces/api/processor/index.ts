import { Type } from '@sinclair/typebox';
import { ApiError } from '#errors/api-error.ts';
import { registerFormBody } from '#http/form-body.ts';
import { registerPageValidation } from '#http/page-validation.ts';
import { readRawBody } from '#http/raw-body.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { refuseUnusableText } from '#http/usable-text.ts';
import { receiveNotification } from '#payments/processors/receive-notification.ts';
import { localeOf } from '../../checkout/page/locale.ts';
import type { ProcessorDependencies } from './dependencies.ts';
import { PROCESSOR_ASSETS, PROCESSOR_PREFIX, renderDone, sendPage } from './page.ts';
import { registerSandbox } from './sandbox.ts';

/** A form contains only a button and a network. */
const FORM_LIMIT_BYTES = 4 * 1024;

/** Routes for a processor and its customers. None of them is signed with an API key. */
export async function processorPlugin(app: TypedApp, deps: ProcessorDependencies): Promise<void> {
  if (deps.processor === null) {
    app.log.warn('no PROCESSOR is set: US accounts of live merchants cannot take payments');
  }
  // Notifications are read as bytes, because their signature covers the bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
  app.decorateRequest('rawBody');

  app.register(async notifications => registerNotifications(notifications, deps));
  app.register(async assets => PROCESSOR_ASSETS.register(assets), { prefix: PROCESSOR_PREFIX });
  app.register(async pages => {
    pages.addHook('onRequest', async request => deps.limits.countPage(request));
    refuseUnusableText(pages);
    registerFormBody(pages, FORM_LIMIT_BYTES);
    registerPageValidation(pages);
    pages.get('/processor/done', (request, reply) => {
      const { simulation } = deps;
      return sendPage(reply, 200, renderDone({ simulation, locale: localeOf(request) }));
    });
    registerSandbox(pages, deps);
  });
}

/** POST /processor/notifications/:name. Only failures count against the rate limit of the address. */
function registerNotifications(app: TypedApp, deps: ProcessorDependencies): void {
  app.post(
    '/processor/notifications/:name',
    {
      onRequest: async request => deps.limits.refuseExhaustedAddress(request),
      schema: { params: Type.Object({ name: Type.String() }) },
    },
    async (request, reply) => {
      try {
        const { processor } = deps;
        if (processor?.name !== request.params.name) {
          throw new ApiError('E3001', 'There is no such processor.');
        }
        const body = await readRawBody(request.raw);
        const { headers, log, trace } = request;
        await receiveNotification(deps, processor, { headers, body, trace }, log);
      } catch (error) {
        if (isRefusal(error)) deps.limits.countFailure(request);
        throw error;
      }
      return reply.send({ received: true });
    },
  );
}

/**
 * Whether the sender is at fault: not for E5…, which are failures of the service, nor for E1040 (the amount differs),
 * where the signature proves that the processor sent the notification.
 */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && !/^(E5|E1040)/.test(error.errorCode);
}
