import type { Selectable } from 'kysely';
import type { DELIVERY_STATUSES } from '#schemas/list-events.ts';
import type { Defaulted } from './column-types.ts';

interface WebhookEndpointsTable {
  id: string;
  merchant_id: string;
  url: string;
  /** null for all types of payment events, and with `deposit_events` for those of deposit events too. */
  types: string[] | null;
  /** Only matters where `types` is null. */
  deposit_events: Defaulted<boolean>;
  secret: Buffer;
  master_key_version: number;
  previous_secret: Buffer | null;
  previous_master_key_version: number | null;
  previous_valid_until: Date | null;
  /** null while it has the secret that it was created with. */
  rotated_at: Date | null;
  disabled_at: Date | null;
  disabled_reason: string | null;
  created_at: Date;
}

/** `withheld`: may be from a time that a restore has lost. */
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface WebhookDeliveriesTable {
  id: string;
  event_id: string;
  endpoint_id: string;
  /** The delivery that this one repeats by hand. */
  redelivery_of: string | null;
  status: Defaulted<DeliveryStatus>;
  attempts: Defaulted<number>;
  next_attempt_at: Date | null;
  /** Until when the worker that has claimed it is taken to be alive. */
  claimed_until: Defaulted<Date | null>;
  created_at: Date;
  finished_at: Defaulted<Date | null>;
  /** Type of the event until the endpoint has accepted it; null for a delivery that repeats another by hand. */
  untaken_type: Defaulted<string | null>;
}

export interface WebhookAttemptsTable {
  id: string;
  delivery_id: string;
  number: number;
  at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  response_excerpt: string | null;
}

/** Endpoints of merchants, and deliveries to them. */
export interface WebhookTables {
  webhook_endpoints: WebhookEndpointsTable;
  webhook_deliveries: WebhookDeliveriesTable;
  webhook_attempts: WebhookAttemptsTable;
}

export type WebhookEndpoint = Selectable<WebhookEndpointsTable>;
export type WebhookDelivery = Selectable<WebhookDeliveriesTable>;
export type WebhookAttempt = Selectable<WebhookAttemptsTable>;
