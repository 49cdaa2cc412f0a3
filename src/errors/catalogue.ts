/** Category of an error: the `type` of the envelope. */
type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'idempotency_error'
  | 'rate_limit_error'
  | 'api_error';

interface ErrorExample {
  readonly message?: string;
  readonly param?: string;
  readonly retryAfterSeconds?: number;
}

interface ErrorEntry {
  /** Machine-readable slug, the `code` of the envelope. */
  readonly code: string;
  readonly status: number;
  readonly type: ErrorType;
  /** X-MP-Should-Retry: whether another attempt with a fresh signature may succeed. */
  readonly retry: boolean;
  /** When the service responds with it; the default message. */
  readonly meaning: string;
  /** Common causes, the most frequent first; Markdown. */
  readonly why: readonly string[];
  /** What a merchant's engineer should do; Markdown. */
  readonly remedy: string;
  /** Values of a typical response that differ from the defaults. */
  readonly example?: ErrorExample;
}

const invalid = { type: 'invalid_request_error', retry: false } as const;
const unauthenticated = { type: 'authentication_error', status: 401, retry: false } as const;
const forbidden = { type: 'permission_error', status: 403, retry: false } as const;
const idempotency = { type: 'idempotency_error', retry: false } as const;

/** Every error of the API: the source of envelopes, headers and error pages. */
export const ERRORS = {
  E1000: {
    ...invalid,
    code: 'invalid_request',
    status: 400,
    meaning:
      'The request is malformed: its body is not readable JSON, not sent as application/json, empty or too large.',
    why: [
      'The body has another media type, is compressed, or is encoded twice.',
      'A proxy or a library cut the body short, or sent none.',
      'The path is not valid percent-encoding.',
      'The URL and the headers are larger than 16 KiB together. To payers a checkout says so in their language (431): cookies of a shop’s domain go to every host below it.',
    ],
    remedy: 'Send one JSON object in UTF-8 with Content-Type: application/json.',
    example: {
      message: 'The body is not readable JSON in UTF-8, or has a key that is not allowed.',
    },
  },
  E1001: {
    ...invalid,
    code: 'parameter_invalid',
    status: 400,
    meaning: 'A parameter has the wrong type, is out of range, or conflicts with another one.',
    why: [
      'An amount in dollars (`19.99`) or as text (`"1999"`) where whole cents are required.',
      'An ID that is no UUID, a number out of range, a date that is not ISO 8601 (week and ordinal dates are not taken), or a `+` in a query that is not written as `%2B`.',
      'Two parameters that exclude each other, such as `startingAfter` and `endingBefore`.',
      '`merchantId` missing with a partner key, or sent with a merchant key.',
    ],
    remedy: 'Correct the parameter that `param` names; the message says which values are valid.',
    example: { message: 'amount must be at least 50.', param: 'amount' },
  },
  E1002: {
    ...invalid,
    code: 'parameter_unknown',
    status: 400,
    meaning: 'The body or the query has a field that this route does not know.',
    why: [
      'A misspelt field: fields are camelCase and case counts.',
      'A field of the older contract, such as `payer`, or of another service.',
      'A query parameter on a route that takes none, cache busters included.',
    ],
    remedy: 'Remove the field that `param` names, or correct its spelling.',
    example: { message: 'The body has an unknown field "payer".', param: 'payer' },
  },
  E1010: {
    ...invalid,
    code: 'redirect_domains_not_configured',
    status: 400,
    meaning: 'A redirectUrl was given, but the merchant has no allowed redirect domain.',
    why: ['A new merchant has no redirect domains; an admin or an operator has to add them.'],
    remedy:
      "Have the domain added to the merchant's allowed redirect domains, or leave redirectUrl out.",
    example: { param: 'redirectUrl' },
  },
  E1011: {
    ...invalid,
    code: 'redirect_url_invalid',
    status: 400,
    meaning: 'The redirectUrl is not a valid URL, carries user information, or is not https.',
    why: [
      'The URL is relative, holds a user name or white space, or begins with `http://`.',
      'Plain HTTP passes outside production only, and only to an allowed loopback host.',
    ],
    remedy: 'Send an absolute https URL without a user name or password.',
    example: { message: 'redirectUrl must be https.', param: 'redirectUrl' },
  },
  E1012: {
    ...invalid,
    code: 'redirect_domain_not_allowed',
    status: 400,
    meaning: "The redirectUrl's hostname is not one of the merchant's allowed redirect domains.",
    why: [
      'Hostnames are compared exactly: `www.shop.example.com` is not `shop.example.com`.',
      'A staging hostname is used with a production account.',
    ],
    remedy: 'Use an allowed hostname; each subdomain has to be allowed separately.',
    example: {
      message: 'www.shop.example.com is not one of the allowed redirect domains.',
      param: 'redirectUrl',
    },
  },
  E1020: {
    ...invalid,
    code: 'blockchain_not_configured',
    status: 400,
    meaning:
      'A requested network has no deposit address on the main branch or, without blockchainIds, no network that is offered has one.',
    why: [
      'The active networks are what the platform offers, not what this merchant has addresses for.',
      'No node watches the chains of the networks that the merchant has addresses for.',
      'An address was configured on another branch than the main one.',
    ],
    remedy: 'Have a deposit address configured for the network, or request other networks.',
    example: { message: 'tron has no deposit address on the main branch.', param: 'blockchainIds' },
  },
  E1030: {
    ...invalid,
    code: 'merchant_not_configured',
    status: 400,
    meaning: 'The merchant lacks required configuration, for example a main branch.',
    why: [
      'The account is new and has no main branch yet.',
      'A US account is used where no payment processor is configured.',
    ],
    remedy: "Have the merchant's configuration completed.",
    example: { message: 'The merchant has no main branch.' },
  },
  E1040: {
    ...invalid,
    code: 'conflict',
    status: 409,
    meaning: 'The request conflicts with the current state of the resource.',
    why: [
      'The payment has ended, or funds have been seen, since it was last read.',
      'The payment processor of a US account refuses the payment, for example for its amount.',
    ],
    remedy:
      'Read the resource again and decide by its current state. Where a creation is refused, the message says why.',
    example: { message: 'The payment is not open any more.' },
  },
  E2001: {
    ...unauthenticated,
    code: 'authentication_required',
    meaning: 'A signing header is missing, or the nonce is not 1 to 255 visible ASCII characters.',
    why: [
      'A proxy strips headers it does not know.',
      'The secret, the key ID or the passphrase is empty in the environment, so a header has no value.',
      'The nonce is empty, or contains a space or a line feed.',
    ],
    remedy:
      'Send X-MP-KEY-ID, X-MP-PASSPHRASE, X-MP-TIMESTAMP, X-MP-NONCE and X-MP-SIGNATURE with every request.',
    example: { message: 'The header X-MP-SIGNATURE is missing.' },
  },
  E2002: {
    ...unauthenticated,
    code: 'timestamp_invalid',
    meaning: 'X-MP-TIMESTAMP is not an integer Unix time in seconds.',
    why: ['The timestamp is ISO 8601, has a fraction or is empty.'],
    remedy: 'Send seconds, not milliseconds, as digits only.',
    example: { message: 'X-MP-TIMESTAMP must be the Unix time in whole seconds.' },
  },
  E2003: {
    ...unauthenticated,
    code: 'timestamp_expired',
    retry: true,
    meaning: "X-MP-TIMESTAMP is more than 300 seconds away from the server's time.",
    why: [
      'The clock of the machine that signs is wrong.',
      'The timestamp is in milliseconds.',
      "The request waited in a queue after it was signed, or a retry was sent with the first attempt's headers.",
    ],
    remedy: "Set the clock by NTP and sign again; the message gives the server's time.",
    example: {
      message:
        "X-MP-TIMESTAMP 1779018800 is 400 seconds behind the server's time 1779019200; at most 300 are allowed.",
    },
  },
  E2004: {
    ...unauthenticated,
    code: 'api_key_invalid',
    meaning: 'The key ID is unknown, or the passphrase does not belong to this key.',
    why: [
      'Credentials of one environment are used against another.',
      'The key was rotated and its grace period is over.',
      'Passphrase and secret are swapped.',
    ],
    remedy:
      'Check key ID and passphrase. After a rotation, the old pair expires with its grace period.',
  },
  E2005: {
    ...unauthenticated,
    code: 'api_key_revoked',
    meaning: 'The key has been revoked permanently.',
    why: ['The key was revoked, which takes effect with the next request on every replica.'],
    remedy: 'Use another key, or have a new one created.',
  },
  E2006: {
    ...unauthenticated,
    code: 'api_key_expired',
    meaning: 'The key is past its expiry date.',
    why: ['The key was created with an expiry date.'],
    remedy: 'Have a new key created; rotating does not extend an expiry date.',
  },
  E2007: {
    ...unauthenticated,
    code: 'signature_invalid',
    meaning:
      'The signature does not match: the signed path, query or body differs from the one sent, or the secret is wrong.',
    why: [
      'The body was serialized again after it was signed: white space or key order changed.',
      "The path was signed without its query, with another host's prefix, or with different percent-encoding.",
      'The secret belongs to another key, was decoded from hex, or lacks its `mps_`.',
      'The signature is base64 or upper-case hex.',
    ],
    remedy: 'Sign exactly the bytes that are sent, with the secret that belongs to the passphrase.',
  },
  E2008: {
    ...unauthenticated,
    code: 'merchant_disabled',
    meaning:
      'The account is missing or inactive, or this kind of key is not accepted on the route.',
    why: [
      'A partner key was used on a route for merchants, or the other way round.',
      'The key of a live merchant was used to simulate a payment.',
      'The merchant, the partner or the member has been deactivated.',
    ],
    remedy:
      'Use a merchant key on merchant routes, one of a test merchant to simulate, and a partner key on partner routes. If the kind of key is right, have the account activated.',
    example: { message: 'This route takes a merchant key; this is a partner key.' },
  },
  E2009: {
    ...unauthenticated,
    code: 'api_signature_replayed',
    meaning: 'The nonce has already been used with this key.',
    why: [
      'An HTTP library repeated the request by itself, with the same headers.',
      'Two processes generate the same nonces, for example from a counter or the time.',
      'Someone recorded the request and sent it again.',
    ],
    remedy: 'Sign every request, retries included, with a fresh nonce and timestamp.',
  },
  E2101: {
    ...forbidden,
    code: 'insufficient_scope',
    meaning: "The key does not have the route's scope.",
    why: [
      'The key was created with some scopes only.',
      "The key belongs to a partner's developer, who may only read the overview.",
    ],
    remedy: 'Use a key with the scope that the message names.',
    example: { message: 'The key lacks the scope payment_prompts:write.' },
  },
  E2102: {
    ...forbidden,
    code: 'merchant_onboarding_incomplete',
    meaning: 'The US merchant account is not approved yet.',
    why: ['A new US merchant account is not approved.'],
    remedy: 'Finish onboarding; every request of the account fails until it is approved.',
  },
  E2103: {
    ...forbidden,
    code: 'partner_api_payment_disabled',
    meaning:
      'A partner-linked merchant used its own key while its partner is inactive or has self-service API payments switched off.',
    why: [
      'The merchant was assigned to a partner that has no self-service, or the partner switched it off.',
    ],
    remedy: 'Ask the partner to enable self-service, or have the partner create the payment.',
  },
  E3001: {
    ...invalid,
    code: 'resource_missing',
    status: 404,
    meaning: 'There is no such resource for this account.',
    why: [
      'The ID is of another account or another environment.',
      "A cursor is not one of this account's payments.",
      "The path or the method is not one of the API's; the message names the methods of the path, or the path that was probably meant.",
    ],
    remedy:
      'Check the ID and the path; the response is the same for a resource of another account.',
    example: { message: 'There is no such payment.' },
  },
  E4001: {
    ...idempotency,
    code: 'idempotency_key_invalid',
    status: 400,
    meaning: 'The Idempotency-Key header is blank, longer than 255 characters, or sent twice.',
    why: ['The variable that the key is built from is empty.'],
    remedy: 'Send one key of 1 to 255 characters, for example the order ID or a UUID.',
    example: { message: 'Idempotency-Key must be 1 to 255 characters and not blank.' },
  },
  E4002: {
    ...idempotency,
    code: 'idempotency_params_mismatch',
    status: 409,
    meaning: 'The key was used with a different body; white space and key order count.',
    why: [
      'A retry was serialized again, with the fields in another order or with a timestamp in the body.',
      "An order's ID is used for two different payments.",
    ],
    remedy: 'Repeat exactly the same bytes, or use a new key for a new payment.',
  },
  E4003: {
    ...idempotency,
    code: 'idempotency_in_progress',
    status: 409,
    retry: true,
    meaning: 'The original request with this key is still running.',
    why: [
      'A client gave up waiting and tried again while the first request was still running.',
      'Two processes handle the same order.',
    ],
    remedy:
      'Wait for the seconds in Retry-After, then send the same request with a fresh signature.',
    example: { retryAfterSeconds: 5 },
  },
  E5001: {
    code: 'internal_error',
    status: 500,
    type: 'api_error',
    retry: true,
    meaning: 'The service failed.',
    why: ['A defect of the service, which was logged with the `requestId`.'],
    remedy:
      'Retry a read. For a create, look the payment up by customerReferenceId before using a new idempotency key: the old key replays this response for 24 hours.',
    example: { message: 'Something went wrong on our side. Please try again later.' },
  },
  E5002: {
    code: 'service_unavailable',
    status: 503,
    type: 'api_error',
    retry: true,
    meaning: 'Something the service depends on is unavailable; nothing was executed.',
    why: [
      'The database, the nonce store or a payment processor does not respond.',
      'The store of used nonces was restarted or replaced after the request was signed.',
      'A report exceeded its time limit.',
      'Too many requests were in flight, in all or of this key. `Retry-After` says when to retry.',
    ],
    remedy:
      'Wait for the seconds in Retry-After, or back off exponentially, and retry with a fresh signature; a create with the same idempotency key. If the response has Idempotent-Replayed, the key will not execute again: look the payment up by customerReferenceId, and create it under another key only if there is none.',
    example: { message: 'The service is overloaded; nothing was executed.', retryAfterSeconds: 1 },
  },
  E9001: {
    code: 'rate_limited',
    status: 429,
    type: 'rate_limit_error',
    retry: true,
    meaning: 'Too many requests in the current window.',
    why: [
      'A loop polls too often, or several processes share one key.',
      'Requests that failed authentication count against the address they came from.',
    ],
    remedy: 'Wait for the seconds in Retry-After.',
    example: { message: 'At most 60 requests in 60 seconds are allowed.', retryAfterSeconds: 17 },
  },
} as const satisfies Record<string, ErrorEntry>;

/** Short code of the envelope, e.g. `E1002`. */
export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

/** Values of a typical response, for the documentation. */
export function exampleOf(errorCode: ErrorCode): ErrorExample {
  const entry: ErrorEntry = ERRORS[errorCode];
  return entry.example ?? {};
}
