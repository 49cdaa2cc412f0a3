import type { CreatePaymentResponse } from '#schemas/create-payment.ts';
import type { Keyring } from '../crypto/keyring.ts';
import type { Connection } from '../database/connection.ts';
import type { Payment } from '../database/payment-tables.ts';
import {
  type IdempotencyScope,
  listResponsesOf,
  type StoredResponse,
} from '../repositories/idempotency-keys.ts';
import { openResponse } from './stored-response.ts';

/** Longest a creation takes from its request to `created_at`, in milliseconds: that of any request. */
const CREATION_MS = 15_000;
/** Most stored responses to look through; those of the time closest to the payment's come first. */
const RESPONSES_MAXIMUM = 1_000;

/**
 * The checkout URL of a payment, where the response to its creation is still stored under an idempotency
 * key. Nothing else has it: of the link's secret the service keeps a hash, of a processor's page nothing.
 */
export async function findCheckoutUrl(
  db: Connection,
  keyring: Keyring,
  payment: Payment,
): Promise<string | undefined> {
  const { merchant_id: merchantId, partner_id: partnerId, created_at: until } = payment;
  const responses = await listResponsesOf(
    db,
    [merchantId, ...(partnerId === null ? [] : [partnerId])],
    { since: new Date(until.getTime() - CREATION_MS), until },
    RESPONSES_MAXIMUM,
  );
  for (const response of responses) {
    const { prompt, checkoutUrl } = readCreated(keyring, response);
    if (prompt?.id === payment.id) return checkoutUrl;
  }
  return undefined;
}

/** What a stored response says was created; nothing for a failure, or where its master key is gone. */
function readCreated(
  keyring: Keyring,
  stored: StoredResponse & IdempotencyScope,
): Partial<CreatePaymentResponse> {
  try {
    const { status, body } = openResponse(keyring, stored, stored);
    return status === 201 ? JSON.parse(body.toString()) : {};
  } catch {
    return {};
  }
}
