import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { EventType } from '#schemas/event.ts';
import { audited, OperationRefused, type Operator } from '../accounts/operation.ts';
import type { Keyring } from '../crypto/keyring.ts';
import type { Connection } from '../database/connection.ts';
import type { WebhookEndpoint } from '../database/tables.ts';
import { lockMerchant } from '../repositories/merchants.ts';
import { cancelDeliveries } from '../repositories/webhook-deliveries.ts';
import {
  countEnabledEndpoints,
  insertWebhookEndpoint,
  lockWebhookEndpoint,
  updateWebhookEndpoint,
} from '../repositories/webhook-endpoints.ts';
import { parseEndpointUrl } from './endpoint-url.ts';
import { SECRET_PREFIX } from './signature.ts';

/** Most endpoints of a merchant that are not disabled: each multiplies the work of an event. */
export const ENDPOINTS_MAXIMUM = 16;
/** How long the old secret signs beside the new one after a rotation, in milliseconds. */
export const SECRET_GRACE_MS = 24 * 60 * 60 * 1000;

const SECRET_BYTES = 32;

/** An endpoint with its new secret, which is shown this once and never again. */
export interface IssuedEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly secret: string;
}

export interface NewEndpoint {
  readonly merchantId: string;
  readonly url: string;
  /** Every type, those to come included, when left out or empty. */
  readonly types?: readonly EventType[] | undefined;
  /** Whether the URL may be plain HTTP and lead to local addresses; never in production. */
  readonly allowPrivateAddresses: boolean;
}

/**
 * Adds an endpoint; it is told of the events from now on.
 * @throws OperationRefused for an unknown merchant, a URL that cannot be, and above the maximum,
 * also when several are created at once.
 */
export function createEndpoint(
  operator: Operator,
  keyring: Keyring,
  { merchantId, url, types = [], allowPrivateAddresses }: NewEndpoint,
): Promise<IssuedEndpoint> {
  return audited(operator, 'webhook.create', async (tx, now) => {
    const href = parseEndpointUrl(url, allowPrivateAddresses);
    if ((await lockMerchant(tx, merchantId)) === undefined) {
      throw new OperationRefused(`There is no merchant ${merchantId}.`);
    }
    if ((await countEnabledEndpoints(tx, merchantId)) >= ENDPOINTS_MAXIMUM) {
      throw new OperationRefused(
        `A merchant may have at most ${ENDPOINTS_MAXIMUM} webhook endpoints.`,
      );
    }
    const id = uuidv7();
    const { secret, columns } = issueSecret(keyring, id);
    const endpoint = await insertWebhookEndpoint(tx, {
      id,
      merchant_id: merchantId,
      url: href,
      types: types.length === 0 ? null : [...new Set(types)],
      ...columns,
      created_at: now,
    });
    // Path and query may hold what lets a sender in.
    const { origin } = new URL(href);
    return {
      result: { endpoint, secret },
      objectId: id,
      detail: { merchantId, origin, types: endpoint.types },
    };
  });
}

/**
 * Gives an endpoint a new secret; the old one signs beside it during the grace period.
 * @throws OperationRefused for an unknown or disabled endpoint.
 */
export function rotateEndpointSecret(
  operator: Operator,
  keyring: Keyring,
  id: string,
): Promise<IssuedEndpoint> {
  return audited(operator, 'webhook.rotate', async (tx, now) => {
    const current = await requireEnabledEndpoint(tx, id);
    const { secret, columns } = issueSecret(keyring, id);
    const endpoint = await updateWebhookEndpoint(tx, id, {
      ...columns,
      previous_secret: current.secret,
      previous_master_key_version: current.master_key_version,
      previous_valid_until: new Date(now.getTime() + SECRET_GRACE_MS),
    });
    return { result: { endpoint, secret }, objectId: id };
  });
}

/**
 * Ends an endpoint for good, and every delivery to it that has not ended, but perhaps one.
 * @throws OperationRefused for an unknown endpoint, or one that is disabled already.
 */
export function disableEndpoint(
  operator: Operator,
  id: string,
  reason: string,
  exceptDeliveryId?: string,
): Promise<WebhookEndpoint> {
  return audited(operator, 'webhook.disable', async (tx, now) => {
    await requireEnabledEndpoint(tx, id);
    await cancelDeliveries(tx, { endpointId: id, except: exceptDeliveryId }, now);
    const result = await updateWebhookEndpoint(tx, id, {
      disabled_at: now,
      disabled_reason: reason,
    });
    return { result, objectId: id, detail: { reason } };
  });
}

/**
 * Reads an endpoint that is not disabled and holds its row until the transaction ends.
 * @throws OperationRefused when there is none.
 */
export async function requireEnabledEndpoint(db: Connection, id: string): Promise<WebhookEndpoint> {
  const endpoint = await lockWebhookEndpoint(db, id);
  if (endpoint === undefined) throw new OperationRefused(`There is no webhook endpoint ${id}.`);
  if (endpoint.disabled_at !== null) {
    throw new OperationRefused(
      `The webhook endpoint ${id} is disabled: ${endpoint.disabled_reason} Create a new one.`,
    );
  }
  return endpoint;
}

function issueSecret(keyring: Keyring, endpointId: string) {
  const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
  return {
    secret,
    columns: {
      secret: keyring.seal(secret, endpointId),
      master_key_version: keyring.currentVersion,
    },
  };
}
