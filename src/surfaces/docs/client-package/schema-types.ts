import type { TSchema } from '@sinclair/typebox';
import { BlockchainIdSchema, BlockchainSchema } from '#schemas/blockchain.ts';
import { CreatePaymentBodySchema, CreatePaymentResponseSchema } from '#schemas/create-payment.ts';
import { UnmatchedDepositSchema } from '#schemas/event.ts';
import * as eventTypes from '#schemas/event-types.ts';
import { EventDeliverySchema, ListEventsQuerySchema } from '#schemas/list-events.ts';
import { ListPaymentsQuerySchema, PaymentListSchema } from '#schemas/list-payments.ts';
import { PaymentSchema, PaymentSnapshotSchema } from '#schemas/payment.ts';
import { StringEnum } from '#schemas/scalars.ts';
import {
  AdvanceClockBodySchema,
  SimulatePaymentBodySchema,
  SimulationSchema,
} from '#schemas/simulate-payment.ts';
import * as simulationCases from '#schemas/simulation-cases.ts';

/** The parts of JSON Schema that the schemas of the API use. */
interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: string;
  readonly enum?: readonly (string | boolean | null)[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly description?: string;
}

/** Every type that the client imports from `schemas/`, by the name that it has there. */
const NAMED: Readonly<Record<string, TSchema>> = {
  BlockchainId: BlockchainIdSchema,
  Blockchain: BlockchainSchema,
  PaymentObject: PaymentSchema,
  PaymentSnapshot: PaymentSnapshotSchema,
  CreatePaymentBody: CreatePaymentBodySchema,
  CreatePaymentResponse: CreatePaymentResponseSchema,
  ListPaymentsQuery: ListPaymentsQuerySchema,
  PaymentList: PaymentListSchema,
  ListEventsQuery: ListEventsQuerySchema,
  EventDelivery: EventDeliverySchema,
  PaymentEventType: StringEnum(eventTypes.PAYMENT_EVENT_TYPES, 'Type of an event of a payment.'),
  DepositEventType: StringEnum(eventTypes.DEPOSIT_EVENT_TYPES, 'Type of an event of a deposit.'),
  EventType: StringEnum(eventTypes.EVENT_TYPES, 'Type of an event.'),
  UnmatchedDeposit: UnmatchedDepositSchema,
  SimulationCase: StringEnum(simulationCases.SIMULATION_CASES, 'What a customer and a chain do.'),
  SimulatePaymentBody: SimulatePaymentBodySchema,
  AdvanceClockBody: AdvanceClockBodySchema,
  SimulationResult: SimulationSchema,
};

/** Names by the schema's JSON: TypeBox copies a schema that it makes optional, so objects cannot be compared. */
const NAMES = new Map(
  Object.entries(NAMED).map(([name, schema]) => [JSON.stringify(schema), name]),
);

/**
 * Writes the types of the schemas as plain TypeScript, with descriptions as comments. In the package they replace
 * TypeBox's. Event types and cases of simulations are exported as values too.
 */
export function writeSchemaTypes(): string {
  const types = Object.entries(NAMED).map(([name, schema]) => {
    const json: JsonSchema = schema;
    return `${comment(json)}export type ${name} = ${write(json)};\n`;
  });
  const words = Object.entries({ ...eventTypes, ...simulationCases }).map(
    ([name, values]) => `export const ${name} = ${JSON.stringify(values)} as const;\n`,
  );
  return [...types, ...words].join('\n');
}

/** The name of a type if it has one, else the whole type. */
function typeOf(schema: JsonSchema): string {
  return NAMES.get(JSON.stringify(schema)) ?? write(schema);
}

/** @throws Error for a schema that this does not know how to write. */
function write(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) {
    return schema.enum.map(value => JSON.stringify(value)).join(' | ');
  }
  const types = [schema.type ?? 'missing'].flat();
  return types.map(type => writeOne(type, schema)).join(' | ');
}

function writeOne(type: string, { items, properties, required = [] }: JsonSchema): string {
  if (type === 'null' || type === 'string' || type === 'boolean') return type;
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'array' && items !== undefined) return `Array<${typeOf(items)}>`;
  if (type === 'object' && properties !== undefined) {
    const fields = Object.entries(properties).map(([name, field]) => {
      // Lets callers pass `undefined`, even with exactOptionalPropertyTypes.
      const [mark, or] = required.includes(name) ? ['', ''] : ['?', ' | undefined'];
      return `${comment(field)}${name}${mark}: ${typeOf(field)}${or};`;
    });
    return `{\n${fields.join('\n')}\n}`;
  }
  throw new Error(`There is no TypeScript for a schema of type ${type}.`);
}

function comment({ description }: JsonSchema): string {
  return description === undefined ? '' : `/** ${description} */\n`;
}
