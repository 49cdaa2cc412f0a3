import { ERRORS, type ErrorCode } from './catalogue.ts';

/** A limit that a request has exceeded. */
export interface ExceededLimit {
  /** What is counted: lower-case letters and hyphens. */
  readonly name: string;
  /** Requests in each window. */
  readonly most: number;
  readonly windowSeconds: number;
}

interface ApiErrorOptions {
  /** Offending body field, query parameter or path parameter. */
  readonly param?: string | undefined;
  /** Seconds, sent as Retry-After. */
  readonly retryAfterSeconds?: number;
  /** Sent as RateLimit-Policy and, with retryAfterSeconds, as RateLimit. */
  readonly limit?: ExceededLimit;
  /** Methods of the path, for a 405 response to any other method; sent as Allow. */
  readonly allow?: readonly string[];
  readonly cause?: unknown;
}

/** An error of the catalogue, thrown to become the response. An unknown error becomes E5001. */
export class ApiError extends Error {
  readonly errorCode: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly limit: ExceededLimit | undefined;
  readonly allow: readonly string[] | undefined;

  /** @param message Developer-facing text; the catalogue's meaning when left out. */
  constructor(errorCode: ErrorCode, message?: string, options: ApiErrorOptions = {}) {
    super(message ?? ERRORS[errorCode].meaning, { cause: options.cause });
    this.name = 'ApiError';
    this.errorCode = errorCode;
    this.param = options.param;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.limit = options.limit;
    this.allow = options.allow;
  }
}

/** The URL and the headers of a request are larger than the service reads. As a page it has status 431. */
export class HeadTooLarge extends ApiError {
  /** @param limitBytes Limit of both together. */
  constructor(limitBytes: number) {
    super('E1000', `The URL and the headers are larger than ${limitBytes} bytes together.`);
  }
}
