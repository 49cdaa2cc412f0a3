import {
  audited,
  columnsToSet,
  OperationRefused,
  type Operator,
} from '#accounts/audit/audited-change.ts';
import { notifyAdmins } from '#accounts/mail/notices.ts';
import { requireLockedMerchant } from '#accounts/merchants.ts';
import type { DisableReason } from '#errors/refusals/disablings.ts';
import type { Connection } from '#storage/database/connection.ts';
import type { WebhookEndpoint } from '#storage/database/webhook-tables.ts';
import {
  cancelDeliveries,
  listCancelled,
  requeueDeliveries,
} from '#storage/repositories/webhooks/deliveries.ts';
import {
  findWebhookEndpoint,
  lockWebhookEndpoint,
  updateWebhookEndpoint,
} from '#storage/repositories/webhooks/endpoints.ts';
import { parseEndpointUrl } from './endpoint-url.ts';
import {
  originOf,
  requireEnabledEndpoint,
  requirePlace,
  type Subscription,
  subscriptionColumns,
  subscriptionOf,
} from './manage-endpoints.ts';

/** Maximum number of deliveries that enabling an endpoint queues again: its transaction takes half a second. */
export const REQUEUED_MAXIMUM = 10_000;

/** An enabled endpoint, and what was queued again. */
interface Enabled {
  readonly endpoint: WebhookEndpoint;
  readonly deliveries: number;
  /** Whether disabling had cancelled more, which `redeliverFailed` repeats. */
  readonly hasMore: boolean;
}

interface EndpointChange {
  readonly url?: string | undefined;
  readonly types?: Subscription | undefined;
  /** As in NewEndpoint. */
  readonly allowPrivateAddresses: boolean;
}

/**
 * Changes the URL of an endpoint, for pending deliveries as well, or the types of events that it
 * receives from now on.
 * @throws OperationRefused for an unknown endpoint, an invalid URL, one that another enabled endpoint of
 * the merchant has, all types beside a single one of payment events, or when nothing is to be set.
 */
export function setEndpoint(
  operator: Operator,
  id: string,
  { url, types, allowPrivateAddresses }: EndpointChange,
): Promise<WebhookEndpoint> {
  const href = url === undefined ? undefined : parseEndpointUrl(url, allowPrivateAddresses);
  const columns = columnsToSet({ url: href, ...(types && subscriptionColumns(types)) });
  return audited(operator, 'webhook.set', async tx => {
    const endpoint = await lockWithMerchant(tx, id);
    if (href !== undefined && endpoint.disabled_at === null) {
      await requirePlace(tx, endpoint.merchant_id, { id, url: href });
    }
    const result = await updateWebhookEndpoint(tx, id, columns);
    const detail = {
      ...(href === undefined ? {} : { origin: originOf(href) }),
      ...(types === undefined ? {} : { types: subscriptionOf(result) }),
    };
    return { result, objectId: id, detail };
  });
}

/**
 * Enables an endpoint again. It receives the events from now on, not those of the meantime, and what disabling it
 * cancelled is queued again, however old it is: the oldest first and at most REQUEUED_MAXIMUM.
 * @throws OperationRefused for an unknown or enabled endpoint, and if a new one with its URL would be refused.
 */
export function enableEndpoint(operator: Operator, id: string): Promise<Enabled> {
  return audited(operator, 'webhook.enable', async (tx, now) => {
    const { merchant_id: merchantId, disabled_at: since, url } = await lockWithMerchant(tx, id);
    if (since === null) {
      throw new OperationRefused('endpoint-already-enabled', { endpointId: id });
    }
    await requirePlace(tx, merchantId, { id, url });
    const endpoint = await updateWebhookEndpoint(tx, id, {
      disabled_at: null,
      disabled_reason: null,
    });
    // Earlier disablings cancelled before `since`, and what they left was not wanted back then.
    const cancelled = await listCancelled(tx, id, since, REQUEUED_MAXIMUM + 1);
    const chosen = cancelled.slice(0, REQUEUED_MAXIMUM);
    await requeueDeliveries(tx, chosen, now);
    const deliveries = chosen.length;
    const result = { endpoint, deliveries, hasMore: cancelled.length > deliveries };
    return { result, objectId: id, detail: { deliveries } };
  });
}

/**
 * Disables an endpoint and cancels its pending deliveries, which enabling it queues again.
 * @param exceptDeliveryId A delivery not to cancel.
 * @throws OperationRefused for an unknown or disabled endpoint.
 */
export function disableEndpoint(
  operator: Operator,
  id: string,
  reason: DisableReason,
  exceptDeliveryId?: string,
): Promise<WebhookEndpoint> {
  return audited(operator, 'webhook.disable', async (tx, now) => {
    const { merchant_id: accountId, url } = await requireEnabledEndpoint(tx, id);
    const facts = { endpointId: id, host: new URL(url).host, reason };
    await notifyAdmins(
      tx,
      { kind: 'merchant', accountId },
      { kind: 'webhook-disabled', facts, now },
    );
    await cancelDeliveries(tx, { endpointId: id, except: exceptDeliveryId }, now);
    const result = await updateWebhookEndpoint(tx, id, {
      disabled_at: now,
      disabled_reason: reason,
    });
    return { result, objectId: id, detail: { reason } };
  });
}

/**
 * Locks an endpoint, and its merchant first, as creating one does.
 * @throws OperationRefused for an unknown endpoint.
 */
async function lockWithMerchant(tx: Connection, id: string): Promise<WebhookEndpoint> {
  const found = await findWebhookEndpoint(tx, id);
  if (found !== undefined) await requireLockedMerchant(tx, found.merchant_id);
  const endpoint = await lockWebhookEndpoint(tx, id);
  if (endpoint === undefined) throw new OperationRefused('endpoint-unknown', { endpointId: id });
  return endpoint;
}
