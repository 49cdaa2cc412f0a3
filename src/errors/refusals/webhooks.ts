import { DISABLE_REASONS, wordDisabling } from './disablings.ts';

/** Refusals about webhook endpoints and their deliveries. */
export const WEBHOOKS = {
  'url-unreadable': url('it is not a URL, as https://shop.example.com/webhooks is'),
  'url-not-https': url('it has to begin with https://'),
  'url-with-user': url('it must not hold a user'),
  'url-with-fragment': url('a fragment (#) is never sent'),
  'url-too-long': ({ maximum }: { maximum: number }) =>
    url(`it is longer than ${maximum} characters`),
  'url-not-public': ({ host }: { host: string }) => url(`${host} is not a public address`),

  'endpoint-unknown': ({ endpointId }: { endpointId: string }) =>
    `There is no webhook endpoint ${endpointId}.`,
  'endpoint-already-enabled': ({ endpointId }: { endpointId: string }) =>
    `The webhook endpoint ${endpointId} is enabled already.`,
  'endpoint-disabled': ({ endpointId, reason }: { endpointId: string; reason: string | null }) =>
    `The webhook endpoint ${endpointId} is disabled: ${wordDisabling(DISABLE_REASONS, reason)} Enable it first.`,
  'endpoint-url-in-use': ({ endpointId }: { endpointId: string }) =>
    `The merchant's webhook endpoint ${endpointId} has this URL already.`,
  'types-exclude-all': 'Choose either every event of a payment (all) or single types of them.',
  'too-many-endpoints': ({ maximum }: { maximum: number }) =>
    `A merchant may have at most ${maximum} webhook endpoints.`,
  'delivery-unknown': ({ deliveryId }: { deliveryId: string }) =>
    `There is no delivery ${deliveryId}.`,
} as const;

function url(reason: string): string {
  return `The URL is refused: ${reason}.`;
}
