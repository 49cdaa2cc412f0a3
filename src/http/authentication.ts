import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter } from 'prom-client';
import { otherSecretsOf } from '#accounts/keys/other-secrets.ts';
import { type AccessRule, authorize, type Principal } from '#accounts/keys/principal.ts';
import {
  type CredentialDependencies,
  recallCredentials,
  verifyCredentials,
} from '#accounts/keys/verify-credentials.ts';
import { ApiError } from '#errors/api-error.ts';
import { checkTimestamp } from '#signing/check-headers.ts';
import { type NonceStore, NonceStoreUnavailable } from '#signing/nonce-store.ts';
import {
  checkSignature,
  readSigningHeaders,
  type SigningHeaders,
} from '#signing/verify-signature.ts';
import type { KeyWithAccounts } from '#storage/repositories/keys/key-with-accounts.ts';
import type { Clock } from '#time/clock.ts';
import type { Admission } from './admission.ts';
import type { RateLimits } from './rate-limit.ts';
import { readRawBody } from './raw-body.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The body's bytes, which the signature covers; empty without a body. */
    rawBody: Buffer;
    /** The authenticated account; null until it is authorized for the route. */
    principal: Principal | null;
  }
  interface FastifyContextConfig {
    /** Which keys may use a signed route; required below `registerAuthentication`. */
    access?: AccessRule;
  }
}

export interface AuthenticationDependencies {
  readonly credentials: CredentialDependencies;
  readonly nonces: NonceStore;
  readonly limits: RateLimits;
  readonly admission: Admission;
  readonly clock: Clock;
  /** Whether E2007 names the mistake and the parts that the server signed; off in production. */
  readonly explainSignatures: boolean;
  readonly publicUrl: string;
}

const unprotectedReads = new Counter({
  name: 'eps_unprotected_reads_total',
  help: 'Reads served without replay protection because the nonce store was down',
});

/**
 * Requires a valid signature on every route of `app`.
 *
 * The checks run in the documented order, and the first that fails decides the response. The body is not parsed and
 * no nonce is used up before the signature is verified. A failure counts against the address, a success against the
 * key, so that knowing a key ID is not enough to use up its limit.
 */
export function registerAuthentication(
  app: FastifyInstance,
  deps: AuthenticationDependencies,
): void {
  app.decorateRequest('principal', null);
  app.decorateRequest('rawBody');
  deps.admission.releaseWhenReady(app);
  app.addHook('onRoute', route => {
    if (route.config?.access === undefined) throw new Error(`${route.url} has no access rule`);
  });
  app.addHook('onRequest', async (request, reply) => {
    deps.admission.refuseOverload();
    deps.limits.refuseExhaustedAddress(request);
    let record: KeyWithAccounts;
    try {
      record = await authenticate(request, reply, deps);
    } catch (error) {
      if (isFailure(error)) deps.limits.countFailure(request);
      throw error;
    }
    const rule = request.routeOptions.config.access;
    if (rule === undefined) throw new Error('a signed route without an access rule');
    request.principal = authorize(record, rule);
  });
}

/** Whether a failure counts against the address: an overload or an exhausted key is not its fault. */
function isFailure(error: unknown): boolean {
  return error instanceof ApiError && !['E5002', 'E9001'].includes(error.errorCode);
}

/**
 * Verifies credentials and signature, counts the key's share and rate limit and claims the nonce. The
 * limits come before the nonce, so that one key cannot fill the nonce store.
 * @throws ApiError E2001 to E2007, E9001, E2009, E5002, and E1000 for a body above the limit.
 */
async function authenticate(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: AuthenticationDependencies,
): Promise<KeyWithAccounts> {
  const now = deps.clock();
  const headers = readSigningHeaders(request.headers);
  checkTimestamp(headers.timestamp, now);
  const { keyId, passphrase } = headers;
  const { credentials, clock } = deps;
  const recall = () => recallCredentials(credentials, keyId, passphrase, clock());
  const verify = () => verifyCredentials(credentials, keyId, passphrase, clock());
  let verified = recall() ?? (await verify());
  const body = readRawBody(request.raw);
  request.rawBody = body instanceof Promise ? await body : body;
  deps.admission.enter(request, reply);
  // The key may have been revoked while a slow body arrived.
  if (body instanceof Promise) verified = recall() ?? (await verify());
  const { record, signingKey } = verified;
  const parts = {
    timestamp: headers.timestamp,
    nonce: headers.nonce,
    method: request.method,
    path: request.raw.url ?? '',
    body: request.rawBody,
  };
  const hints = () => ({
    keyId,
    passphrase,
    host: request.headers.host,
    publicUrl: deps.publicUrl,
    otherSecrets: otherSecretsOf(record.key, deps.credentials.keyring, signingKey.secret),
  });
  try {
    checkSignature(signingKey, parts, headers.signature, deps.explainSignatures && hints);
  } catch (error) {
    const { signature } = headers;
    request.mismatch = { secret: signingKey.secret, parts, signature, hints };
    throw error;
  }
  request.keyId = record.key.id;
  deps.admission.countKey(request);
  deps.limits.countKey(request);
  await claimNonce(request, deps, headers, now);
  return record;
}

/**
 * While the nonce store is down, reads are served without replay protection and all other requests refused.
 * The same holds for requests signed before a restart at which the store may have lost nonces.
 * @throws ApiError E2009, E5002
 */
async function claimNonce(
  request: FastifyRequest,
  deps: AuthenticationDependencies,
  { keyId, nonce, timestamp }: SigningHeaders,
  now: number,
): Promise<void> {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  try {
    const { isNew, since } = await deps.nonces.claim(keyId, nonce, now);
    if (!isNew) throw new ApiError('E2009');
    if (!isRead && Number(timestamp) * 1000 < since) {
      throw new ApiError(
        'E5002',
        'Replay protection was restarted after this request was signed; nothing was executed. Sign it anew.',
      );
    }
  } catch (error) {
    if (!(error instanceof NonceStoreUnavailable)) throw error;
    if (!isRead) {
      throw new ApiError('E5002', 'Replay protection is unavailable; nothing was executed.', {
        cause: error,
      });
    }
    unprotectedReads.inc();
    request.log.warn({ err: error }, 'read served without replay protection');
  }
}

/** The principal of an authenticated request. */
export function principalOf(request: FastifyRequest): Principal {
  if (request.principal === null) throw new Error('the route is not behind authentication');
  return request.principal;
}
