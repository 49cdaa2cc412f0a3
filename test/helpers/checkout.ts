import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import type { SimulationCase } from '#onchain/settlement/simulate.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import { findPayment } from '#storage/repositories/payments/payments.ts';
import type { MerchantWithKey } from './accounts.ts';
import type { TestApp } from './app.ts';
import { createPrompt } from './prompts.ts';
import { simulate as playSimulation } from './simulate.ts';

/** A checkout page as a customer gets it, without a browser. */
export interface OpenedCheckout {
  readonly paymentId: string;
  readonly path: string;
  get(url?: string, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  /** Sends a form; `part` follows the page's path. */
  post(
    part: string,
    fields?: Record<string, string> | string,
    headers?: Record<string, string>,
  ): Promise<LightMyRequestResponse>;
  /** Chooses a network, and expects to be redirected to the page. */
  pick(network: string): Promise<void>;
  /** Simulates a case without the page. */
  simulate(play: SimulationCase): Promise<void>;
  payment(): Promise<Payment>;
}

/** Creates a payment through the API and opens its checkout. */
export async function openCheckout(
  service: TestApp,
  key: MerchantWithKey,
  body: Record<string, unknown> = {},
): Promise<OpenedCheckout> {
  const { app, db, rates, clock } = service;
  const { prompt, checkoutUrl } = await createPrompt(service, key, { amount: 5000, ...body });
  const path = new URL(checkoutUrl).pathname;

  const post: OpenedCheckout['post'] = (part, fields = {}, headers = {}) =>
    app.inject({
      method: 'POST',
      url: `${path}/${part}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      payload: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
    });

  return {
    paymentId: prompt.id,
    path,
    get: (url = path, headers = { accept: 'text/html' }) => app.inject({ url, headers }),
    post,
    async pick(network) {
      const response = await post('network', { network });
      expect(response.statusCode, response.body).toBe(303);
    },
    async simulate(play) {
      await playSimulation({ db, rates }, prompt.id, play, new Date(clock()));
    },
    async payment() {
      const payment = await findPayment(db, prompt.id);
      if (payment === undefined) throw new Error('the payment is gone');
      return payment;
    },
  };
}
