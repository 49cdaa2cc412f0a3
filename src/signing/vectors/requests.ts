import { Buffer } from 'node:buffer';
import { canonicalHead, signRequest } from '../canonical.ts';

/** A request, and how it is signed. */
export interface RequestVector {
  readonly name: string;
  readonly given: {
    readonly kind: 'request';
    readonly keyId: string;
    readonly secret: string;
    readonly passphrase: string;
    /** Where it is sent; the signature does not cover it. */
    readonly host: string;
    readonly method: string;
    /** Path with its query, exactly as sent. */
    readonly path: string;
    /** Sent as UTF-8; empty without a body. */
    readonly body: string;
    /** Unix seconds. */
    readonly timestamp: number;
    readonly nonce: string;
  };
  readonly expected: {
    readonly canonical: string;
    readonly signature: string;
    readonly headers: Readonly<Record<string, string>>;
  };
}

const KEY = {
  keyId: 'mpk_0123456789abcdef01234567',
  secret: 'mps_00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff',
  passphrase: 'abcdefghijklmnopqrstuvwxyz0123456789-_ABCDE',
} as const;
// 2026-05-17T12:00:00Z
const TIMESTAMP = 1_779_019_200;
const NONCE = '7c0e1f4a-3b52-4d6c-9a8e-5f1b2c3d4e5f';
const CREATE = '/external/v1/payments/prompt';
const LIST = '/external/v1/payments';

type Request = Omit<RequestVector['given'], 'kind' | 'host' | keyof typeof KEY>;

function requestVector(name: string, request: Partial<Request>): RequestVector {
  const given = {
    kind: 'request' as const,
    ...KEY,
    host: 'payments.example.com',
    method: 'GET',
    path: LIST,
    body: '',
    timestamp: TIMESTAMP,
    nonce: NONCE,
    ...request,
  };
  const { keyId, secret, passphrase, nonce, method, path, body } = given;
  const head = { timestamp: String(given.timestamp), nonce, method, path };
  const signature = signRequest(secret, { ...head, body: Buffer.from(body) }).toString('hex');
  return {
    name,
    given,
    expected: {
      canonical: canonicalHead(head) + body,
      signature,
      headers: {
        'X-MP-KEY-ID': keyId,
        'X-MP-PASSPHRASE': passphrase,
        'X-MP-TIMESTAMP': head.timestamp,
        'X-MP-NONCE': nonce,
        'X-MP-SIGNATURE': signature,
      },
    },
  };
}

const post = (body: string) => ({ method: 'POST', path: CREATE, body });

export const REQUEST_VECTORS: readonly RequestVector[] = [
  requestVector('a creation', post('{"amount":5000,"customerReferenceId":"order-1001"}')),
  requestVector(
    'a body whose blanks and order no serializer would choose',
    post('{ "note":"a/b <c> & d",\r\n\t"amount" : 5000 }\n'),
  ),
  requestVector('a body in UTF-8', post('{"amount":50,"note":"Grüße, 東京 😀"}')),
  requestVector('a list', {}),
  requestVector('a query that is not in alphabetical order', {
    path: `${LIST}?status=pending&limit=5&createdAfter=2026-05-17T12:00:00Z`,
  }),
  requestVector('a query with encoded characters', {
    path: `${LIST}?customerReferenceId=Gr%C3%BC%C3%9Fe+%26+%2b%20%2F`,
  }),
  requestVector('a path with an ID', {
    path: `${LIST}/01890a5d-ac96-774b-bcce-b302099a8057`,
  }),
  requestVector('a report of a partner', {
    path: '/external/partner/payments?page=2&limit=20',
  }),
  requestVector('a HEAD request', { method: 'HEAD' }),
  requestVector('another time and a nonce that is no UUID', {
    timestamp: TIMESTAMP + 1,
    nonce: '!#Order-7/a~',
  }),
];
