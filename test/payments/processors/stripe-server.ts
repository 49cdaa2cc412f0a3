import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Stripe from 'stripe';

export const WEBHOOK_SECRET = 'whsec_test_of_the_endpoint';

/** A request as Stripe received it. */
export interface ReceivedRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
}

/** A fake Stripe API over HTTP, with Stripe's real signatures. */
export interface StripeServer {
  readonly url: string;
  /** The environment variables that make the application use it. */
  readonly env: Record<string, string>;
  readonly received: ReceivedRequest[];
  /** Responds to further requests instead of opening a session; if it never ends the response, the request hangs. */
  answer: (response: ServerResponse, request: ReceivedRequest) => void;
  /** Opens a session: the default. */
  readonly openSession: (response: ServerResponse, request: ReceivedRequest) => void;
  close(): Promise<void>;
}

export async function startStripeServer(): Promise<StripeServer> {
  const received: ReceivedRequest[] = [];
  /** Like Stripe: the same idempotency key returns the same session. */
  const sessions = new Map<string, string>();

  const openSession: StripeServer['openSession'] = (response, request) => {
    const key = request.idempotencyKey ?? crypto.randomUUID();
    const id = sessions.get(key) ?? `cs_test_${crypto.randomUUID().replaceAll('-', '')}`;
    sessions.set(key, id);
    const url = `https://checkout.stripe.com/c/pay/${id}#fid`;
    const [method] = request.form.getAll('allowed_payment_method_types[0]');
    reply(response, 200, { object: 'checkout.session', id, url, payment_method_types: [method] });
  };

  const server = createServer(async (request, response) => {
    const read = await readRequest(request);
    received.push(read);
    stripe.answer(response, read);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const stripe: StripeServer = {
    url,
    env: {
      PROCESSOR: 'stripe',
      STRIPE_SECRET_KEY: 'sk_test_nobody_may_read_this',
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      STRIPE_API_URL: url,
    },
    received,
    answer: openSession,
    openSession,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return stripe;
}

/** Responds as Stripe does, with JSON. */
export function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_test' });
  response.end(JSON.stringify(body));
}

/** Responds with an error as Stripe does. */
export function refuse(
  response: ServerResponse,
  status: number,
  type: string,
  code?: string,
): void {
  reply(response, status, { error: { type, code, message: 'refused on purpose' } });
}

/** An event of Stripe about a checkout session, as its endpoint receives it. */
export interface SessionEvent {
  readonly type: string;
  readonly session: Record<string, unknown>;
  /** The signing secret; the endpoint's own unless a forger's. */
  readonly secret?: string;
  /** Whether it is of live mode. */
  readonly livemode?: boolean;
  /** When it was signed, in milliseconds since the epoch. */
  readonly signedAt: number;
}

export function signEvent({
  type,
  session,
  secret = WEBHOOK_SECRET,
  livemode = false,
  signedAt,
}: SessionEvent): {
  readonly payload: string;
  readonly headers: Record<string, string>;
} {
  const event = {
    id: `evt_${crypto.randomUUID().replaceAll('-', '')}`,
    object: 'event',
    api_version: '2026-10-28.endive',
    type,
    livemode,
    data: { object: { object: 'checkout.session', ...session } },
  };
  return signBody(JSON.stringify(event), { secret, signedAt });
}

/** Any body with a Stripe signature. */
export function signBody(
  payload: string,
  { secret = WEBHOOK_SECRET, signedAt }: Pick<SessionEvent, 'secret' | 'signedAt'>,
): { readonly payload: string; readonly headers: Record<string, string> } {
  const signature = new Stripe('sk_test_unused').webhooks.generateTestHeaderString({
    payload,
    secret,
    timestamp: Math.floor(signedAt / 1000),
  });
  return {
    payload,
    headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
  };
}

async function readRequest(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const key = request.headers['idempotency-key'];
  return {
    path: request.url ?? '',
    authorization: request.headers.authorization,
    headers: request.headers,
    idempotencyKey: Array.isArray(key) ? key[0] : key,
    form: new URLSearchParams(Buffer.concat(chunks).toString()),
  };
}
