import type { TypedApp } from '#http/typed-app.ts';
import { makeEvidence } from '#reports/evidence/document.ts';
import { withPermission } from '../hooks/access.ts';
import type { PanelDependencies } from '../hooks/dependencies.ts';
import { requireOwnPage } from '../hooks/same-origin.ts';
import type { Exports } from '../kit/exports.ts';
import { registerAccounting } from './accounting.ts';
import { detailPage } from './detail.ts';
import { registerPaymentList } from './list-routes.ts';
import { PAYMENT_PATH, PaymentParams, requirePayment } from './require-payment.ts';
import { registerReturns } from './returns.ts';
import { registerSimulation } from './simulation.ts';

/**
 * The payments of a merchant: their list and its file, a payment with its timeline, returns of parts, and simulation.
 */
export function registerPayments(app: TypedApp, deps: PanelDependencies, exports: Exports): void {
  const { clock, db, keyring, publicUrl } = deps;

  registerPaymentList(app, deps, exports);
  registerAccounting(app, deps, exports);
  registerSimulation(app, deps);
  registerReturns(app, deps);

  const reading = withPermission('merchant', 'payments.read', { params: PaymentParams });
  app.get(PAYMENT_PATH, reading, request => detailPage(request, deps, null));

  const proving = withPermission('merchant', 'payments.evidence', { params: PaymentParams });
  app.get(`${PAYMENT_PATH}/evidence.json`, proving, async (request, reply) => {
    requireOwnPage(request);
    const payment = await requirePayment(request, deps);
    return exports.sendSigned(request, reply, {
      name: `evidence-${payment.id}.json`,
      action: 'payment.evidence',
      objectId: payment.id,
      sign: () => makeEvidence({ db, keyring, clock, publicUrl }, payment),
    });
  });
}
