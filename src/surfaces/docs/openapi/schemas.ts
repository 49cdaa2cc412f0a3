import { ERROR_CODES, ERRORS } from '#errors/catalogue.ts';
import { BlockchainSchema } from '#schemas/blockchain.ts';
import { CreatePaymentBodySchema, CreatePaymentResponseSchema } from '#schemas/create-payment.ts';
import { ErrorEnvelopeSchema } from '#schemas/error.ts';
import { DepositEventSchema, EventSchema, UnmatchedDepositSchema } from '#schemas/event.ts';
import {
  LegacyCreatedSchema,
  LegacyErrorSchema,
  LegacyPromptBodySchema,
  LegacyPromptSchema,
} from '#schemas/legacy.ts';
import { EventDeliverySchema, EventListSchema, RecordedEventSchema } from '#schemas/list-events.ts';
import { PaymentListSchema } from '#schemas/list-payments.ts';
import {
  PartnerFiltersSchema,
  PartnerMerchantDetailSchema,
  PartnerMerchantPageSchema,
  PartnerMerchantSchema,
  PartnerOverviewSchema,
  PartnerPaymentPageSchema,
  PartnerPaymentSchema,
  PartnerTeamSchema,
} from '#schemas/partner-reports.ts';
import { PaymentSchema, PaymentSnapshotSchema } from '#schemas/payment.ts';
import type { Schema } from './document.ts';

/** Schemas by their names in the document. */
const NAMED: Readonly<Record<string, object>> = {
  Payment: PaymentSchema,
  PaymentSnapshot: PaymentSnapshotSchema,
  CreatePayment: CreatePaymentBodySchema,
  CreatedPayment: CreatePaymentResponseSchema,
  PaymentList: PaymentListSchema,
  Blockchain: BlockchainSchema,
  Event: EventSchema,
  DepositEvent: DepositEventSchema,
  RecordedEvent: RecordedEventSchema,
  EventDelivery: EventDeliverySchema,
  EventList: EventListSchema,
  UnmatchedDeposit: UnmatchedDepositSchema,
  Error: describeErrors(),
  PartnerOverview: PartnerOverviewSchema,
  PartnerMerchant: PartnerMerchantSchema,
  PartnerMerchantPage: PartnerMerchantPageSchema,
  PartnerMerchantDetail: PartnerMerchantDetailSchema,
  PartnerPayment: PartnerPaymentSchema,
  PartnerPaymentPage: PartnerPaymentPageSchema,
  PartnerFilters: PartnerFiltersSchema,
  PartnerTeam: PartnerTeamSchema,
  LegacyPromptBody: LegacyPromptBodySchema,
  LegacyCreated: LegacyCreatedSchema,
  LegacyPrompt: LegacyPromptSchema,
  LegacyError: LegacyErrorSchema,
};

const NAMES = new Map(
  Object.entries(NAMED).map(([name, schema]) => [JSON.stringify(schema), name]),
);

/** The named schemas, with references to each other. */
export function componentSchemas(): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(NAMED).map(([name, schema]) => [name, referInside(schema) as Schema]),
  );
}

/**
 * Replaces named schemas by references. Routes hold the schemas themselves, because validators and
 * serializers are compiled from them.
 */
export function refer(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const name = NAMES.get(JSON.stringify(value));
  return name === undefined ? referInside(value) : { $ref: `#/components/schemas/${name}` };
}

function referInside(value: object): unknown {
  if (Array.isArray(value)) return value.map(refer);
  const entries = Object.entries(value).map(([key, inner]) => [key, refer(inner)]);
  return publicFormats(Object.fromEntries(entries));
}

/** Replaces formats that only this service's validators know by standard ones. */
function publicFormats(schema: Record<string, unknown>): Record<string, unknown> {
  const { type, format, ...rest } = schema;
  if (format === 'date-bound') {
    return { ...rest, type, anyOf: [{ format: 'date-time' }, { format: 'date' }] };
  }
  return format === 'dollars' ? { type, ...rest } : schema;
}

/** The envelope with the values that the catalogue gives its fields. */
function describeErrors(): object {
  const { error } = ErrorEnvelopeSchema.properties;
  const { type, code, errorCode } = error.properties;
  const entries = Object.values(ERRORS);
  const properties = {
    ...error.properties,
    type: { ...type, enum: [...new Set(entries.map(entry => entry.type))] },
    code: { ...code, enum: entries.map(entry => entry.code) },
    errorCode: { ...errorCode, enum: ERROR_CODES },
  };
  return { ...ErrorEnvelopeSchema, properties: { error: { ...error, properties } } };
}
