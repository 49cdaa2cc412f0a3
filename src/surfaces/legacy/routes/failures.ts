import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorHandlerOptions, noteFailure } from '#errors/handler.ts';
import { LegacyRefusal } from '../refusal.ts';
import { toLegacyRefusal } from '../translate.ts';
import { type DeprecationSettings, deprecationHeaders } from './deprecation.ts';

/** What failures of the older contract are rendered with. */
export interface LegacyFailureOptions extends DeprecationSettings {
  readonly isUnavailable: ErrorHandlerOptions['isUnavailable'];
}

interface LegacyResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly envelope: {
    readonly statusCode: number;
    readonly message: string;
    readonly error: string;
  };
}

/** Fastify's refusal of a malformed Content-Type; parsing the body refuses all others. */
const UNREADABLE_MEDIA_TYPE = 'FST_ERR_CTP_INVALID_MEDIA_TYPE';
const CHALLENGE = 'Basic realm="External Payments", charset="UTF-8"';

/**
 * Renders a refusal in the older contract's shape.
 * @param target The request target as it was sent.
 */
export function toLegacyResponse(
  { status, message, retryAfterSeconds }: LegacyRefusal,
  target: string,
  settings: DeprecationSettings,
): LegacyResponse {
  return {
    status,
    headers: {
      ...deprecationHeaders(target, settings),
      ...(status === 401 ? { 'www-authenticate': CHALLENGE } : {}),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    envelope: { statusCode: status, message, error: STATUS_CODES[status] ?? 'Error' },
  };
}

/** Sends every failure of the older contract. */
export function sendLegacyFailure(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  options: LegacyFailureOptions,
): FastifyReply {
  const refusal = error instanceof LegacyRefusal ? error : translate(error, request, options);
  request.errorCode = refusal.reason;
  const { status, headers, envelope } = toLegacyResponse(refusal, request.url, options);
  return reply
    .status(status)
    .headers(headers)
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(envelope);
}

function translate(
  error: unknown,
  request: FastifyRequest,
  options: LegacyFailureOptions,
): LegacyRefusal {
  const apiError = noteFailure(error, request, options);
  if (error instanceof Error && 'code' in error && error.code === UNREADABLE_MEDIA_TYPE) {
    return new LegacyRefusal('bodyInvalid', { detail: apiError.message, cause: error });
  }
  return toLegacyRefusal(apiError);
}
