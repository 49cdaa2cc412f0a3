import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createKeyring } from '#crypto/keyring.ts';
import { createPaymentOnce } from '#payments/create-payment.ts';
import { createSandboxProcessor } from '#payments/processors/sandbox-processor.ts';
import type { Database } from '#storage/database/connection.ts';
import { FreshCache } from '#storage/database/fresh-cache.ts';
import type { MerchantSetup } from '#storage/repositories/accounts/merchant-setup.ts';
import { NO_CHANGE_FEED } from '../test/helpers/inert.ts';
import { VoidRun } from './measure.ts';

const KEYRING = createKeyring([randomBytes(32)]);

/** A merchant that may create, and where. */
interface Payee {
  readonly db: Database;
  readonly merchantId: string;
}

/**
 * A create with an idempotency key, as its route runs it.
 * @returns The ID of the payment.
 * @throws VoidRun when it was not executed.
 */
export async function createOnce({ db, merchantId }: Payee): Promise<string> {
  const scope = { accountId: merchantId, route: 'POST /external/v1/payments/prompt' };
  const principal = {
    kind: 'merchant',
    keyId: 'bench',
    accountId: merchantId,
    accountKind: 'standard',
    environment: 'live',
  } as const;
  const payments = {
    payees: { db, setups: new FreshCache<MerchantSetup>(NO_CHANGE_FEED, 1) },
    clock: Date.now,
    keyring: KEYRING,
    publicUrl: 'https://pay.example',
    simulation: false,
    allowLoopbackHttp: false,
    processor: null,
    sandbox: createSandboxProcessor(KEYRING, 'https://pay.example'),
    logger: { warn: () => undefined },
  };
  const body = { amount: 4_950, customerReferenceId: randomUUID() };
  const outcome = await createPaymentOnce(
    db,
    payments,
    { principal, body },
    {
      claim: {
        scope: { ...scope, key: randomUUID() },
        bodySha256: createHash('sha256').update(randomBytes(8)).digest(),
        now: new Date(),
      },
      check: () => undefined,
      respond: created => ({ status: 201, body: Buffer.from(JSON.stringify(created)) }),
      onFailure: error => {
        throw error;
      },
    },
  );
  if (outcome.status !== 201 || outcome.replayed) throw new VoidRun('a create was not executed');
  return JSON.parse(outcome.body.toString()).prompt.id;
}
