import type { TypedApp } from '#http/typed-app.ts';
import { registerActiveBlockchains } from './active-blockchains.ts';
import { registerCreatePayment } from './create-payment.ts';
import type { V1Dependencies } from './dependencies.ts';
import { registerReadEvents } from './read-events.ts';
import { registerReadPayments } from './read-payments.ts';
import { registerSimulatePayment } from './simulate-payment.ts';

/** Prefix of the current contract; part of every signed path. */
export const V1_PREFIX = '/external/v1';

/** Every route of the current merchant contract. */
export function registerV1Routes(app: TypedApp, deps: V1Dependencies): void {
  registerCreatePayment(app, deps);
  registerReadPayments(app, deps);
  registerReadEvents(app, deps);
  registerActiveBlockchains(app, deps);
  registerSimulatePayment(app, deps);
}
