/** Category of an error, the `type` of the envelope. */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'idempotency_error'
  | 'rate_limit_error'
  | 'api_error';

interface ErrorEntry {
  /** Machine-readable slug, the `code` of the envelope. */
  readonly code: string;
  readonly status: number;
  readonly type: ErrorType;
  /** Whether another attempt, freshly signed, may succeed: X-MP-Should-Retry. */
  readonly retry: boolean;
  /** When the service answers with it. */
  readonly meaning: string;
  /** What a merchant's engineer does about it. */
  readonly remedy: string;
}

const invalid = { type: 'invalid_request_error', retry: false } as const;
const unauthenticated = { type: 'authentication_error', status: 401, retry: false } as const;
const forbidden = { type: 'permission_error', status: 403, retry: false } as const;
const idempotency = { type: 'idempotency_error', retry: false } as const;

/** Every error the API answers with; the envelope, the headers and the error pages come from here. */
export const ERRORS = {
  E1000: {
    ...invalid,
    code: 'invalid_request',
    status: 400,
    meaning:
      'The request is malformed as a whole: a body that is not readable JSON, not sent as application/json, empty, or above the size limit.',
    remedy: 'Send one JSON object in UTF-8 with Content-Type: application/json.',
  },
  E1001: {
    ...invalid,
    code: 'parameter_invalid',
    status: 400,
    meaning: 'A parameter has the wrong type, is out of range, or does not go with another one.',
    remedy: 'Correct the parameter that `param` names; the message says what it takes.',
  },
  E1002: {
    ...invalid,
    code: 'parameter_unknown',
    status: 400,
    meaning: 'The body or the query has a field that this route does not know.',
    remedy: 'Remove the field that `param` names, or correct its spelling.',
  },
  E1010: {
    ...invalid,
    code: 'redirect_domains_not_configured',
    status: 400,
    meaning: 'A redirectUrl was given, but the merchant has no allowed redirect domain.',
    remedy:
      "Have the domain added to the merchant's allowed redirect domains, or leave redirectUrl out.",
  },
  E1011: {
    ...invalid,
    code: 'redirect_url_invalid',
    status: 400,
    meaning: 'The redirectUrl is not a valid URL, carries user information, or is not https.',
    remedy: 'Send an absolute https URL without a user name or password.',
  },
  E1012: {
    ...invalid,
    code: 'redirect_domain_not_allowed',
    status: 400,
    meaning: "The redirectUrl's hostname is not one of the merchant's allowed redirect domains.",
    remedy: 'Use an allowed hostname; subdomains have to be allowed one by one.',
  },
  E1020: {
    ...invalid,
    code: 'blockchain_not_configured',
    status: 400,
    meaning:
      'A requested network has no deposit address on the main branch, or, with blockchainIds left out, no active network has one.',
    remedy: 'Have a deposit address configured for the network, or request other networks.',
  },
  E1030: {
    ...invalid,
    code: 'merchant_not_configured',
    status: 400,
    meaning: 'The merchant lacks required configuration, for example a main branch.',
    remedy: "Have the merchant's configuration completed.",
  },
  E1040: {
    ...invalid,
    code: 'conflict',
    status: 409,
    meaning: 'The request conflicts with the current state of the resource.',
    remedy: 'Read the resource again and decide from its present state.',
  },
  E2001: {
    ...unauthenticated,
    code: 'authentication_required',
    meaning: 'A signing header is missing, or the nonce is not 1 to 255 visible ASCII characters.',
    remedy:
      'Send X-MP-KEY-ID, X-MP-PASSPHRASE, X-MP-TIMESTAMP, X-MP-NONCE and X-MP-SIGNATURE with every request.',
  },
  E2002: {
    ...unauthenticated,
    code: 'timestamp_invalid',
    meaning: 'X-MP-TIMESTAMP is not an integer Unix time in seconds.',
    remedy: 'Send seconds, not milliseconds, as digits only.',
  },
  E2003: {
    ...unauthenticated,
    code: 'timestamp_expired',
    retry: true,
    meaning: "X-MP-TIMESTAMP is more than 300 seconds away from the server's time.",
    remedy: "Set the clock by NTP and sign again; the message gives the server's time.",
  },
  E2004: {
    ...unauthenticated,
    code: 'api_key_invalid',
    meaning: 'The key ID is unknown, or the passphrase is not one of this key.',
    remedy:
      'Check key ID and passphrase; after a rotation the old pair ends with its grace period.',
  },
  E2005: {
    ...unauthenticated,
    code: 'api_key_revoked',
    meaning: 'The key has been revoked, which is permanent.',
    remedy: 'Use another key, or have a new one created.',
  },
  E2006: {
    ...unauthenticated,
    code: 'api_key_expired',
    meaning: 'The key is past its expiry date.',
    remedy: 'Have a new key created; rotating does not extend an expiry date.',
  },
  E2007: {
    ...unauthenticated,
    code: 'signature_invalid',
    meaning:
      'The signature does not match: another path or query was signed than sent, the body was serialized again, or the secret is another.',
    remedy: 'Sign exactly the bytes that are sent, with the secret that belongs to the passphrase.',
  },
  E2008: {
    ...unauthenticated,
    code: 'merchant_disabled',
    meaning:
      'The account is missing or inactive, or this kind of key is not accepted on the route.',
    remedy:
      'Use a merchant key on merchant routes and a partner key on partner routes; if it was the right kind, have the account activated.',
  },
  E2009: {
    ...unauthenticated,
    code: 'api_signature_replayed',
    meaning: 'The nonce has already been used with this key.',
    remedy: 'Sign every request, retries included, with a fresh nonce and timestamp.',
  },
  E2101: {
    ...forbidden,
    code: 'insufficient_scope',
    meaning: "The key lacks the route's scope.",
    remedy: 'Use a key with the scope that the message names.',
  },
  E2102: {
    ...forbidden,
    code: 'merchant_onboarding_incomplete',
    meaning: 'The US merchant account is not approved yet.',
    remedy: 'Finish onboarding; every request of the account fails until it is approved.',
  },
  E2103: {
    ...forbidden,
    code: 'partner_api_payment_disabled',
    meaning:
      'A partner-linked merchant used its own key while its partner is inactive or has self-service API payments switched off.',
    remedy: 'Ask the partner to enable self-service, or have the partner create the payment.',
  },
  E3001: {
    ...invalid,
    code: 'resource_missing',
    status: 404,
    meaning: 'There is no such resource for this account.',
    remedy: "Check the ID and the path; another account's resources answer the same way.",
  },
  E4001: {
    ...idempotency,
    code: 'idempotency_key_invalid',
    status: 400,
    meaning: 'The Idempotency-Key header is blank, longer than 255 characters, or sent twice.',
    remedy: 'Send one key of 1 to 255 characters, for example the order ID or a UUID.',
  },
  E4002: {
    ...idempotency,
    code: 'idempotency_params_mismatch',
    status: 409,
    meaning: 'The key was used with another body; white space and key order count.',
    remedy: 'Repeat the very same bytes, or use a new key for a new payment.',
  },
  E4003: {
    ...idempotency,
    code: 'idempotency_in_progress',
    status: 409,
    retry: true,
    meaning: 'The original request with this key is still running.',
    remedy: 'Wait for Retry-After seconds, then send the same request freshly signed.',
  },
  E5001: {
    code: 'internal_error',
    status: 500,
    type: 'api_error',
    retry: true,
    meaning: 'The service failed.',
    remedy:
      'Retry a read. For a create, look the payment up by customerReferenceId before using a new idempotency key: the old key replays this answer for 24 hours.',
  },
  E5002: {
    code: 'service_unavailable',
    status: 503,
    type: 'api_error',
    retry: true,
    meaning: 'Something the service depends on is unavailable; nothing was executed.',
    remedy:
      'Retry with growing delays, freshly signed and with the same idempotency key; once it answers with Idempotent-Replayed, use a new key.',
  },
  E9001: {
    code: 'rate_limited',
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    meaning: 'Too many requests in the current window.',
    remedy: 'Wait for Retry-After seconds.',
  },
} as const satisfies Record<string, ErrorEntry>;

/** Short code of the envelope, e.g. `E1002`. */
export type ErrorCode = keyof typeof ERRORS;
