interface RefusalEntry {
  readonly status: number;
  readonly message: string;
}

/** All refusals of the older contract. It has no error codes: clients tell them apart by `message`. */
export const LEGACY_REFUSALS = {
  requestInvalid: { status: 400, message: 'Invalid request' },
  bodyInvalid: { status: 400, message: 'Invalid body' },
  mainBranchMissing: { status: 400, message: 'Main branch is missing' },
  noProcessor: { status: 400, message: 'No payment processor is configured' },
  noRedirectDomains: { status: 400, message: 'No redirect domains are configured' },
  redirectDomainNotAllowed: { status: 400, message: 'Redirect domain is not allowed' },
  redirectUrlInvalid: { status: 400, message: 'Invalid redirect URL format' },
  noPaymentAddresses: { status: 400, message: 'No payment addresses are configured' },
  paymentAddressesMissing: { status: 400, message: 'Missing payment addresses' },
  authorizationMissing: { status: 401, message: 'Missing Authorization header' },
  authorizationMalformed: { status: 401, message: 'Malformed Authorization header' },
  clientIdInvalid: { status: 401, message: 'Invalid client ID' },
  apiKeyInvalid: { status: 401, message: 'Invalid API key' },
  userInactive: { status: 401, message: 'User is inactive' },
  userNotAdmin: { status: 401, message: 'User is not a Merchant Admin' },
  merchantInactive: { status: 403, message: 'Merchant is inactive' },
  onboardingIncomplete: { status: 403, message: 'Merchant onboarding is not approved' },
  selfServiceOff: { status: 403, message: 'Partner has not enabled API payments' },
  promptMissing: { status: 404, message: 'Payment prompt not found' },
  routeMissing: { status: 404, message: 'Route not found' },
  tooManyRequests: { status: 429, message: 'Too many requests' },
  internal: { status: 500, message: 'Internal server error' },
  unavailable: { status: 503, message: 'Service temporarily unavailable' },
} as const satisfies Record<string, RefusalEntry>;

export type LegacyReason = keyof typeof LEGACY_REFUSALS;

interface LegacyRefusalOptions {
  /** Appended to the message, for example the field or the networks. */
  readonly detail?: string | undefined;
  /** Sent as Retry-After. */
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** A refusal in the older contract. */
export class LegacyRefusal extends Error {
  readonly reason: LegacyReason;
  readonly status: number;
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: LegacyReason, options: LegacyRefusalOptions = {}) {
    const { status, message } = LEGACY_REFUSALS[reason];
    super(options.detail === undefined ? message : `${message}: ${options.detail}`, {
      cause: options.cause,
    });
    this.name = 'LegacyRefusal';
    this.reason = reason;
    this.status = status;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
