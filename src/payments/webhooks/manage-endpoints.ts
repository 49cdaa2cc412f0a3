import { randomBytes } from 'node:crypto';
import { audited, OperationRefused, type Operator } from '#accounts/audit/audited-change.ts';
import { requireLockedMerchant } from '#accounts/merchants.ts';
import type { Keyring } from '#crypto/keyring.ts';
import { newId } from '#crypto/new-id.ts';
import { DEPOSIT_EVENT_TYPES, type EventType, PAYMENT_EVENT_TYPES } from '#schemas/event.ts';
import { SECRET_PREFIX } from '#signing/webhooks.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import {
  insertWebhookEndpoint,
  listEnabledEndpoints,
  lockWebhookEndpoint,
  updateWebhookEndpoint,
} from '#storage/repositories/webhooks/endpoints.ts';
import { parseEndpointUrl } from './endpoint-url.ts';

/** Maximum enabled endpoints of a merchant: each one adds a delivery to every event. */
export const ENDPOINTS_MAXIMUM = 16;
/** How long the old secret also signs after a rotation, in milliseconds. */
export const SECRET_GRACE_MS = 24 * 60 * 60 * 1000;

const SECRET_BYTES = 32;

/** Word for every type of a payment's events, including future ones. */
export const ALL_TYPES = 'all';

/**
 * The types of events that an endpoint receives; empty for ALL_TYPES alone, which leaves no type of payment events to
 * name. Events of deposits go only to endpoints that name them.
 */
export type Subscription = readonly (EventType | typeof ALL_TYPES)[];

/** An endpoint with its new secret, which is shown only once. */
export interface IssuedEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly secret: string;
}

export interface NewEndpoint {
  readonly merchantId: string;
  readonly url: string;
  readonly types?: Subscription | undefined;
  /** Whether plain HTTP and local addresses are allowed; never in production. */
  readonly allowPrivateAddresses: boolean;
}

/**
 * Adds an endpoint, which receives the events from now on.
 * @throws OperationRefused for an unknown merchant, an invalid URL, one that another enabled endpoint of the merchant
 * has, and above `ENDPOINTS_MAXIMUM`. Both of these limits hold for concurrent calls, too. Also for all types beside a
 * single one of payment events.
 */
export function createEndpoint(
  operator: Operator,
  keyring: Keyring,
  { merchantId, url, types = [], allowPrivateAddresses }: NewEndpoint,
): Promise<IssuedEndpoint> {
  return audited(operator, 'webhook.create', async (tx, now) => {
    const href = parseEndpointUrl(url, allowPrivateAddresses);
    await requireLockedMerchant(tx, merchantId);
    const id = newId();
    await requirePlace(tx, merchantId, { id, url: href });
    const { secret, columns } = issueSecret(keyring, id);
    const endpoint = await insertWebhookEndpoint(tx, {
      id,
      merchant_id: merchantId,
      url: href,
      ...subscriptionColumns(types),
      ...columns,
      created_at: now,
    });
    return {
      result: { endpoint, secret },
      objectId: id,
      detail: { merchantId, origin: originOf(href), types: subscriptionOf(endpoint) },
    };
  });
}

/**
 * Gives an endpoint a new secret; the old one also signs during the grace period.
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
      rotated_at: now,
    });
    return { result: { endpoint, secret }, objectId: id };
  });
}

/**
 * Reads an enabled endpoint and locks its row until the transaction ends.
 * @throws OperationRefused for an unknown or disabled endpoint.
 */
export async function requireEnabledEndpoint(db: Connection, id: string): Promise<WebhookEndpoint> {
  const endpoint = await lockWebhookEndpoint(db, id);
  if (endpoint === undefined) throw new OperationRefused('endpoint-unknown', { endpointId: id });
  if (endpoint.disabled_at !== null) {
    const reason = endpoint.disabled_reason;
    throw new OperationRefused('endpoint-disabled', { endpointId: id, reason });
  }
  return endpoint;
}

/**
 * Refuses an enabled endpoint above `ENDPOINTS_MAXIMUM`, and one whose URL would receive every event twice. Call it
 * with the merchant locked.
 */
export async function requirePlace(
  tx: Connection,
  merchantId: string,
  { id, url }: { id: string; url: string },
): Promise<void> {
  const enabled = await listEnabledEndpoints(tx, merchantId, ENDPOINTS_MAXIMUM + 1);
  const others = enabled.filter(endpoint => endpoint.id !== id);
  const same = others.find(endpoint => endpoint.url === url);
  if (same !== undefined) {
    throw new OperationRefused('endpoint-url-in-use', { endpointId: same.id });
  }
  if (others.length >= ENDPOINTS_MAXIMUM) {
    throw new OperationRefused('too-many-endpoints', { maximum: ENDPOINTS_MAXIMUM });
  }
}

/**
 * The columns that store a subscription.
 * @throws OperationRefused for ALL_TYPES beside a type of payment events.
 */
export function subscriptionColumns(
  types: Subscription,
): Pick<WebhookEndpoint, 'types' | 'deposit_events'> {
  const named = [...new Set(types)].filter(type => type !== ALL_TYPES);
  const all = types.length === 0 || types.includes(ALL_TYPES);
  // Who names some does not expect to receive the others.
  if (all && named.some(type => PAYMENT_EVENT_TYPES.some(each => each === type))) {
    throw new OperationRefused('types-exclude-all');
  }
  return {
    types: all ? null : named,
    deposit_events: all && named.some(type => DEPOSIT_EVENT_TYPES.some(each => each === type)),
  };
}

/** The subscription of an endpoint, as `createEndpoint` takes it. */
export function subscriptionOf({
  types,
  deposit_events,
}: Pick<WebhookEndpoint, 'types' | 'deposit_events'>): string[] {
  return types ?? [ALL_TYPES, ...(deposit_events ? DEPOSIT_EVENT_TYPES : [])];
}

/** The part of a URL that the audit log stores. Path and query may contain credentials. */
export function originOf(url: string): string {
  return new URL(url).origin;
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
