import {
  type ApiRequest,
  type Credentials,
  createClient,
  PaymentsApiError,
} from '#client/index.ts';
import { readServiceAddress } from '#client/service-address.ts';
import { ERRORS } from '#errors/catalogue.ts';
import { TIMESTAMP_WINDOW_SECONDS } from '#signing/canonical.ts';
import type { ClientContext, Connection } from './command.ts';
import { FORMS } from './credentials-file.ts';
import { findErrorCode } from './explain-error.ts';
import { describeSilence } from './failure.ts';

export interface Check {
  readonly name: string;
  /** `advised`: it works, but should be changed. */
  readonly state: 'ok' | 'advised' | 'wrong';
  readonly finding: string;
  readonly remedy?: string;
}

/** A path that the service serves to anybody. */
const KNOWN_PATH = '/signing-vectors.json';
const TIMEOUT_MS = 10_000;
/** Above this, a clock is not synchronised. A Date header has whole seconds, and takes time to arrive. */
const SKEW_SECONDS = 5;
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** A request for each scope. None of them changes anything: the body of the first is refused. */
const BY_SCOPE: Readonly<Record<string, ApiRequest>> = {
  'payment_prompts:write': { method: 'POST', path: '/external/v1/payments/prompt', body: '{}' },
  'payment_prompts:read': { method: 'GET', path: '/external/v1/payments?limit=1' },
  'blockchains:read': { method: 'GET', path: '/external/v1/blockchains/active' },
};
/** Error code with which merchants' routes refuse a partner's key. */
const OTHER_KIND = 'E2008';
const PARTNER: ApiRequest = { method: 'GET', path: '/external/partner/overview' };
const WRONG_SIGNATURE = 'E2007';
const LACKS_SCOPE = 'E2101';
const BAD_BODY = 'E1001';

/** Checks what can be seen without a key: the address, its encryption and the clock. */
export async function checkService(
  baseUrl: string,
  context: Pick<ClientContext, 'whenSilent'>,
): Promise<Check[]> {
  const { url } = readServiceAddress(baseUrl).locate(KNOWN_PATH);
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  let response: Response;
  try {
    response = await fetch(url, { redirect: 'manual', signal });
    await response.arrayBuffer();
  } catch (error) {
    const { message } = describeSilence(context, baseUrl, error);
    const remedy = 'Check the address, its name in the DNS, its certificate, and firewalls.';
    return [{ name: 'address', state: 'wrong', finding: message, remedy }];
  }
  if (response.status !== 200 || !response.headers.has('x-request-id')) {
    const finding = `${baseUrl} answers with HTTP ${response.status}, and not as the service does.`;
    const remedy = 'Check scheme, host and the prefix of a proxy; redirects are not followed.';
    return [{ name: 'address', state: 'wrong', finding, remedy }];
  }
  return [
    { name: 'address', state: 'ok', finding: `The service answers at ${baseUrl}.` },
    checkEncryption(url),
    checkClock(response.headers.get('date'), Date.now()),
  ];
}

function checkEncryption({ protocol, hostname }: URL): Check {
  const name = 'encryption';
  if (protocol === 'https:')
    return { name, state: 'ok', finding: 'TLS, with a trusted certificate.' };
  if (LOOPBACK.test(hostname)) return { name, state: 'ok', finding: 'None, on this machine.' };
  const finding = 'None: everybody on the way can read the passphrase.';
  return { name, state: 'advised', finding, remedy: 'Use the https:// address of the service.' };
}

function checkClock(date: string | null, now: number): Check {
  const name = 'clock';
  const skew = Math.round((now - Date.parse(date ?? '')) / 1000);
  if (Number.isNaN(skew)) return { name, state: 'advised', finding: 'The response has no Date.' };
  const amount = Math.abs(skew);
  if (amount <= SKEW_SECONDS) return { name, state: 'ok', finding: `${amount} s apart.` };
  const finding = `This machine is ${amount} s ${skew > 0 ? 'ahead of' : 'behind'} the service; ${TIMESTAMP_WINDOW_SECONDS} s are allowed.`;
  const state = amount > TIMESTAMP_WINDOW_SECONDS ? 'wrong' : 'advised';
  return { name, state, finding, remedy: 'Synchronise the clock of this machine with NTP.' };
}

type Ask = (request: ApiRequest) => Promise<PaymentsApiError | undefined>;

/** Checks the key, and what it may do. */
export async function checkKey({ baseUrl, credentials }: Connection): Promise<Check[]> {
  const client = createClient({ baseUrl, ...credentials, timeoutMs: TIMEOUT_MS });
  /** The error of a response; undefined for success. */
  const ask: Ask = async request => {
    const response = await client.request(request);
    return response.status < 300 ? undefined : new PaymentsApiError(response);
  };
  const checks: Check[] = [];
  for (const [scope, request] of Object.entries(BY_SCOPE)) {
    const refusal = await ask(request);
    if (refusal?.errorCode === OTHER_KIND) {
      const partner = await ask(PARTNER);
      if (partner !== undefined) return [refused(partner)];
      return [{ name: 'key', state: 'ok', finding: 'Of a partner: it works on its routes.' }];
    }
    if (refusal?.errorCode === WRONG_SIGNATURE) return [await judgeSecret(ask, credentials)];
    if (refusal?.errorCode === LACKS_SCOPE) {
      const finding = 'Not allowed: the key lacks this scope.';
      const remedy = 'If you need it, create a key with this scope.';
      checks.push({ name: scope, state: 'advised', finding, remedy });
    } else if (refusal === undefined || refusal.errorCode === BAD_BODY) {
      checks.push({ name: scope, state: 'ok', finding: 'Allowed.' });
    } else {
      return [refused(refusal)];
    }
  }
  return [{ name: 'key', state: 'ok', finding: `${credentials.keyId} is valid.` }, ...checks];
}

/** Says why the signature of a client that signs as it should is refused. */
async function judgeSecret(ask: Ask, { keyId, secret }: Credentials): Promise<Check> {
  const check = { name: 'key', state: 'wrong' } as const;
  const [form, message] = FORMS.secret;
  const plain = await ask({ method: 'GET', path: '/external/v1/blockchains/active' });
  if (plain?.errorCode !== WRONG_SIGNATURE) {
    const finding = `${WRONG_SIGNATURE}: the secret is right, but requests with a query or a body are changed on the way.`;
    return { ...check, finding, remedy: 'Have proxies pass path, query and body on unchanged.' };
  }
  // Key ID and passphrase are checked before the signature.
  const finding = `${WRONG_SIGNATURE}: the secret is wrong. ${keyId} and its passphrase are right; its secret is another.`;
  const remedy = form.test(secret)
    ? 'Use the secret that came with this passphrase, or rotate the key. If it is that one, a proxy changes the path of requests.'
    : `${message} This one is not.`;
  return { ...check, finding, remedy };
}

function refused({ errorCode, message }: PaymentsApiError): Check {
  const code = findErrorCode(errorCode);
  const remedy = code === undefined ? 'Ask the operator of the service.' : ERRORS[code].remedy;
  return { name: 'key', state: 'wrong', finding: message, remedy };
}
