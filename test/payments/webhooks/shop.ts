import { randomBytes } from 'node:crypto';
import type { Operator } from '#accounts/audit/audited-change.ts';
import { createMerchant } from '#accounts/merchants.ts';
import { createKeyring, type Keyring } from '#crypto/keyring.ts';
import { createEndpoint, type IssuedEndpoint } from '#payments/webhooks/manage-endpoints.ts';
import type { EventType, PaymentEventType } from '#schemas/event.ts';
import type { Merchant } from '#storage/database/account-tables.ts';
import type { Connection, Database } from '#storage/database/connection.ts';
import type { Payment } from '#storage/database/payment-tables.ts';
import type { WebhookAttempt, WebhookDelivery } from '#storage/database/webhook-tables.ts';
import { listAttempts } from '#storage/repositories/webhooks/attempts.ts';
import { createLogger } from '#telemetry/logger.ts';
import type { TestDatabase } from '../../helpers/database.ts';
import { addPayment } from '../../helpers/payments.ts';
import { recordEvent } from '../../helpers/record-event.ts';
import { type AttemptOptions, attemptDue } from './attempt-due.ts';

/** A new merchant with a payment, and functions that attempt its deliveries; it sees no other merchant's. */
export interface Shop {
  readonly db: Database;
  readonly databaseUrl: string;
  readonly merchant: Merchant;
  readonly payment: Payment;
  readonly keyring: Keyring;
  readonly masterKey: Buffer;
  /** Does not advance by itself. */
  readonly clock: { now: number; (): number };
  readonly operator: Operator;
  /** Parsed log lines, newest last. */
  readonly logs: Record<string, unknown>[];
  readonly logger: ReturnType<typeof createLogger>;
  addMerchant(): Promise<Merchant>;
  addEndpoint(
    url: string,
    types?: readonly EventType[],
    merchant?: Merchant,
  ): Promise<IssuedEndpoint>;
  /** Records an event of the payment, in a transaction of its own unless a connection is given. */
  tell(type?: PaymentEventType, db?: Connection): Promise<void>;
  /** Makes the attempt of every pending delivery, even before its time. */
  attemptAll(options?: Partial<AttemptOptions>): Promise<void>;
  deliveries(endpointId?: string): Promise<WebhookDelivery[]>;
  attempts(): Promise<WebhookAttempt[]>;
}

export async function openShop(
  { db, url }: TestDatabase,
  now = Date.UTC(2026, 4, 17, 12),
  masterKey: Buffer = randomBytes(32),
): Promise<Shop> {
  const keyring = createKeyring([masterKey]);
  const clock = Object.assign(() => clock.now, { now });
  const operator = { db, clock, actor: 'test' };
  const logs: Record<string, unknown>[] = [];
  const logger = createLogger({ logLevel: 'info' }, 'test', {
    write: (line: string) => void logs.push(JSON.parse(line)),
  });
  const addMerchant = () => createMerchant(operator, { name: 'Shop', email: 'shop@example.com' });
  const merchant = await addMerchant();
  const payment = await addPayment(db, merchant, { created_at: new Date(now) });
  const deliveries = (endpointId?: string) =>
    db
      .selectFrom('webhook_deliveries')
      .innerJoin('events', 'events.id', 'event_id')
      .selectAll('webhook_deliveries')
      .where('events.merchant_id', '=', merchant.id)
      .$if(endpointId !== undefined, query => query.where('endpoint_id', '=', endpointId ?? ''))
      .orderBy('event_id')
      .orderBy('webhook_deliveries.id')
      .execute();
  return {
    db,
    databaseUrl: url,
    merchant,
    payment,
    keyring,
    masterKey,
    clock,
    operator,
    logs,
    logger,
    addMerchant,
    addEndpoint: (url, types, { id } = merchant) =>
      createEndpoint(operator, keyring, {
        merchantId: id,
        url,
        types,
        allowPrivateAddresses: true,
      }),
    async tell(type = 'payment_prompt.created', tx) {
      const record = (connection: Connection) =>
        recordEvent(connection, type, payment, new Date(clock()));
      if (tx === undefined) await db.transaction().execute(record);
      else await record(tx);
    },
    async attemptAll(options = {}) {
      const dependencies = { db, clock, keyring, logger, allowPrivateAddresses: true };
      const endpointIds = (await deliveries()).map(({ endpoint_id: id }) => id);
      if (endpointIds.length > 0) await attemptDue({ ...dependencies, ...options }, endpointIds);
    },
    deliveries,
    attempts: async () => listAttempts(db, await deliveries(), 100),
  };
}
