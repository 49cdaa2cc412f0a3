import type { LightMyRequestResponse } from 'fastify';
import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Credentials } from '#client/index.ts';
import { ERRORS, type ErrorCode } from '#errors/catalogue.ts';
import type { CreatePaymentResponse } from '#schemas/create-payment.ts';
import type { Database } from '#storage/database/connection.ts';
import type { TestApp } from './app.ts';
import { PROMPT_PATH } from './prompt-path.ts';
import { send } from './signed-request.ts';

/** Requests a payment; text and bytes are sent unchanged. */
export function requestPrompt(
  service: TestApp,
  key: Credentials,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  return send(service, key, { path: PROMPT_PATH, body, headers });
}

/** Creates a payment that the test expects to be accepted. */
export async function createPrompt(
  service: TestApp,
  key: Credentials,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<CreatePaymentResponse> {
  const response = await requestPrompt(service, key, body, headers);
  expect(response.statusCode, response.body).toBe(201);
  return response.json();
}

/** Expects the catalogue's complete response for a code; without `param` if that is undefined. */
export function expectRefusal(
  response: LightMyRequestResponse,
  errorCode: ErrorCode,
  param?: string,
): void {
  const { status, type, code, retry } = ERRORS[errorCode];
  const { error } = response.json();
  expect({ status: response.statusCode, ...error }, response.body).toMatchObject({
    status,
    type,
    code,
    errorCode,
  });
  expect(error.param).toBe(param);
  expect(response.headers['x-mp-should-retry']).toBe(String(retry));
}

/** How many rows creations have written to each table so far. */
export async function countWritten(db: Database) {
  const { rows } = await sql<{ payments: number; events: number; responses: number }>`
    select (select count(*) from payments) as payments,
           (select count(*) from events) as events,
           (select count(*) from idempotency_keys) as responses`.execute(db);
  const [counts] = rows;
  if (counts === undefined) throw new Error('no counts');
  return counts;
}
