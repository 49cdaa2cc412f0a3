import { type Static, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { TOKEN } from '#crypto/token.ts';
import { clientNetwork } from '#http/client-address.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { CHECKOUT_PREFIX } from '#payments/checkout-path.ts';
import { type CheckoutStatus, CheckoutStatusSchema } from '#schemas/checkout.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { CheckoutPayment } from '#storage/repositories/payments/payments.ts';
import { basePathOf } from '../../pages/base-path.ts';
import { findCheckoutPayment, readCheckout, readLiveState } from '../checkout.ts';
import { lookUpTransaction } from '../look-up.ts';
import { revisionOf, stageOf } from '../stage.ts';
import { renderCheckout } from './checkout-page.ts';
import type { CheckoutDependencies } from './dependencies.ts';
import { sendDocument } from './document.ts';
import { localeOf } from './locale.ts';
import { logoPath } from './logo.ts';
import type { LookUp } from './view.ts';

/** The token in the link, which is the only authentication. */
export const CheckoutParams = Type.Object({ token: Type.String({ pattern: TOKEN.source }) });

const PageQuery = Type.Object({
  /** The language that was chosen by hand. */
  lang: Type.Optional(Type.String()),
  /** What the customer entered as the hash of their transaction. */
  transaction: Type.Optional(Type.String()),
});

export type CheckoutRequest = FastifyRequest & { params: Static<typeof CheckoutParams> };

export type Pages = ReturnType<typeof createPages>;

interface PageOptions {
  readonly status?: number;
  readonly notice?: string | null;
  readonly lookUp?: LookUp | null;
}

export function createPages(deps: CheckoutDependencies) {
  const { clock, publicUrl, simulation } = deps;
  const basePath = basePathOf(publicUrl);
  const pathOf = ({ params }: CheckoutRequest) => `${basePath}${CHECKOUT_PREFIX}/${params.token}`;
  return {
    /** The page's URL path, with a proxy's prefix, and with the language if it was chosen by hand. */
    locationOf: (request: CheckoutRequest) => pathOf(request) + localeOf(request).query,
    async send(
      request: CheckoutRequest,
      reply: FastifyReply,
      payment: CheckoutPayment,
      { status = 200, notice = null, lookUp = null }: PageOptions = {},
    ): Promise<FastifyReply> {
      const now = new Date(clock());
      const checkout = await readCheckout(deps, payment, now);
      const { logoHash } = checkout.shop;
      const view = {
        checkout,
        stage: stageOf(payment, now),
        path: pathOf(request),
        locale: localeOf(request),
        logoUrl: logoHash === null ? null : logoPath(basePath, logoHash),
        now,
        basePath,
        notice,
        lookUp,
        simulation,
        example: null,
      };
      return sendDocument(reply, status, renderCheckout(view));
    },
  };
}

/** GET /checkout/:token, the page, and GET /checkout/:token/status, which its script polls. */
export function registerPages(
  app: TypedApp,
  { db, clock, lookUps }: CheckoutDependencies,
  pages: Pages,
): void {
  const schema = { params: CheckoutParams, querystring: PageQuery };
  app.get('/:token', { schema }, async (request, reply) => {
    const payment = await findCheckoutPayment(db, request.params.token);
    const lookUp = await lookUpFor(payment, request.query.transaction, clientNetwork(request));
    return pages.send(request, reply, payment, { lookUp });
  });

  app.get(
    '/:token/status',
    {
      config: { isForScripts: true },
      schema: { params: CheckoutParams, response: { 200: CheckoutStatusSchema } },
    },
    async (request): Promise<CheckoutStatus> => {
      const payment = await findCheckoutPayment(db, request.params.token);
      const now = new Date(clock());
      const stage = stageOf(payment, now);
      return {
        object: 'checkout_status',
        stage,
        revision: revisionOf(await readLiveState(db, payment, now), stage),
        expiresAt: payment.expires_at.toISOString(),
        serverTime: now.toISOString(),
      };
    },
  );

  async function lookUpFor(
    payment: Payment,
    text: string | undefined,
    client: string,
  ): Promise<LookUp | null> {
    if (text === undefined) return null;
    const asked = { client, now: new Date(clock()) };
    return { text, result: await lookUpTransaction({ db, lookUps }, payment, text, asked) };
  }
}
