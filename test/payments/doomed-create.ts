/**
 * A replica that a test kills in the middle of a creation: it executes one request under an
 * idempotency key and is not meant to finish. Arguments: database URL, merchant ID, key.
 */
import { createKeyring } from '#crypto/keyring.ts';
import { createPaymentOnce } from '#payments/create-payment.ts';
import { sha256 } from '#payments/idempotency.ts';
import { createSandboxProcessor } from '#payments/processors/sandbox-processor.ts';
import { connect } from '#storage/database/connection.ts';
import { FreshCache } from '#storage/database/fresh-cache.ts';
import type { MerchantSetup } from '#storage/repositories/accounts/merchant-setup.ts';
import { NO_CHANGE_FEED } from '../helpers/inert.ts';
import { PROMPT_PATH } from '../helpers/prompt-path.ts';

const [url = '', accountId = '', key = ''] = process.argv.slice(2);
const db = connect({ url, poolSize: 1, applicationName: 'doomed', onIdleError: () => undefined });
const principal = {
  kind: 'merchant',
  keyId: 'doomed',
  accountId,
  accountKind: 'standard',
  environment: 'live',
} as const;
const keyring = createKeyring([Buffer.alloc(32)]);
const payments = {
  payees: { db, setups: new FreshCache<MerchantSetup>(NO_CHANGE_FEED, 1) },
  clock: Date.now,
  keyring,
  publicUrl: 'https://doomed.test',
  allowLoopbackHttp: false,
  simulation: true,
  processor: null,
  sandbox: createSandboxProcessor(keyring, 'https://doomed.test'),
  logger: { warn: () => undefined },
};
const body = Buffer.from('{"amount":5000}');

await createPaymentOnce(
  db,
  payments,
  { principal, body: JSON.parse(body.toString()) },
  {
    claim: {
      scope: { accountId, route: `POST ${PROMPT_PATH}`, key },
      bodySha256: sha256(body),
      now: new Date(),
    },
    check: () => undefined,
    respond: created => ({ status: 201, body: Buffer.from(JSON.stringify(created)) }),
    onFailure: error => {
      throw error;
    },
  },
);
