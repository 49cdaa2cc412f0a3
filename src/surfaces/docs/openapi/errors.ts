import type { AccessRule } from '#accounts/keys/principal.ts';
import { ApiError } from '#errors/api-error.ts';
import { ERROR_CODES, ERRORS, type ErrorCode, exampleOf } from '#errors/catalogue.ts';
import { toResponse } from '#errors/envelope.ts';
import type { ErrorEnvelope } from '#schemas/error.ts';
import type { Operation } from '../../api/operation.ts';
import type { Example, Reference, ResponseObject } from './document.ts';
import { headerReferences } from './headers.ts';

/** ID of the request in the example errors. */
const REQUEST_ID = '019e35ce-c1a4-7f2b-a6d0-3e5c7b9f1d20';

/** Refusals of every signed route; see the order of checks in http/authentication.ts. */
const OF_SIGNED_ROUTES: readonly ErrorCode[] = [
  ...ERROR_CODES.filter(code => /^E20/.test(code)),
  'E1000',
  'E1002',
  'E2101',
  'E5001',
  'E5002',
  'E9001',
];
/** Refusals of merchants' keys. */
const OF_MERCHANT_KEYS: readonly ErrorCode[] = ['E2102', 'E2103'];

interface DocumentedRoute {
  readonly access: AccessRule;
  readonly operation: Operation;
  /** Whether the route takes path parameters, a query or a body. */
  readonly takesParameters: boolean;
  readonly hasPathParameters: boolean;
}

/** The refusals of a signed route, in the order of the catalogue. */
export function refusalsOf(route: DocumentedRoute): ErrorCode[] {
  const codes = new Set<ErrorCode>([...OF_SIGNED_ROUTES, ...(route.operation.refusals ?? [])]);
  if (route.takesParameters) codes.add('E1001');
  if (route.hasPathParameters) codes.add('E3001');
  if (route.access.principals.includes('merchant')) {
    for (const code of OF_MERCHANT_KEYS) codes.add(code);
  }
  return ERROR_CODES.filter(code => codes.has(code));
}

/** The envelope of a typical response with the error. */
export function exampleEnvelope(errorCode: ErrorCode, publicUrl: string): ErrorEnvelope {
  const { message, param } = exampleOf(errorCode);
  return toResponse(new ApiError(errorCode, message, { param }), REQUEST_ID, publicUrl).envelope;
}

/** One example for each code, for operations to reference. */
export function errorExamples(
  codes: readonly ErrorCode[],
  publicUrl: string,
): Record<string, Example> {
  return Object.fromEntries(
    codes.map(code => [
      code,
      { summary: ERRORS[code].meaning, value: exampleEnvelope(code, publicUrl) },
    ]),
  );
}

/** The responses of the codes, one for each status. */
export function errorResponses(
  codes: readonly ErrorCode[],
  idempotent: boolean,
): Record<string, ResponseObject> {
  const byStatus = Map.groupBy(codes, code => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [status, errorResponse(ofStatus, idempotent)]),
  );
}

function errorResponse(codes: readonly ErrorCode[], idempotent: boolean): ResponseObject {
  const waits = codes.some(code => exampleOf(code).retryAfterSeconds !== undefined);
  const kept = idempotent && codes.some(code => ERRORS[code].status >= 500);
  const examples: [string, Reference][] = codes.map(code => [
    code,
    { $ref: `#/components/examples/${code}` },
  ]);
  return {
    description: codes.map(code => `${code} \`${ERRORS[code].code}\``).join(', '),
    headers: headerReferences([
      'X-Request-Id',
      'X-MP-Should-Retry',
      ...(waits ? (['Retry-After'] as const) : []),
      ...(codes.includes('E9001') ? (['RateLimit-Policy', 'RateLimit'] as const) : []),
      ...(kept ? (['Idempotent-Replayed'] as const) : []),
    ]),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(examples),
      },
    },
  };
}
