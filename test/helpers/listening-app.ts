import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { signingHeaders } from '#client/index.ts';
import { addMerchant, type MerchantWithKey } from './accounts.ts';
import { startTestApp, type TestApp } from './app.ts';
import { type Conversation, converse, type RawRequest, render } from './raw-http.ts';
import type { Answer } from './refusal.ts';

export const CREATE = '/external/v1/payments/prompt';
export const LIST = '/external/v1/payments';

interface SignedRawRequest extends Partial<RawRequest> {
  /** What is signed, if it differs from what is sent. */
  readonly signed?: { readonly target?: string; readonly body?: Uint8Array | string };
  /** null omits the header. */
  readonly contentType?: string | null;
  /** By default each request has a key of its own, which shows what a refusal leaves behind. */
  readonly idempotencyKey?: string;
}

/** The application on a port, with a merchant to send requests for. */
export interface ListeningApp {
  readonly service: TestApp;
  readonly shop: MerchantWithKey;
  readonly port: number;
  /** Renders a signed request: a creation if it has a body, otherwise a list. */
  sign(request: SignedRawRequest): Buffer;
  /** Sends a signed request on a separate connection. */
  ask(request: SignedRawRequest): Promise<Answer>;
  /** Sends bytes, and reads until the connection ends or `count` responses have come. */
  converse(bytes: Uint8Array | string, count?: number): Promise<Conversation>;
  /**
   * Expects that no response was a 5xx, that exactly this many payments and idempotency keys exist, and
   * that the service still accepts a payment.
   */
  expectUnharmed(payments: number): Promise<void>;
}

export async function startListeningApp(): Promise<ListeningApp> {
  const service = await startTestApp();
  const shop = await addMerchant(service, { domains: ['shop.example'] });
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = service.app.server.address() as AddressInfo;

  function sign({ signed = {}, ...request }: SignedRawRequest): Buffer {
    const { body, contentType = body === undefined ? null : 'application/json' } = request;
    const method = request.method ?? (body === undefined ? 'GET' : 'POST');
    const target = request.target ?? (body === undefined ? LIST : CREATE);
    const headers = signingHeaders(shop, {
      method,
      path: signed.target ?? target,
      body: signed.body ?? body,
      now: service.clock(),
    });
    return render({
      ...request,
      method,
      target,
      headers: [
        ...Object.entries(headers),
        ...(contentType === null ? [] : [['Content-Type', contentType] as const]),
        ['Idempotency-Key', request.idempotencyKey ?? crypto.randomUUID()],
        ...(request.headers ?? []),
      ],
    });
  }

  async function ask(request: SignedRawRequest): Promise<Answer> {
    const { answers } = await converse(port, sign(request), 1);
    const [answer] = answers;
    if (answer === undefined) throw new Error('the connection ended without an answer');
    return answer;
  }

  return {
    service,
    shop,
    port,
    sign,
    ask,
    converse: (bytes, count) => converse(port, bytes, count),
    async expectUnharmed(payments) {
      const failed = service.logs.filter(
        ({ level, status }) => level === 'error' || Number(status) >= 500,
      );
      expect(failed).toEqual([]);
      for (const table of ['payments', 'events', 'idempotency_keys'] as const) {
        const rows = await service.db.selectFrom(table).select('created_at').execute();
        expect({ table, rows: rows.length }).toEqual({ table, rows: payments });
      }
      expect((await ask({ body: '{"amount":5000}' })).statusCode).toBe(201);
      expect(
        (await converse(port, render({ method: 'GET', target: '/readyz' }), 1)).answers,
      ).toEqual([expect.objectContaining({ statusCode: 200 })]);
    },
  };
}
