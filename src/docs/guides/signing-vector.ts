import { KEY_ID_PREFIX, SECRET_PREFIX } from '../../keys/manage-keys.ts';
import { CREATE_BODY } from '../../routes/v1/examples.ts';
import { canonicalHead, type SignedParts, signRequest } from '../../signing/canonical.ts';

/** The key of the worked examples: of the right form, and nobody's. */
export const VECTOR_KEY_ID = `${KEY_ID_PREFIX}0123456789abcdef01234567`;
export const VECTOR_SECRET = `${SECRET_PREFIX}00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff`;

interface Vector extends Omit<SignedParts, 'body'> {
  readonly body: string;
  /** What is signed, text and all. */
  readonly canonical: string;
  /** X-MP-SIGNATURE: computed by what the service verifies with. */
  readonly signature: string;
}

// 2026-05-17T12:00:00Z
const once = { timestamp: '1779019200', nonce: '7c0e1f4a-3b52-4d6c-9a8e-5f1b2c3d4e5f' };

export const CREATE_VECTOR = sign({
  ...once,
  method: 'POST',
  path: '/external/v1/payments/prompt',
  body: JSON.stringify(CREATE_BODY),
});

export const LIST_VECTOR = sign({
  ...once,
  method: 'GET',
  path: '/external/v1/payments?limit=5&status=pending',
  body: '',
});

function sign(parts: Omit<Vector, 'canonical' | 'signature'>): Vector {
  const signed = { ...parts, body: Buffer.from(parts.body) };
  return {
    ...parts,
    canonical: canonicalHead(parts) + parts.body,
    signature: signRequest(VECTOR_SECRET, signed).toString('hex'),
  };
}
