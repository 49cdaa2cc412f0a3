import { describe, expect, test } from 'vitest';
import { ApiError } from '#errors/api-error.ts';
import { ERRORS } from '#errors/catalogue.ts';
import { toResponse } from '#errors/envelope.ts';

/** The specification's table: errorCode, code, HTTP status, type, whether to retry. */
const SPECIFIED = [
  ['E1000', 'invalid_request', 400, 'invalid_request_error', false],
  ['E1001', 'parameter_invalid', 400, 'invalid_request_error', false],
  ['E1002', 'parameter_unknown', 400, 'invalid_request_error', false],
  ['E1010', 'redirect_domains_not_configured', 400, 'invalid_request_error', false],
  ['E1011', 'redirect_url_invalid', 400, 'invalid_request_error', false],
  ['E1012', 'redirect_domain_not_allowed', 400, 'invalid_request_error', false],
  ['E1020', 'blockchain_not_configured', 400, 'invalid_request_error', false],
  ['E1030', 'merchant_not_configured', 400, 'invalid_request_error', false],
  ['E1040', 'conflict', 409, 'invalid_request_error', false],
  ['E2001', 'authentication_required', 401, 'authentication_error', false],
  ['E2002', 'timestamp_invalid', 401, 'authentication_error', false],
  ['E2003', 'timestamp_expired', 401, 'authentication_error', true],
  ['E2004', 'api_key_invalid', 401, 'authentication_error', false],
  ['E2005', 'api_key_revoked', 401, 'authentication_error', false],
  ['E2006', 'api_key_expired', 401, 'authentication_error', false],
  ['E2007', 'signature_invalid', 401, 'authentication_error', false],
  ['E2008', 'merchant_disabled', 401, 'authentication_error', false],
  ['E2009', 'api_signature_replayed', 401, 'authentication_error', false],
  ['E2101', 'insufficient_scope', 403, 'permission_error', false],
  ['E2102', 'merchant_onboarding_incomplete', 403, 'permission_error', false],
  ['E2103', 'partner_api_payment_disabled', 403, 'permission_error', false],
  ['E3001', 'resource_missing', 404, 'invalid_request_error', false],
  ['E4001', 'idempotency_key_invalid', 400, 'idempotency_error', false],
  ['E4002', 'idempotency_params_mismatch', 409, 'idempotency_error', false],
  ['E4003', 'idempotency_in_progress', 409, 'idempotency_error', true],
  ['E5001', 'internal_error', 500, 'api_error', true],
  ['E5002', 'service_unavailable', 503, 'api_error', true],
  ['E9001', 'rate_limited', 429, 'rate_limit_error', true],
] as const;

test('has the specified errors and no other', () => {
  expect(
    Object.entries(ERRORS).map(([errorCode, { code, status, type, retry }]) => [
      errorCode,
      code,
      status,
      type,
      retry,
    ]),
  ).toEqual(SPECIFIED);
});

test.each(Object.entries(ERRORS))('%s says what it means and what to do', (_code, entry) => {
  for (const text of [entry.meaning, entry.remedy]) expect(text).toMatch(/^[A-Z].+\.$/);
});

describe('the envelope', () => {
  test.each(SPECIFIED)('of %s', (errorCode, code, status, type, retry) => {
    const answer = toResponse(new ApiError(errorCode), 'some-id', 'https://pay.example.test');
    expect(answer).toEqual({
      status,
      headers: { 'x-mp-should-retry': String(retry) },
      envelope: {
        error: {
          type,
          code,
          errorCode,
          message: ERRORS[errorCode].meaning,
          docUrl: `https://pay.example.test/docs/errors/${errorCode}`,
          userSafeMessage: errorCode === 'E5001',
          requestId: 'some-id',
        },
      },
    });
  });

  test('names a parameter and a time to wait if there is one', () => {
    const error = new ApiError('E4003', 'Still running.', { param: 'note', retryAfterSeconds: 5 });
    const { headers, envelope } = toResponse(error, 'some-id', '');
    expect(headers).toEqual({ 'x-mp-should-retry': 'true', 'retry-after': '5' });
    expect(envelope.error).toMatchObject({ message: 'Still running.', param: 'note' });
  });
});
