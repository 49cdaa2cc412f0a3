import { ERRORS, type ErrorCode } from './catalogue.ts';

interface ApiErrorOptions {
  /** Offending body field, query parameter or path parameter. */
  readonly param?: string | undefined;
  /** Seconds, sent as Retry-After. */
  readonly retryAfterSeconds?: number;
  /** Methods that the path has, for a response of 405 to any other; sent as Allow. */
  readonly allow?: readonly string[];
  readonly cause?: unknown;
}

/** An error of the catalogue, thrown to become the response. An unknown error becomes E5001. */
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
