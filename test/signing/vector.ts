/** A worked example of a signature: fixed inputs and the result. */
interface SigningVector {
  readonly keyId: string;
  readonly secret: string;
  readonly timestamp: string;
  readonly nonce: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: string;
  /** X-MP-SIGNATURE. */
  readonly signature: string;
}

const KEY = {
  keyId: 'mpk_0123456789abcdef01234567',
  secret: 'mps_00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff',
  // 2026-05-17T12:00:00Z
  timestamp: '1779019200',
  nonce: '7c0e1f4a-3b52-4d6c-9a8e-5f1b2c3d4e5f',
} as const;

/**
 * Made without this code base:
 *
 *   printf '%s\n%s\n%s\n%s\n%s' "$TIMESTAMP" "$NONCE" POST /external/v1/payments/prompt "$BODY" |
 *     openssl dgst -sha256 -hmac "$SECRET"
 */
export const CREATE_VECTOR: SigningVector = {
  ...KEY,
  method: 'POST',
  path: '/external/v1/payments/prompt',
  body: '{"amount":5000,"customerReferenceId":"order-1001"}',
  signature: '5dd44c8ac480a077260e4b94c739ad9e4babbd256e857caf5a21907cf1c072a3',
};

/** Made the same way, with the query in the path and nothing after the last line feed. */
export const LIST_VECTOR: SigningVector = {
  ...KEY,
  method: 'GET',
  path: '/external/v1/payments?limit=5&status=pending',
  body: '',
  signature: '443f1e0226d91214cfa282832a2324520808b4fef3e169d85f5ea571f4085933',
};
