import { ERRORS, type ErrorCode } from './catalogue.ts';

interface ApiErrorOptions {
  /** Offending body field, query parameter or path parameter. */
  readonly param?: string | undefined;
  /** Seconds, sent as Retry-After. */
  readonly retryAfterSeconds?: number;
  /** Methods that the path has, where another one is answered with 405; sent as Allow. */
  readonly allow?: readonly string[];
  readonly cause?: unknown;
}

/** A refusal that the API answers with; anything else thrown becomes E5001. */
export class ApiError extends Error {
  readonly errorCode: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly allow: readonly string[] | undefined;

  /** @param message Developer-facing text; the catalogue's meaning when left out. */
  constructor(errorCode: ErrorCode, message?: string, options: ApiErrorOptions = {}) {
    super(message ?? ERRORS[errorCode].meaning, { cause: options.cause });
    this.name = 'ApiError';
    this.errorCode = errorCode;
    this.param = options.param;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.allow = options.allow;
  }
}
