import { STATUS_CODES } from 'node:http';
import { expect } from 'vitest';
import { createUser, issueLegacyKey } from '#accounts/users.ts';
import type { MerchantUser } from '#storage/database/account-tables.ts';
import { LEGACY_REFUSALS, type LegacyReason } from '#surfaces/legacy/refusal.ts';
import { addMerchant, type MerchantWithKey, operatorOf } from '../../helpers/accounts.ts';
import type { TestApp } from '../../helpers/app.ts';
import type { Answer } from '../../helpers/refusal.ts';

export const PROMPT = '/external/payments/prompt';
export const ACTIVE = '/external/blockchains/active';
/** The body of a creation that is accepted. */
export const BODY = { amount: 19.99, blockchainIds: ['btc', 'eth'], payer: 'merchant' } as const;

/** A merchant with a v1 key and an admin who has a key of the older contract. */
export interface OlderMerchant extends MerchantWithKey {
  readonly user: MerchantUser;
  readonly clientId: string;
  readonly apiKey: string;
}

type Service = Pick<TestApp, 'app' | 'db' | 'clock' | 'keyring'>;

export async function addOlderMerchant(
  service: Service,
  options: Parameters<typeof addMerchant>[1] = {},
): Promise<OlderMerchant> {
  const shop = await addMerchant(service, options);
  return { ...shop, ...(await addAdmin(service, shop.merchant.id)) };
}

export async function addAdmin(service: Service, merchantId: string) {
  const operator = operatorOf(service);
  const name = { name: 'Admin', email: 'admin@example.com', role: 'admin' } as const;
  const user = await createUser(operator, { merchantId, ...name });
  return { user, ...(await issueLegacyKey(operator, service.keyring, user.id)) };
}

export function basic(clientId: string, apiKey: string): string {
  return `Basic ${Buffer.from(`${clientId}:${apiKey}`).toString('base64')}`;
}

interface OlderRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path?: string;
  /** Text and bytes are sent unchanged, anything else as JSON. With a body the request is a creation. */
  readonly body?: unknown;
  /** undefined omits a header. */
  readonly headers?: Record<string, string | undefined>;
  readonly address?: string;
}

/** Sends a request of the older contract, authenticated unless the headers say otherwise. */
export function ask(
  { app }: Service,
  { clientId, apiKey }: { clientId: string; apiKey: string },
  { body, address, ...request }: OlderRequest = {},
) {
  const { method = body === undefined ? 'GET' : 'POST' } = request;
  const headers: Record<string, string | undefined> = {
    authorization: basic(clientId, apiKey),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...request.headers,
  };
  for (const name of Object.keys(headers)) if (headers[name] === undefined) delete headers[name];
  const raw = typeof body === 'string' || Buffer.isBuffer(body);
  return app.inject({
    method,
    url: request.path ?? (body === undefined ? ACTIVE : PROMPT),
    headers: headers as Record<string, string>,
    ...(address === undefined ? {} : { remoteAddress: address }),
    ...(body === undefined ? {} : { payload: raw ? body : JSON.stringify(body) }),
  });
}

/** Expects the older contract's complete response for a reason, and nothing of the v1 envelope. */
export function expectLegacyRefusal(response: Answer, reason: LegacyReason, detail = ''): void {
  const { status, message } = LEGACY_REFUSALS[reason];
  const body = JSON.parse(response.body);
  expect({ status: response.statusCode, body }).toEqual({
    status,
    body: {
      statusCode: status,
      message: expect.stringContaining(message),
      error: STATUS_CODES[status],
    },
  });
  expect(body.message.startsWith(message), body.message).toBe(true);
  expect(body.message).toContain(detail);
  expectLegacyHeaders(response);
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  expect('www-authenticate' in response.headers).toBe(status === 401);
  expect('retry-after' in response.headers).toBe(status === 429);
}

/** Expects the headers of every response of the older contract. */
export function expectLegacyHeaders(
  { headers }: Answer,
  successor?: string,
  deprecation?: string,
): void {
  expect(headers.deprecation).toBe(deprecation);
  expect(headers.link).toMatch(
    /^<https:\/\/pay\.example\.test\/external\/v1[^>]*>; rel="successor-version"$/,
  );
  if (successor !== undefined) expect(headers.link).toContain(`.test${successor}>`);
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers).not.toHaveProperty('x-mp-should-retry');
}
