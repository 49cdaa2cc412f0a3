import { type Static, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '#errors/api-error.ts';
import type { TypedApp } from '#http/typed-app.ts';
import { auditRefusal, maySimulate } from '#payments/may-simulate.ts';
import {
  type NotificationKind,
  sendNotifications,
} from '#payments/processors/sandbox-notifications.ts';
import { listActiveNetworks } from '#storage/repositories/chains/networks.ts';
import { findPaymentOfSession } from '#storage/repositories/payments/processor-sessions.ts';
import { sendFailure } from '../../checkout/page/failures.ts';
import { CUSTOMER } from '../../checkout/page/forms.ts';
import { localeOf } from '../../checkout/page/locale.ts';
import type { ProcessorDependencies } from './dependencies.ts';
import { sendPage } from './page.ts';
import { actionsFor, renderSandbox } from './sandbox-pages.ts';
import type { SandboxAction } from './texts.ts';

const params = Type.Object({ token: Type.String() });
const SandboxForm = Type.Object({
  action: Type.Optional(Type.String()),
  network: Type.Optional(Type.String()),
});

type SandboxRequest = Pick<FastifyRequest, 'method' | 'ip'> & { params: Static<typeof params> };

/** Notifications that a real processor would send for each action, in order. */
const NOTIFICATIONS: Readonly<Record<SandboxAction, readonly NotificationKind[]>> = {
  pay: ['seen', 'settled'],
  hold: ['seen'],
  settle: ['settled'],
  fail: ['failed'],
  cancel: ['cancelled'],
};

/**
 * GET and POST /processor/sandbox/:token, the page of the sandbox processor. The token authorizes the
 * form, so a page of another site cannot submit it.
 */
export function registerSandbox(app: TypedApp, deps: ProcessorDependencies): void {
  const { db, clock, sandbox } = deps;
  const path = '/processor/sandbox/:token';
  // A payment of a live merchant may be left from a time when the service simulated.
  const find = async ({ params: { token }, method, ip: address }: SandboxRequest) => {
    const payment = await findPaymentOfSession(db, sandbox.name, sandbox.externalIdOf(token));
    if (payment === undefined) return undefined;
    if (maySimulate(deps.simulation, payment.merchant_environment)) return payment;
    if (method === 'POST') await auditRefusal({ ...CUSTOMER, db, clock, address }, payment);
    return undefined;
  };
  const sendMissing = (request: FastifyRequest, reply: FastifyReply) =>
    sendFailure(new ApiError('E3001'), request, reply, deps);

  app.get(path, { schema: { params } }, async (request, reply) => {
    const locale = localeOf(request);
    const payment = await find(request);
    if (payment === undefined) return sendMissing(request, reply);
    const networks = await listActiveNetworks(db);
    const now = new Date(clock());
    return sendPage(reply, 200, renderSandbox({ payment, networks, now, locale }));
  });

  app.post(path, { schema: { params, body: SandboxForm } }, async (request, reply) => {
    const locale = localeOf(request);
    const payment = await find(request);
    if (payment === undefined) return sendMissing(request, reply);
    const now = new Date(clock());
    const { action: pressed, network } = request.body;
    const action = actionsFor(payment, now).find(allowed => allowed === pressed);
    if (action === undefined) {
      const notice = `${locale.texts.failures.conflict.title}.`;
      const networks = await listActiveNetworks(db);
      return sendPage(reply, 409, renderSandbox({ payment, networks, now, locale, notice }));
    }
    request.log.info({ paymentId: payment.id, action, network }, 'sandbox');
    const { trace, log } = request;
    await sendNotifications({ db, clock }, sandbox, payment, NOTIFICATIONS[action], { trace, log });
    // Redirect, so that a reload does not submit the form again. The target is relative, because a proxy
    // may publish the service below a path.
    return reply.redirect(request.params.token + locale.query, 303);
  });
}
