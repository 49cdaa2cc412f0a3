/**
 * A replica that a test kills in the middle of a creation: it executes one request under an
 * idempotency key and is not meant to finish. Arguments: database URL, merchant ID, key.
 */
import { connect } from '../../src/database/connection.ts';
import { createPayment } from '../../src/payments/create-payment.ts';
import { executeOnce, sha256 } from '../../src/payments/idempotency.ts';
import { PROMPT_PATH } from '../helpers/prompt-path.ts';

const [url = '', accountId = '', key = ''] = process.argv.slice(2);
const db = connect({ url, poolSize: 1, applicationName: 'doomed', onIdleError: () => undefined });
const principal = {
  kind: 'merchant',
  keyId: 'doomed',
  accountId,
  accountKind: 'standard',
} as const;
const now = new Date();
const body = Buffer.from('{"amount":5000}');

await executeOnce(
  db,
  { scope: { accountId, route: `POST ${PROMPT_PATH}`, key }, bodySha256: sha256(body) },
  now,
  async tx => {
    const request = { principal, body: JSON.parse(body.toString()), clock: Date.now };
    const settings = {
      publicUrl: 'https://doomed.test',
      allowLoopbackHttp: false,
      processor: null,
    };
    const created = await createPayment(tx, request, settings);
    return { status: 201, body: Buffer.from(JSON.stringify(created)) };
  },
  error => {
    throw error;
  },
);
