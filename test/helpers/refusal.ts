import { expect } from 'vitest';
import { ERRORS, type ErrorCode } from '#errors/catalogue.ts';
import type { ErrorEnvelope } from '#schemas/error.ts';

/** A response, however it was received. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const WITH_RETRY_AFTER: readonly ErrorCode[] = ['E4003', 'E9001'];

/**
 * Expects the refusal with this code, including its status, envelope and headers.
 * @param param The expected `param`; if omitted, it must be absent.
 */
export function expectRefusal(
  answer: Answer,
  errorCode: ErrorCode,
  param?: string,
): ErrorEnvelope['error'] {
  const { status, type, code, retry } = ERRORS[errorCode];
  const parsed: unknown = answer.body === '' ? undefined : JSON.parse(answer.body);
  // Compared together, so that a failure shows which refusal came instead.
  expect({ status: answer.statusCode, body: parsed }).toEqual({
    status,
    body: {
      error: {
        type,
        code,
        errorCode,
        message: expect.stringMatching(/\S/),
        ...(param === undefined ? {} : { param }),
        docUrl: `https://pay.example.test/docs/errors/${errorCode}`,
        userSafeMessage: errorCode === 'E5001',
        requestId: expect.stringMatching(UUID_V7),
      },
    },
  });
  const { error } = parsed as ErrorEnvelope;
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': error.requestId,
    'x-mp-should-retry': String(retry),
  });
  if (WITH_RETRY_AFTER.includes(errorCode)) {
    expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  } else {
    expect(answer.headers).not.toHaveProperty('retry-after');
  }
  return error;
}
